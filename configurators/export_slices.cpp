// Owns the LVM slices of exported drives: one VG a drive, all its slices at once, of equal size, when the drive is taken and
// blank. Slices are never resized, moved or removed. Who owns which is a tag that exports adds when it serves one.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agent/model/guard.hpp"
#include "configurators/export_names.hpp"
#include "configurators/export_udev.hpp"
#include "configurators/export_wishes.hpp"
#include "configurators/exports.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::uint64_t kExtent = 4ull << 20;     // LVM's default, said so that sizes can be reckoned before
constexpr std::uint64_t kDataStart = 1ull << 20;  // --dataalignment 1m: LVM's metadata lies before it

struct Cut {
  const ExportSpec& wanted;
  const BlockDevice& drive;
  std::string group;
  std::uint64_t extents = 0;  // of one slice
};

std::uint64_t extents_of(const BlockDevice& drive, std::uint32_t slices) {
  return drive.size.count <= kDataStart ? 0 : (drive.size.count - kDataStart) / kExtent / slices;
}

const LvmGroup* find_group(const Inventory& seen, const std::string& name) {
  for (const LvmGroup& group : seen.lvm.value().groups) {
    if (group.name == name) return &group;
  }
  return nullptr;
}

std::map<std::uint32_t, const LvmVolume*> volumes_of(const Inventory& seen, const std::string& group) {
  std::map<std::uint32_t, const LvmVolume*> found;
  for (const LvmVolume& volume : seen.lvm.value().volumes) {
    for (std::uint32_t slice = 1; volume.vg == group && slice <= kMaxSlices; ++slice) {
      if (volume.name == slice_name(slice)) found[slice] = &volume;
    }
  }
  return found;
}

bool was_served(const Inventory& seen, const DeviceKey& drive) {
  const auto& ledger = seen.records.value().exports;
  return std::any_of(ledger.begin(), ledger.end(), [&](const ExportRecord& record) {
    return record.drive == drive && record.slice != 0 && record.served && record.generation != 0;
  });
}

bool has_owner(const LvmVolume& volume) {
  return std::any_of(volume.tags.begin(), volume.tags.end(),
                     [](const std::string& tag) { return tag.starts_with("nvstripe.host="); });
}

// LVM writes a UUID as 32 letters and digits with dashes, and takes ours with --uuid: so a drive on which pvcreate ended
// and vgcreate did not begin is known as ours.
std::string physical_uuid(const Uuid& uuid) {
  const std::string hex = to_hex(uuid);
  return fmt::format("{}-{}-{}-{}-{}-{}-{}", hex.substr(0, 6), hex.substr(6, 4), hex.substr(10, 4), hex.substr(14, 4),
                     hex.substr(18, 4), hex.substr(22, 4), hex.substr(26, 6));
}

Conflict refused(const Cut& cut, std::string id, std::string why, std::string remedy) {
  return {fmt::format("export '{}'", cut.wanted.name),
          "export:" + cut.wanted.name,
          fmt::format("drive '{}': {}", cut.drive.key.text, why),
          std::move(remedy),
          Standing::refused,
          std::move(id)};
}

void activation(const Cut& cut, const std::vector<std::uint32_t>& slices, Action& action) {
  Run run{{"lvchange", "-y", "-ay", "--devices", DeviceRef{cut.drive.key}}};
  for (const std::uint32_t slice : slices) {
    run.argv.emplace_back(fmt::format("{}/{}", cut.group, slice_name(slice)));
    action.gives.push_back(slice_key(cut.group, slice).text);
  }
  action.steps.push_back(std::move(run));
}

Action named(const Cut& cut, std::string_view verb) {
  Action action;
  action.id = fmt::format("slices.{}:{}/{}", verb, cut.wanted.name, cut.group.substr(cut.group.rfind('_') + 1));
  action.object = "export:" + cut.wanted.name;
  return action;
}

// -y answers LVM's questions, so it stands only behind the last look. -Wn -Zn -an: nothing is wiped, zeroed or activated
// before all slices are there.
Action cut_up(const Cut& cut, const Inventory& seen, const RuleState& rules) {
  Action action = named(cut, "make");
  action.risk = Risk::writes_blank;
  action.writes = {cut.drive.key};
  if (!seen.records.value().identity) action.needs.push_back("identity:" + to_text(seen.host()));
  if (!rules.current) action.needs.push_back(rules.fact);
  action.steps.push_back(RequireContent{cut.drive.key, cut.drive.diskseq, cut.drive.signatures, false});
  const DeviceRef drive{cut.drive.key};
  const Uuid id = derive(seen.host(), "slices", cut.drive.key.text, seen.records.value().fresh_generation);
  if (find_group(seen, cut.group) == nullptr) {
    if (cut.drive.signatures.empty())
      action.steps.push_back(Run{{"pvcreate", "-y", "--devices", drive, "--uuid", physical_uuid(id), "--norestorefile",
                                  "--dataalignment", "1m", drive},
                                 std::chrono::seconds(60),
                                 {0},
                                 {cut.drive.key}});
    action.steps.push_back(Run{
        {"vgcreate", "-y", "--devices", drive, "--setautoactivation", "n", "--physicalextentsize", "4m", "--dataalignment",
         "1m", "--addtag", "nvstripe.export=" + cut.wanted.name, "--addtag", "nvstripe.id=" + to_hex(id), cut.group, drive},
        std::chrono::seconds(60),
        {0},
        {cut.drive.key}});
  }
  const auto there = volumes_of(seen, cut.group);
  std::vector<std::uint32_t> all;
  for (std::uint32_t slice = 1; slice <= cut.wanted.slices; ++slice) {
    all.push_back(slice);
    if (there.contains(slice)) continue;
    action.steps.push_back(Run{{"lvcreate", "-y", "-an", "-Wn", "-Zn", "--devices", drive, "-n", slice_name(slice), "-l",
                                std::to_string(cut.extents), "--addtag", "nvstripe.export=" + cut.wanted.name, cut.group}});
  }
  activation(cut, all, action);
  action.sentence = fmt::format("cut drive '{}' into {} slices of {}", cut.drive.key.text, cut.wanted.slices,
                                to_text(Bytes{cut.extents * kExtent}));
  action.reason = there.empty() ? fmt::format("it is blank, and export '{}' shares it", cut.wanted.name)
                                : "it is ours, belongs to no host yet, and was not cut to the end";
  return action;
}

// Slices that are there decide; empty when the drive can be cut, or cut on, as the spec says.
std::optional<Conflict> misfit(const Cut& cut, const Inventory& seen) {
  if (cut.extents == 0)
    return refused(cut, "export.too_small", fmt::format("it is too small for {} slices", cut.wanted.slices),
                   "ask for fewer slices");
  const LvmGroup* group = find_group(seen, cut.group);
  const auto there = volumes_of(seen, cut.group);
  if (group == nullptr || there.size() < cut.wanted.slices) {
    if (was_served(seen, cut.drive.key) && (group == nullptr || there.empty()))
      return refused(cut, "export.slices_lost", "its slices were served before and are gone",
                     "find out who removed them; nothing is made in their place");
  }
  if (group == nullptr) return std::nullopt;
  const std::string tag = "nvstripe.export=" + cut.wanted.name;
  if (std::find(group->tags.begin(), group->tags.end(), tag) == group->tags.end())
    return refused(cut, "export.foreign_group", fmt::format("group '{}' does not carry the tag '{}'", cut.group, tag),
                   "remove the group if nothing needs it");
  const bool taken = was_served(seen, cut.drive.key) ||
                     std::any_of(there.begin(), there.end(), [](const auto& entry) { return has_owner(*entry.second); });
  const bool same_size = std::all_of(there.begin(), there.end(),
                                     [&](const auto& entry) { return entry.second->size.count == cut.extents * kExtent; });
  const bool complete = there.size() == cut.wanted.slices;
  if (there.size() > cut.wanted.slices || (!complete && (taken || !same_size)))
    return refused(cut, "export.slices_fixed",
                   fmt::format("it is cut into {} slices and the spec asks for {}", there.size(), cut.wanted.slices),
                   "slices are fixed when a drive is taken; remove the group yourself to cut it anew");
  return std::nullopt;
}

// Blank, or carrying exactly our own unfinished beginning.
bool may_be_cut(const Cut& cut, const Inventory& seen) {
  if (find_group(seen, cut.group) != nullptr || has_our_physical(cut.drive, seen.host())) return true;
  return guard::unusable(cut.drive, seen).empty();
}

void plan_drive(const Cut& cut, const Inventory& seen, const RuleState& rules, Draft& draft) {
  if (auto conflict = misfit(cut, seen)) {
    draft.conflicts.push_back(std::move(*conflict));
    return;
  }
  const auto there = volumes_of(seen, cut.group);
  if (there.size() < cut.wanted.slices) {
    if (may_be_cut(cut, seen)) draft.actions.push_back(cut_up(cut, seen, rules));
    return;
  }
  std::vector<std::uint32_t> inactive;
  for (const auto& [slice, volume] : there) {
    if (!volume->active) inactive.push_back(slice);
  }
  if (inactive.empty()) return;
  Action action = named(cut, "activate");
  activation(cut, inactive, action);
  action.sentence = fmt::format("activate {} slices of drive '{}'", inactive.size(), cut.drive.key.text);
  action.reason = "they are served to other hosts, and nothing else activates them";
  draft.actions.push_back(std::move(action));
}

}  // namespace

Draft export_slices(const Spec& spec, const Inventory& seen) {
  Draft draft;
  if (!export_blindness(spec, seen).empty()) return draft;
  const ExportWishes wishes = export_wishes(spec, seen);
  const RuleState rules = export_rules(wishes, seen);
  std::map<DeviceKey, const ExportSpec*> drives;
  for (const SubsystemWish& subsystem : wishes.subsystems) {
    for (const NamespaceWish& wish : subsystem.namespaces) {
      if (wish.record.slice != 0) drives[wish.record.drive] = subsystem.wanted;
    }
  }
  for (const auto& [key, wanted] : drives) {
    const BlockDevice* drive = seen.find(key);
    if (drive == nullptr) continue;
    const Cut cut{*wanted, *drive, slices_group(seen.host(), wanted->name, key), extents_of(*drive, wanted->slices)};
    plan_drive(cut, seen, rules, draft);
  }
  return draft;
}

}  // namespace nvstripe::configure

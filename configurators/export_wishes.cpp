// Owns the way from the spec to subsystems with numbered namespaces, and what is said about what cannot be had.
#include "configurators/export_wishes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "agent/base/text.hpp"
#include "configurators/export_names.hpp"
#include "configurators/export_shares.hpp"
#include "configurators/host_identity.hpp"
#include "configurators/local_drives.hpp"

namespace nvstripe::configure {
namespace {

Conflict conflict_of(const ExportSpec& wanted, Standing standing, std::string id, std::string why, std::string remedy) {
  return {fmt::format("export '{}'", wanted.name),
          "export:" + wanted.name,
          std::move(why),
          std::move(remedy),
          standing,
          std::move(id)};
}

// Empty when the allow list can be served with that many slices of each drive.
std::optional<Conflict> impossible(const ExportSpec& wanted) {
  const auto refused = [&](std::string id, std::string why, std::string remedy) {
    return conflict_of(wanted, Standing::refused, std::move(id), std::move(why), std::move(remedy));
  };
  if (wanted.allow.empty())
    return conflict_of(wanted, Standing::note, "export.nobody_allowed", "no host is allowed, so nothing is exported",
                       "name host NQNs under 'allow'");
  if (wanted.slices <= 1 && wanted.allow.size() > 1)
    return refused("export.shared_drive",
                   fmt::format("{} hosts are allowed, and whole drives cannot be shared", wanted.allow.size()),
                   "set 'slices' to 2 or more, or allow one host an export");
  std::uint64_t asked = 0;
  for (const AllowedHost& allowed : wanted.allow) {
    if (!allowed.slices && wanted.allow.size() > 1)
      return refused("export.slices_overlap", fmt::format("host '{}' is to have all slices beside others", allowed.host),
                     "give each host a number of slices");
    asked += allowed.slices.value_or(wanted.slices);
  }
  if (asked > wanted.slices)
    return refused("export.slices_overlap", fmt::format("hosts ask for {} of {} slices of each drive", asked, wanted.slices),
                   "raise 'slices' before a drive is taken, or ask for fewer");
  return std::nullopt;
}

// What may pass by itself: nothing is wrong with the drive or the spec, something is not there or not seen yet.
bool waits_for(const std::string& id) {
  for (const char* one : {"export.drive_missing", "export.look_unknown", "export.not_withdrawn", "export.identity_unsettled",
                          "guard.look_unknown", "guard.content_unknown", "guard.not_live", "guard.facet_unknown"}) {
    if (id == one) return true;
  }
  return false;
}

void tell_problems(const SubsystemWish& subsystem, std::vector<Conflict>& conflicts) {
  for (const NamespaceWish& wish : subsystem.namespaces) {
    if (wish.problem.empty()) continue;
    const bool waits = waits_for(wish.problem_id);
    conflicts.push_back(conflict_of(
        *subsystem.wanted, waits ? Standing::waiting : Standing::refused, wish.problem_id,
        fmt::format("'{}' for host '{}': {}", wish.backing.text, subsystem.host_nqn, wish.problem), wish.remedy));
  }
}

void tell_passed_over(const ExportSpec& wanted, const LocalDrives& drives, const Inventory& seen,
                      std::vector<Conflict>& conflicts) {
  std::uint32_t have = 0;
  for (const auto& [key, name] : drives.exported) have += name == wanted.name ? 1 : 0;
  if (wanted.devices.count && have >= *wanted.devices.count) return;
  if (const auto found = drives.passed_over.find(wanted.name); found != drives.passed_over.end()) {
    for (const DeviceKey& key : found->second) {
      const BlockDevice* device = seen.find(key);
      const auto vetoes = device == nullptr ? std::vector<guard::Veto>{} : guard::unusable(*device, seen);
      if (vetoes.empty()) continue;  // reserved for a volume
      const Standing standing = waits_for(vetoes.front().id) ? Standing::waiting : Standing::refused;
      conflicts.push_back(conflict_of(wanted, standing, vetoes.front().id,
                                      fmt::format("drive '{}' is not taken: {}", key.text, vetoes.front().sentence),
                                      std::string(guard::remedy_of(vetoes.front().id))));
    }
  }
  if (have == 0 || wanted.devices.count) {
    const std::string asked = wanted.devices.count ? fmt::format("{} of {}", have, *wanted.devices.count) : "no";
    conflicts.push_back(conflict_of(wanted, Standing::waiting, "export.no_drive",
                                    fmt::format("{} local SSDs that match and may be used are there", asked),
                                    "see 'nvstripe devices' for the reasons"));
  }
}

void add_whole_drives(const ShareContext& context, const std::vector<DeviceKey>& drives, SubsystemWish& subsystem) {
  for (const DeviceKey& drive : drives)
    subsystem.namespaces.push_back(wish_for(context, subsystem, {drive, 0, drive, false}));
}

void add_slices(const ShareContext& context, const ExportSpec& wanted, const std::vector<DeviceKey>& drives,
                std::vector<SubsystemWish>& subsystems, std::vector<Conflict>& conflicts) {
  for (const DeviceKey& drive : drives) {
    const std::string group = slices_group(context.host, wanted.name, drive);
    const SliceOwners owners = owners_of_slices(context, wanted, drive, group);
    for (const std::string& host : owners.without) {
      conflicts.push_back(conflict_of(wanted, Standing::refused, "export.no_free_slice",
                                      fmt::format("drive '{}' has no free slice left for host '{}'", drive.text, host),
                                      "slices of hosts that were removed keep their data; wipe them yourself to free them"));
    }
    for (const auto& [slice, owner] : owners.owner) {
      for (SubsystemWish& subsystem : subsystems) {
        if (subsystem.host_nqn != owner.host_nqn) continue;
        subsystem.namespaces.push_back(wish_for(context, subsystem, {drive, slice, slice_key(group, slice), owner.by_tag}));
      }
    }
  }
}

// Namespace ids rise in the order of the wishes, so that the same drives get the same ids whatever order they were seen in.
void number(const Inventory& seen, SubsystemWish& subsystem) {
  std::uint32_t next = highest_nsid(seen, subsystem.nqn) + 1;
  for (NamespaceWish& wish : subsystem.namespaces) {
    if (wish.record.nsid == 0) wish.record.nsid = next++;
  }
  std::sort(subsystem.namespaces.begin(), subsystem.namespaces.end(),
            [](const auto& a, const auto& b) { return a.record.nsid < b.record.nsid; });
}

void wishes_of(const ExportSpec& wanted, const LocalDrives& drives, const Spec& spec, const Inventory& seen,
               ExportWishes& wishes) {
  if (auto conflict = impossible(wanted)) {
    if (conflict->standing == Standing::refused) wishes.refused.insert(wanted.name);
    wishes.conflicts.push_back(std::move(*conflict));
    return;
  }
  std::vector<DeviceKey> mine;
  for (const auto& [key, name] : drives.exported) {
    const BlockDevice* device = seen.find(key);
    if (name == wanted.name && (device == nullptr || selects(wanted.devices, *device))) mine.push_back(key);
  }
  const ShareContext context{spec, seen, seen.host(), identity_settled(spec, seen)};
  std::vector<SubsystemWish> made;
  for (const AllowedHost& allowed : wanted.allow)
    made.push_back({&wanted, allowed.host, subsystem_nqn(context.host, wanted.name, allowed.host), {}});
  if (wanted.slices <= 1) {
    add_whole_drives(context, mine, made.front());
  } else {
    add_slices(context, wanted, mine, made, wishes.conflicts);
  }
  for (SubsystemWish& subsystem : made) {
    number(seen, subsystem);
    tell_problems(subsystem, wishes.conflicts);
    if (!subsystem.namespaces.empty()) wishes.subsystems.push_back(std::move(subsystem));
  }
  tell_passed_over(wanted, drives, seen, wishes.conflicts);
  wishes.drives.insert(wishes.drives.end(), mine.begin(), mine.end());
}

// nvmet claims nothing: the same drive can be served by a subsystem that somebody else made, and two hosts write to it.
void tell_served_beside(const ExportWishes& wishes, const Inventory& seen, std::vector<Conflict>& conflicts) {
  std::map<DeviceKey, const ExportSpec*> ours;
  for (const SubsystemWish& subsystem : wishes.subsystems) {
    for (const NamespaceWish& wish : subsystem.namespaces) {
      ours[wish.backing] = subsystem.wanted;
      ours[wish.record.drive] = subsystem.wanted;
    }
  }
  for (const TargetSubsystem& subsystem : seen.exports.value().subsystems) {
    if (subsystem.nqn.starts_with(kSubsystemPrefix)) continue;
    std::map<const ExportSpec*, std::size_t> shared;
    for (const TargetNamespace& served : subsystem.namespaces) {
      const BlockDevice* backing = backing_of(seen, served);
      const auto found = backing == nullptr ? ours.end() : ours.find(backing->key);
      if (found != ours.end()) ++shared[found->second];
    }
    for (const auto& [wanted, count] : shared) {
      conflicts.push_back(conflict_of(*wanted, Standing::refused, "export.served_beside",
                                      fmt::format("subsystem '{}', which is not ours, serves {} of its drives too, so that "
                                                  "another host may write to them",
                                                  printable(subsystem.nqn), count),
                                      "remove that subsystem from nvmet; nvstripe removes only its own"));
    }
  }
}

}  // namespace

bool SubsystemWish::ready() const {
  return std::all_of(namespaces.begin(), namespaces.end(), [](const NamespaceWish& wish) { return wish.problem.empty(); });
}

bool has_exports(const Spec& spec, const Inventory& seen) {
  const auto& ledger = seen.records.value().exports;
  return !spec.exports.empty() ||
         std::any_of(ledger.begin(), ledger.end(), [](const ExportRecord& record) { return !record.retired; });
}

std::vector<Conflict> export_blindness(const Spec& spec, const Inventory& seen) {
  std::vector<Conflict> conflicts;
  const auto need = [&](const auto& facet, std::string_view name) {
    if (!facet.is_known())
      conflicts.push_back({"exports", "exports", fmt::format("cannot see {}: {}", name, facet.reason()),
                           "make it readable; nothing is exported or withdrawn on missing information", Standing::waiting,
                           "export.cannot_see"});
  };
  need(seen.blocks, "block devices");
  need(seen.exports, "the nvmet configuration");
  need(seen.mounts, "mounts");
  need(seen.identity, "the host identity");
  const bool sliced =
      std::any_of(spec.exports.begin(), spec.exports.end(), [](const ExportSpec& wanted) { return wanted.slices > 1; });
  if (sliced) need(seen.lvm, "LVM");
  return conflicts;
}

ExportWishes export_wishes(const Spec& spec, const Inventory& seen) {
  ExportWishes wishes;
  if (spec.exports.empty()) return wishes;
  if (seen.host().is_none()) {
    for (const ExportSpec& wanted : spec.exports)
      wishes.conflicts.push_back(conflict_of(wanted, Standing::waiting, "export.no_host_identity",
                                             "the identity of this host is not known", "set 'node.host_id' to a UUID"));
    return wishes;
  }
  const LocalDrives drives = divide_local_drives(spec, seen);
  for (const ExportSpec& wanted : spec.exports) wishes_of(wanted, drives, spec, seen, wishes);
  tell_served_beside(wishes, seen, wishes.conflicts);
  std::sort(wishes.drives.begin(), wishes.drives.end());
  return wishes;
}

bool is_recorded(const Inventory& seen, const ExportRecord& record) {
  const auto& ledger = seen.records.value().exports;
  return std::find(ledger.begin(), ledger.end(), record) != ledger.end();
}

const TargetSubsystem* find_subsystem(const Inventory& seen, const std::string& nqn) {
  for (const TargetSubsystem& subsystem : seen.exports.value().subsystems) {
    if (subsystem.nqn == nqn) return &subsystem;
  }
  return nullptr;
}

bool is_published(const Inventory& seen, const std::string& nqn) {
  const auto& ports = seen.exports.value().ports;
  return std::any_of(ports.begin(), ports.end(), [&](const TargetPort& port) {
    return std::find(port.subsystems.begin(), port.subsystems.end(), nqn) != port.subsystems.end();
  });
}

bool is_same_identity(const std::string& text, const Uuid& uuid) {
  const auto parsed = parse_uuid(text);
  return parsed && *parsed == uuid;
}

const BlockDevice* backing_of(const Inventory& seen, const TargetNamespace& served) {
  if (!served.device_path.starts_with("/dev/")) return nullptr;
  const std::string name = served.device_path.substr(5);
  for (const BlockDevice& device : seen.blocks.value()) {
    if (device.kernel_name == name || device.key.text == "lv:" + name) return &device;
  }
  return nullptr;
}

}  // namespace nvstripe::configure

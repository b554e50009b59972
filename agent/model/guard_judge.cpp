// Owns the judgement of writes: which devices an action may write to, that each has its last look first, that consent and
// risk are stated truly. What it does beside writing is judged in guard_steps.cpp.
#include <algorithm>
#include <set>

#include "agent/base/text.hpp"
#include "agent/model/guard.hpp"
#include "agent/model/guard_ours.hpp"
#include "agent/model/guard_steps.hpp"

namespace nvstripe::guard {
namespace {

Veto veto(std::string id, std::string sentence) { return {"guard." + std::move(id), std::move(sentence)}; }
std::string quoted(const DeviceKey& key) { return "'" + printable(key.text) + "'"; }

bool is_content_veto(const Veto& found) {
  return found.id == "guard.signature" || found.id == "guard.content" || found.id == "guard.content_unknown";
}

const RequireContent* last_look(const Action& action, const DeviceKey& key) {
  for (const Step& step : action.steps) {
    const auto* look = std::get_if<RequireContent>(&step);
    if (look != nullptr && look->device == key) return look;
  }
  return nullptr;
}

bool has_consent(const Action& action, const DeviceKey& key, const Spec& spec, const Inventory& seen) {
  // Another host's volume is taken over by no consent to wipe (law 3); whose a physical volume is, only LVM tells.
  if (const BlockDevice* device = seen.find(key); device != nullptr) {
    const auto& all = device->signatures;
    const bool physical = std::any_of(all.begin(), all.end(), [](const auto& one) { return one.type == "LVM2_member"; });
    if (is_named_as_ours(*device, seen) || (physical && !seen.lvm.is_known())) return false;
  }
  if (action.risk != Risk::destroys_data || !action.object.starts_with("volume:")) return false;
  const VolumeSpec* volume = spec.volume(action.object.substr(7));
  if (volume == nullptr || !volume->wipe_foreign_data) return false;
  return std::any_of(action.destroys.begin(), action.destroys.end(),
                     [&](const std::string& line) { return line.starts_with(key.text + " "); });
}

bool intent_is_open(const Action& action, const Inventory& seen) {
  const auto& intents = seen.records.value().intents;
  return std::any_of(intents.begin(), intents.end(),
                     [&](const IntentRecord& intent) { return intent.action_id == action.id; });
}

bool only_our_slices(const std::vector<DeviceKey>& holders, const Spec& spec, const Inventory& seen) {
  return std::all_of(holders.begin(), holders.end(), [&](const DeviceKey& key) { return is_our_stack(key, spec, seen); });
}

// What is left of the vetoes on a device when its identity says that it is ours.
std::vector<Veto> vetoes_left(const BlockDevice& device, const Action& action, const Spec& spec, const Inventory& seen) {
  std::vector<Veto> left = unusable(device, seen);
  const bool stack = device.kind == DeviceKind::array && is_our_stack(device.key, spec, seen);
  const bool slices = is_our_slice_drive(device, spec, seen);
  const bool redo = unfinished_owner(device, seen) != nullptr;
  const bool consent = has_consent(action, device.key, spec, seen);
  std::erase_if(left, [&](const Veto& found) {
    if (found.id == "guard.not_a_drive") return stack;
    // mkfs that was cut off may leave data without a signature on an array that carries our identity.
    if (found.id == "guard.content" && stack && intent_is_open(action, seen)) return true;
    if (slices && (found.id == "guard.ledger" || is_content_veto(found))) return true;
    if (slices && found.id == "guard.holder") return only_our_slices(device.holders, spec, seen);
    return is_content_veto(found) && (redo || consent);
  });
  return left;
}

Veto judge_expected(const RequireContent& look, const BlockDevice& device, const Action& action, const Spec& spec,
                    const Inventory& seen) {
  auto wanted = look.expected, found = device.signatures;
  std::sort(wanted.begin(), wanted.end());
  std::sort(found.begin(), found.end());
  if (wanted != found) {
    return veto("last_look_differs", "the last look at " + quoted(look.device) + " expects other content than was judged");
  }
  if (device.diskseq != 0 && look.diskseq != 0 && look.diskseq != device.diskseq) {
    return veto("last_look_differs", "the last look at " + quoted(look.device) + " expects another disk");
  }
  const bool ours_torn =
      device.kind == DeviceKind::array && is_our_stack(device.key, spec, seen) && intent_is_open(action, seen);
  if (look.any_content && !has_consent(action, look.device, spec, seen) && !ours_torn) {
    return veto("last_look_differs", "the last look at " + quoted(look.device) + " would allow any content without consent");
  }
  return {};
}

// An array or LV that an action before this one makes: known by its identity, and seen only then.
Veto judge_unseen(const DeviceKey& key, const Action& action, const Spec& spec, const Inventory& seen) {
  const std::string fact = key.text.starts_with("md:") ? "array:" + key.text.substr(3) : key.text;
  const bool awaited = std::find(action.needs.begin(), action.needs.end(), fact) != action.needs.end() ||
                       std::find(action.needs.begin(), action.needs.end(), "block:" + key.text) != action.needs.end();
  if (awaited && is_our_stack(key, spec, seen)) {
    const RequireContent* look = last_look(action, key);
    if (look != nullptr && look->expected.empty() && !look->any_content) return {};
    return veto("last_look_differs", "the last look at " + quoted(key) + " would allow content that was not seen");
  }
  return veto("unseen_device", quoted(key) + " is not seen");
}

Veto judge_write(const DeviceKey& key, const Action& action, const Spec& spec, const Inventory& seen) {
  const RequireContent* look = last_look(action, key);
  if (look == nullptr) return veto("no_last_look", "nothing looks at " + quoted(key) + " just before it is written");
  if (!seen.blocks.is_known()) return veto("facet_unknown", "block devices cannot be seen: " + seen.blocks.reason());
  const BlockDevice* device = seen.find(key);
  if (device == nullptr) return judge_unseen(key, action, spec, seen);
  const auto left = vetoes_left(*device, action, spec, seen);
  if (!left.empty()) return {left.front().id, quoted(key) + ": " + left.front().sentence};
  return judge_expected(*look, *device, action, spec, seen);
}

bool names_kernel_device(std::string_view text) {
  for (const std::string_view prefix :
       {"/dev/nvme", "/dev/sd", "/dev/vd", "/dev/xvd", "/dev/dm-", "/dev/md1", "/dev/loop"}) {
    const auto at = text.find(prefix);
    if (at != std::string_view::npos && !text.substr(at).starts_with("/dev/nvme-fabrics")) return true;
  }
  return false;
}

// Every device of a writing program is declared, and was looked at before.
Veto judge_runs(const Action& action) {
  std::set<std::string> looked;
  for (const Step& step : action.steps) {
    if (const auto* look = std::get_if<RequireContent>(&step)) looked.insert(look->device.text);
    const auto* run = std::get_if<Run>(&step);
    if (run == nullptr) continue;
    for (const Arg& arg : run->argv) {
      const auto* reference = std::get_if<DeviceRef>(&arg);
      if (reference == nullptr) {
        if (names_kernel_device(text_of(arg))) return veto("kernel_name", "it names '" + printable(text_of(arg)) + "'");
        continue;
      }
      if (!writes_devices(*run)) continue;
      if (std::find(action.writes.begin(), action.writes.end(), reference->key) == action.writes.end()) {
        return veto("undeclared_write", "'" + program_of(*run) + "' writes to " + quoted(reference->key) + ", undeclared");
      }
      if (!looked.contains(reference->key.text)) {
        return veto("no_last_look", "nothing looks at " + quoted(reference->key) + " before '" + program_of(*run) + "'");
      }
    }
    if (writes_devices(*run) && action.writes.empty()) {
      return veto("undeclared_write", "'" + program_of(*run) + "' writes, and the action declares no device");
    }
  }
  return {};
}

Veto judge_risk(const Action& action, const Spec& spec, const Inventory& seen) {
  Risk least = least_risk(action, spec, seen);
  if (!action.writes.empty()) least = std::max(least, Risk::writes_blank);
  for (const DeviceKey& key : action.writes) {
    const BlockDevice* device = seen.find(key);
    if (device == nullptr) continue;
    const bool blank = device->signatures.empty() && device->content != Content::data;
    const bool ours = unfinished_owner(*device, seen) != nullptr || is_our_slice_drive(*device, spec, seen) ||
                      (is_our_stack(key, spec, seen) && device->signatures.empty());
    if (!blank && !ours) least = Risk::destroys_data;
  }
  if (action.risk < least) {
    return veto("risk_understated",
                "it is said to be '" + std::string(to_text(action.risk)) + "' and is '" + std::string(to_text(least)) + "'");
  }
  if (action.risk == Risk::destroys_data && action.destroys.empty()) {
    return veto("no_consent", "it destroys data and does not list what");
  }
  return {};
}

// A namespace id never comes back with another drive, or another generation of one, behind it.
Veto judge_ledger(const Action& action, const Inventory& seen) {
  std::vector<Record> written = action.before;
  written.insert(written.end(), action.after.begin(), action.after.end());
  for (const Record& record : written) {
    const auto* entry = std::get_if<ExportRecord>(&record);
    if (entry == nullptr || entry->retired || entry->nsid == 0) continue;
    for (const ExportRecord& old : seen.records.value().exports) {
      const bool same_place = old.subsystem_nqn == entry->subsystem_nqn && old.nsid == entry->nsid;
      const bool same_drive = old.drive == entry->drive && old.slice == entry->slice && old.generation == entry->generation;
      if (same_place && !same_drive) {
        return veto("namespace_reused", "namespace " + std::to_string(entry->nsid) + " of '" + entry->subsystem_nqn +
                                            "' belonged to " + quoted(old.drive));
      }
    }
  }
  return {};
}

}  // namespace

Veto judge(const Action& action, const Spec& spec, const Inventory& seen) {
  if (!seen.records.is_known()) return veto("facet_unknown", "the agent's records cannot be read: " + seen.records.reason());
  if (Veto found = judge_runs(action); !found.id.empty()) return found;
  for (const DeviceKey& key : action.writes) {
    if (Veto found = judge_write(key, action, spec, seen); !found.id.empty()) return found;
  }
  if (Veto found = judge_steps(action, spec, seen); !found.id.empty()) return found;
  if (Veto found = judge_ledger(action, seen); !found.id.empty()) return found;
  return judge_risk(action, spec, seen);
}

}  // namespace nvstripe::guard

// Owns the survey and the row 'volume'. The order of questions is the law: what exists (record, identity on devices) comes
// before what may be chosen; whatever exists in part stops everything but the redo of an own unfinished creation.
#include "configurators/volume.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "agent/base/text.hpp"
#include "agent/model/guard.hpp"
#include "agent/model/guard_ours.hpp"
#include "configurators/host_identity.hpp"
#include "configurators/local_drives.hpp"
#include "configurators/mount.hpp"
#include "configurators/nvme_connect.hpp"
#include "configurators/sight.hpp"
#include "configurators/volume_choice.hpp"

namespace nvstripe::configure {
namespace {

struct Context {
  const Spec& spec;
  const Inventory& seen;
  Uuid host;
  Reached reached;
  std::map<std::string_view, const NvmeController*> controllers;  // by kernel name
};

Context context_of(const Spec& spec, const Inventory& seen) {
  Context in{spec, seen, seen.host(), by_controller(seen), {}};
  for (const NvmeController& controller : seen.controllers.value()) in.controllers[controller.kernel_name] = &controller;
  return in;
}

void say(VolumeSurvey& out, std::string id, std::string why, std::string remedy, Standing standing = Standing::refused) {
  out.conflicts.push_back(volume_conflict(out.wanted->name, std::move(id), std::move(why), std::move(remedy), standing));
}

std::string named(const std::vector<DeviceKey>& keys) {
  std::vector<std::string> texts;
  for (const DeviceKey& key : keys) texts.push_back("'" + printable(key.text) + "'");
  return join(texts, ", ");
}

const LvmVolume* find_volume(const Inventory& seen, const std::string& group) {
  for (const LvmVolume& volume : seen.lvm.value().volumes) {
    if (volume.vg == group && volume.name == "data") return &volume;
  }
  return nullptr;
}

bool is_running_state(const std::string& state) {
  return !state.empty() && state != "clear" && state != "inactive" && state != "broken";
}

void identify(VolumeSurvey& out, std::uint64_t generation, const Context& in) {
  const std::string& name = out.wanted->name;
  out.generation = generation;
  out.array = derive(in.host, "array", name, generation);
  out.filesystem = derive(in.host, "fs", name, generation);
  out.group = group_name(name, generation);
  if (out.stack == Stack::md) {
    out.device = DeviceKey{"md:" + to_text(out.array)};
    out.fact = "array:" + to_text(out.array);
    const MdArray* array = in.seen.find_array(to_text(out.array));
    if (array != nullptr) out.state = array->state;
    out.running = is_running_state(out.state);
  } else {
    out.device = DeviceKey{"lv:" + out.group + "/data"};
    out.fact = out.device.text;
    const LvmVolume* volume = find_volume(in.seen, out.group);
    out.running = volume != nullptr && volume->active;
  }
}

// Reached by a live controller; a local drive whose controller is not listed is taken as it is.
bool is_reachable(const BlockDevice& device, const Context& in) {
  bool listed = false;
  for (const std::string& name : device.controllers) {
    const auto found = in.controllers.find(name);
    if (found == in.controllers.end()) continue;
    if (found->second->state == "live") return true;
    listed = true;
  }
  return !listed && device.kind != DeviceKind::remote_namespace;
}

void look_at_members(VolumeSurvey& out, const Context& in) {
  out.members_ready = true;
  for (const DeviceKey& key : out.members) {
    const BlockDevice* device = in.seen.find(key);
    if (device == nullptr) {
      out.members_ready = false;
      continue;
    }
    if (device->kind == DeviceKind::remote_namespace) out.remote = true;
    if (device->ambiguous_key || !is_reachable(*device, in)) out.members_ready = false;
  }
}

// ---- what exists
// ----------------------------------------------------------------------------------------------------------

struct Members {
  std::vector<DeviceKey> ours, blank, missing, stale, foreign;
};

Members sort_members(const VolumeRecord& record, const Context& in) {
  Members out;
  for (const DeviceKey& key : record.members) {
    const BlockDevice* device = in.seen.find(key);
    if (device == nullptr) {
      out.missing.push_back(key);
      continue;
    }
    const auto generation = own_generation(*device, record.name, in.host);
    if (generation) {
      (*generation == record.generation ? out.ours : out.stale).push_back(key);
      continue;
    }
    const auto vetoes = guard::unusable(*device, in.seen);
    const bool unseen = std::any_of(vetoes.begin(), vetoes.end(), [](const guard::Veto& veto) {
      return veto.id == "guard.not_live" || veto.id == "guard.look_unknown" || veto.id == "guard.content_unknown";
    });
    if (vetoes.empty())
      out.blank.push_back(key);
    else
      (unseen ? out.missing : out.foreign).push_back(key);
  }
  return out;
}

std::string what_connections_miss(const VolumeSpec& wanted, const Context& in) {
  std::vector<std::string> texts;
  for (const std::string& name : wanted.members.from) {
    const ConnectionSpec* connection = in.spec.connection(name);
    if (connection == nullptr) continue;
    const ConnectionView view = view_connection(*connection, in.seen);
    if (!view.complete) texts.push_back("'" + name + "': " + view.missing);
  }
  return join(texts, "; ");
}

bool is_only_content(const DeviceKey& key, const Context& in) {
  const BlockDevice* device = in.seen.find(key);
  return device != nullptr && !guard::is_named_as_ours(*device, in.seen) && guard::unusable(*device, in.seen, true).empty();
}

void judge_recorded(VolumeSurvey& out, const Members& members, const Context& in) {
  const bool intended = out.record->stage == Stage::intended;
  if (!members.missing.empty()) {
    const std::string why = what_connections_miss(*out.wanted, in);
    say(out, "volume.members_missing",
        "it exists, and " + named(members.missing) + (members.missing.size() == 1 ? " is" : " are") + " not there" +
            (why.empty() ? "" : " (" + why + ")"),
        "bring the target or drive back; nothing is chosen in its place", Standing::waiting);
  } else if (intended && members.stale.empty() && !members.foreign.empty() && out.wanted->wipe_foreign_data &&
             std::all_of(members.foreign.begin(), members.foreign.end(),
                         [&](const DeviceKey& key) { return is_only_content(key, in); })) {
    out.wiped = members.foreign;  // the consented creation did not get to them; it needs acceptance again
    out.phase = Phase::redo;
  } else if (!members.foreign.empty() || !members.stale.empty()) {
    const auto& wrong = members.foreign.empty() ? members.stale : members.foreign;
    say(out, "volume.member_changed", "its recorded members " + named(wrong) + " carry something else now",
        "find out who wrote to them; if the volume is lost, remove it from the spec and give it another name");
  } else if (intended && !members.blank.empty()) {
    out.phase = Phase::redo;
  } else if (members.ours.size() == out.record->members.size()) {
    out.phase = Phase::present;
  } else if (members.ours.empty()) {
    say(out, "volume.data_lost", "it was made, and all its members are blank now: its data is lost",
        "run 'nvstripe release " + out.wanted->name +
            "', and give a new volume another name; it is not made anew by itself");
  } else {
    say(out, "volume.member_blank",
        "it was made, and " + named(members.blank) + (members.blank.size() == 1 ? " is" : " are") + " blank now",
        "bring the former drive back; without it the data of the stripe is lost");
  }
}

void follow_record(VolumeSurvey& out, const Context& in) {
  out.stack = out.record->stack == "lvm" ? Stack::lvm : Stack::md;
  out.members = out.record->members;
  identify(out, out.record->generation, in);
  look_at_members(out, in);
  if (out.running || out.state == "broken") {
    out.phase = Phase::present;  // the members of what runs need not be looked at, and may be dead
    return;
  }
  const Members members = sort_members(*out.record, in);
  judge_recorded(out, members, in);
  // Labels without a logical volume: vgcreate or lvcreate did not get through.
  if (out.phase != Phase::present || out.stack != Stack::lvm || find_volume(in.seen, out.group) != nullptr) return;
  if (out.record->stage == Stage::intended) {
    out.phase = Phase::redo;
  } else {
    out.phase = Phase::blocked;
    say(out, "volume.lv_missing", "its members are there, and group '" + out.group + "' has no volume 'data' any more",
        "look with 'vgs' and 'lvs'; nothing is made in its place");
  }
}

// The records are lost or this is a restored machine: identity on the devices says that the volume exists.
bool follow_identity(VolumeSurvey& out, const Context& in) {
  std::map<std::uint64_t, std::vector<DeviceKey>> found;
  bool lvm = false;
  for (const BlockDevice& device : in.seen.blocks.value()) {
    const auto generation = own_generation(device, out.wanted->name, in.host);
    if (!generation) continue;
    found[*generation].push_back(device.key);
    for (const Signature& signature : device.signatures) lvm = lvm || signature.type == "LVM2_member";
  }
  if (found.empty()) return false;
  if (found.size() > 1) {
    say(out, "volume.several_generations",
        "its members carry " + std::to_string(found.size()) + " different generations of it",
        "disconnect the drives of the older ones; nothing is chosen between them");
    return true;
  }
  out.stack = lvm ? Stack::lvm : Stack::md;
  out.members = found.begin()->second;
  std::sort(out.members.begin(), out.members.end());
  identify(out, found.begin()->first, in);
  look_at_members(out, in);
  const std::size_t count = out.members.size(), wanted = out.wanted->members.count;
  if (out.running || count == wanted) {
    out.phase = Phase::present;
  } else if (count < wanted) {
    say(out, "volume.members_missing",
        "it exists, and " + std::to_string(count) + " of its " + many(wanted, "member") + " are there",
        "bring the others back; nothing is chosen in their place", Standing::waiting);
  } else {
    say(out, "volume.too_many_members", many(count, "drive") + " carry its identity, and it has " + many(wanted, "member"),
        "disconnect the copies, or correct 'count'");
  }
  return true;
}

// What of the spec cannot be followed any more; what exists is mounted all the same.
void compare_with_spec(VolumeSurvey& out, const Context& in) {
  const std::string remedy = "set it back; to have it otherwise, move the data to a new volume and release this one";
  const VolumeSpec& wanted = *out.wanted;
  if (out.members.size() != wanted.members.count) {
    say(out, "volume.count_changed",
        "it has " + many(out.members.size(), "member") + ", and " + std::to_string(wanted.members.count) +
            " are wanted: that cannot be changed in place",
        remedy);
  }
  if (out.stack != wanted.stack) {
    say(out, "volume.stack_changed",
        "it is made with " + std::string(to_text(out.stack)) + ", and " + std::string(to_text(wanted.stack)) +
            " is wanted: that cannot be changed in place",
        remedy);
    return;
  }
  std::uint64_t chunk = 0;
  if (const MdArray* array = in.seen.find_array(to_text(out.array))) chunk = array->chunk.count;
  if (out.stack == Stack::lvm) {
    const LvmVolume* volume = find_volume(in.seen, out.group);
    chunk = volume == nullptr ? 0 : volume->stripe_size.count;
  }
  if (chunk != 0 && chunk != wanted.chunk.count) {
    say(out, "volume.chunk_changed",
        "it is striped by " + to_text(Bytes{chunk}) + ", and " + to_text(wanted.chunk) +
            " is wanted: that cannot be changed in place",
        remedy);
  }
}

// ---- what may be made
// -------------------------------------------------------------------------------------------------------

void choose(VolumeSurvey& out, const Context& in, const std::set<DeviceKey>& taken) {
  Choice choice = choose_members(*out.wanted, in.spec, in.seen, taken, in.reached);
  std::move(choice.conflicts.begin(), choice.conflicts.end(), std::back_inserter(out.conflicts));
  if (choice.members.empty()) return;
  out.members = std::move(choice.members);
  out.wiped = std::move(choice.wiped);
  out.trim = choice.trim;
  identify(out, in.seen.records.value().fresh_generation, in);
  look_at_members(out, in);
  out.phase = Phase::create;
}

// Every refusal comes before the first write: the way to the mount point as well.
void check_way(VolumeSurvey& out, const Context& in) {
  for (Conflict& found : missing_of_host(out, in.seen)) out.conflicts.push_back(std::move(found));
  for (Conflict& found : mount_conflicts(out, in.seen)) out.conflicts.push_back(std::move(found));
  for (Conflict& found : account_conflicts(out, in.seen)) out.conflicts.push_back(std::move(found));
  const bool stops = std::any_of(out.conflicts.begin(), out.conflicts.end(),
                                 [](const Conflict& one) { return one.standing != Standing::note; });
  if (stops) out.phase = Phase::blocked;
}

FacetSet needed_for(const VolumeSpec& wanted, Stack stack) {
  FacetSet needed = FacetName::identity | FacetName::blocks | FacetName::controllers | FacetName::exports |
                    FacetName::mounts | FacetName::units | FacetName::tools | FacetName::kernel |
                    (stack == Stack::lvm ? FacetName::lvm : FacetName::arrays);
  if (wanted.members.from != std::vector<std::string>{"local_ssd"})
    needed = needed | FacetName::targets | FacetName::links | FacetName::rdma;
  return needed;
}

// An array that runs without its members, or is not complete: nothing can be done before they are back.
void check_members_ready(VolumeSurvey& out) {
  const bool idle = out.phase == Phase::redo || (out.phase == Phase::present && !out.running && out.state != "broken");
  if (!idle || out.members_ready) return;
  out.phase = Phase::blocked;
  say(out, "volume.members_not_live", "not all its members can be reached", "wait until their controllers are live",
      Standing::waiting);
}

VolumeSurvey survey(const VolumeSpec& wanted, const Context& in, const std::set<DeviceKey>& taken) {
  VolumeSurvey out;
  out.wanted = &wanted;
  out.stack = wanted.stack;
  out.record = in.seen.records.value().volume(wanted.name);
  const Stack stack = out.record != nullptr && out.record->stack == "lvm" ? Stack::lvm : wanted.stack;
  const std::vector<std::string> dark = unseen(in.seen, needed_for(wanted, stack));
  if (!dark.empty()) {
    say(out, "volume.cannot_see", join(dark, "; "), "make it readable; nothing is done on missing information",
        Standing::waiting);
    return out;
  }
  if (!identity_settled(in.spec, in.seen)) {
    say(out, "volume.identity_unsettled", "it is not clear which machine this is", "settle the host identity first",
        Standing::waiting);
    return out;
  }
  if (out.record != nullptr)
    follow_record(out, in);
  else if (!follow_identity(out, in))
    choose(out, in, taken);
  check_members_ready(out);
  if (out.phase == Phase::create || out.phase == Phase::redo)
    check_way(out, in);
  else if (!out.members.empty())
    compare_with_spec(out, in);
  return out;
}

}  // namespace

std::vector<VolumeSurvey> survey_volumes(const Spec& spec, const Inventory& seen) {
  const Context in = context_of(spec, seen);
  std::set<DeviceKey> taken;
  for (const VolumeRecord& record : seen.records.value().volumes) taken.insert(record.members.begin(), record.members.end());
  for (const auto& [drive, name] : divide_local_drives(spec, seen).exported) taken.insert(drive);  // law 10
  std::vector<VolumeSurvey> out;
  for (const VolumeSpec& wanted : spec.volumes) {
    out.push_back(survey(wanted, in, taken));
    taken.insert(out.back().members.begin(), out.back().members.end());
  }
  return out;
}

VolumeSurvey survey_existing(const VolumeSpec& wanted, const Spec& spec, const Inventory& seen) {
  const Context in = context_of(spec, seen);
  VolumeSurvey out;
  out.wanted = &wanted;
  out.stack = wanted.stack;
  out.record = seen.records.value().volume(wanted.name);
  if (out.record != nullptr)
    follow_record(out, in);
  else
    (void)follow_identity(out, in);  // nothing there is an answer as well
  return out;
}

Draft plan_volume(const Spec& spec, const Inventory& seen) {
  Draft out;
  for (VolumeSurvey& volume : survey_volumes(spec, seen)) {
    std::move(volume.conflicts.begin(), volume.conflicts.end(), std::back_inserter(out.conflicts));
  }
  if (spec.wants_nothing()) return out;
  for (const VolumeRecord& record : seen.records.value().volumes) {
    if (spec.volume(record.name) != nullptr) continue;
    out.conflicts.push_back(volume_conflict(
        record.name, "volume.unclaimed", "the spec has it no more; it stays as it is, mounted where it was",
        "run 'nvstripe release " + record.name + "' to unmount it, or put it back into the spec", Standing::note));
  }
  return out;
}

}  // namespace nvstripe::configure

// Owns the order of a release. What others need, or what is not ours, stays.
#include "configurators/release.hpp"

#include <algorithm>
#include <set>

#include "agent/base/text.hpp"
#include "configurators/host_identity.hpp"
#include "configurators/lvm_volume.hpp"
#include "configurators/mount.hpp"
#include "configurators/nvme_connect.hpp"
#include "configurators/sight.hpp"
#include "configurators/volume.hpp"

namespace nvstripe::configure {
namespace {

struct Controllers {
  std::vector<const NvmeController*> dead, live;  // ours, and nothing else needs them
  std::vector<std::string> stuck;                 // not live and not ours: unmounting may wait for them
};

bool reaches_member(const NvmeController& controller, const VolumeSurvey& volume, const Inventory& seen) {
  return std::any_of(volume.members.begin(), volume.members.end(), [&](const DeviceKey& key) {
    const BlockDevice* device = seen.find(key);
    if (device == nullptr) return false;
    const auto& names = device->controllers;
    return std::find(names.begin(), names.end(), controller.kernel_name) != names.end();
  });
}

// Another volume of the spec that is not on hold takes members from this connection, or will.
bool needed_by_another(const std::string& connection, const std::string& name, const Spec& spec, const Inventory& seen) {
  return std::any_of(spec.volumes.begin(), spec.volumes.end(), [&](const VolumeSpec& other) {
    const auto& from = other.members.from;
    return other.name != name && !seen.records.value().held("volume:" + other.name) &&
           std::find(from.begin(), from.end(), connection) != from.end();
  });
}

Controllers sort_controllers(const VolumeSurvey& volume, const Spec& spec, const Inventory& seen) {
  Controllers out;
  const std::string& name = volume.wanted->name;
  const auto& from = volume.wanted->members.from;
  for (const NvmeController& controller : seen.controllers.value()) {
    const ConnectionRecord* record = record_of(controller, seen);
    const bool concerned = reaches_member(controller, volume, seen) ||
                           (record != nullptr && std::find(from.begin(), from.end(), record->connection) != from.end());
    if (!concerned || controller.state.starts_with("deleting")) continue;
    const bool live = controller.state == "live";
    const bool free = record != nullptr && !needed_by_another(record->connection, name, spec, seen) &&
                      !controller_in_use(controller, seen, name);
    if (free)
      (live ? out.live : out.dead).push_back(&controller);
    else if (!live)
      out.stuck.push_back(printable(short_name(controller.subsystem_nqn)));
  }
  return out;
}

Disconnect disconnect(const NvmeController& controller) {
  return {controller.subsystem_nqn, controller.transport, controller.traddr, controller.trsvcid};
}

void add_disconnects(Action& action, const std::vector<const NvmeController*>& controllers) {
  for (const NvmeController* one : controllers) {
    action.steps.emplace_back(disconnect(*one));
    action.after.emplace_back(
        Forget{"connection", controller_place(one->subsystem_nqn, one->transport, one->traddr, one->trsvcid)});
  }
}

void add_unmount(Action& action, const VolumeSurvey& volume, const Inventory& seen) {
  std::set<std::string> paths;
  if (const std::string at = mounted_at(volume, seen); !at.empty()) paths.insert(at);
  for (const std::string& path :
       {volume.wanted->mount.path, volume.record != nullptr ? volume.record->mount_path : std::string()}) {
    const auto& units = seen.units.value();
    const bool ours = std::any_of(units.begin(), units.end(), [&](const UnitFile& unit) {
      return !path.empty() && unit.name == unit_name(path) &&
             unit.text.starts_with("# Made by nvstripe for volume '" + volume.wanted->name + "'");
    });
    if (ours) paths.insert(path);
  }
  bool removed = false;
  for (const std::string& path : paths) {
    if (!is_taken(path, volume, seen)) action.steps.emplace_back(stop_unit(unit_name(path)));
    action.steps.emplace_back(Remove{unit_path(path)});
    removed = true;
  }
  if (removed) action.steps.emplace_back(Run{{"systemctl", "daemon-reload"}, std::chrono::seconds(60)});
}

void add_stop(Action& action, const VolumeSurvey& volume, const Inventory& seen) {
  if (volume.stack == Stack::md && seen.find_array(to_text(volume.array)) != nullptr) {
    action.steps.emplace_back(Run{{"mdadm", "--stop", DeviceRef{volume.device}}, std::chrono::seconds(30)});
  } else if (volume.stack == Stack::lvm && volume.running) {
    Run run;
    run.argv = {"vgchange"};
    const std::vector<Arg> only = only_devices(volume);
    run.argv.insert(run.argv.end(), only.begin(), only.end());
    run.argv.insert(run.argv.end(), {"-an", volume.group});
    action.steps.emplace_back(std::move(run));
  }
}

Action release(const VolumeSurvey& volume, const Spec& spec, const Inventory& seen) {
  const std::string& name = volume.wanted->name;
  const Controllers controllers = sort_controllers(volume, spec, seen);
  Action action;
  action.id = "volume.release:" + name;
  action.object = "volume:" + name;
  action.sentence =
      "unmount volume '" + name + "', stop it and disconnect what nothing else needs; its data stays where it is";
  action.reason = "it was asked to be released";
  if (!controllers.dead.empty()) {
    action.reason += ", and a target does not answer: what was not written yet is lost, since nothing can take it";
  }
  action.risk = Risk::disruptive;
  action.before = {HoldRecord{"volume:" + name, "release"}};
  // XFS writes its log at unmount and waits for a drive that is not there; without its controller it gets errors instead.
  add_disconnects(action, controllers.dead);
  add_unmount(action, volume, seen);
  add_stop(action, volume, seen);
  add_disconnects(action, controllers.live);
  if (volume.record != nullptr) {
    VolumeRecord record = *volume.record;
    record.mount_path.clear();
    action.after.emplace_back(std::move(record));
  }
  return action;
}

// The spec of a volume that only the records know.
VolumeSpec spec_of(const VolumeRecord& record) {
  VolumeSpec wanted;
  wanted.name = record.name;
  wanted.stack = record.stack == "lvm" ? Stack::lvm : Stack::md;
  wanted.members.count = static_cast<std::uint32_t>(record.members.size());
  wanted.mount.path = record.mount_path;
  return wanted;
}

constexpr FacetSet kNeeded = FacetName::identity | FacetName::records | FacetName::blocks | FacetName::controllers |
                             FacetName::mounts | FacetName::units;

}  // namespace

Draft release_volume(const Spec& spec, const Inventory& seen, const std::string& name) {
  Draft out;
  std::vector<std::string> dark = unseen(seen, kNeeded);
  const VolumeRecord* record = seen.records.value().volume(name);
  const VolumeSpec* wanted = spec.volume(name);
  if (record == nullptr && wanted == nullptr) {
    out.conflicts.push_back(volume_conflict(name, "volume.unknown", "neither the spec nor the records know it",
                                            "'nvstripe volumes' lists what there is"));
    return out;
  }
  if (!dark.empty()) {
    out.conflicts.push_back(volume_conflict(name, "volume.cannot_see", join(dark, "; "),
                                            "make it readable; nothing is done on missing information", Standing::waiting));
    return out;
  }
  if (!identity_settled(spec, seen)) {
    out.conflicts.push_back(volume_conflict(name, "volume.identity_unsettled", "it is not clear which machine this is",
                                            "settle the host identity first", Standing::waiting));
    return out;
  }
  const VolumeSpec remembered = wanted != nullptr ? *wanted : spec_of(*record);
  const VolumeSurvey volume = survey_existing(remembered, spec, seen);
  for (const std::string& stuck : sort_controllers(volume, spec, seen).stuck) {
    out.conflicts.push_back(
        volume_conflict(name, "volume.release_may_wait",
                        "the controller to '" + stuck + "' is not live, and it is not this agent's or others need it",
                        "disconnect it yourself if the unmount does not end", Standing::note));
  }
  out.actions.push_back(release(volume, spec, seen));
  return out;
}

}  // namespace nvstripe::configure

// Owns the actions on mounts, and what stands in their way.
#include "configurators/mount.hpp"

#include <algorithm>

#include "agent/base/text.hpp"
#include "configurators/filesystem.hpp"
#include "configurators/host_identity.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::string_view kMarker = "# Made by nvstripe";

const UnitFile* find_unit(const Inventory& seen, const std::string& name) {
  for (const UnitFile& unit : seen.units.value()) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

const Mount* find_mount(const Inventory& seen, const std::string& path) {
  const Mount* found = nullptr;  // the last one is on top
  for (const Mount& mount : seen.mounts.value().mounts) {
    if (mount.path == path) found = &mount;
  }
  return found;
}

bool is_of(const Mount& mount, const VolumeSurvey& volume, const Inventory& seen) {
  const BlockDevice* device = seen.find(volume.device);
  if (device == nullptr) return false;
  const auto& points = device->mount_points;
  if (!mount.device_number.empty() && !device->device_number.empty()) return mount.device_number == device->device_number;
  return std::find(points.begin(), points.end(), mount.path) != points.end();
}

Conflict in_the_way(const VolumeSurvey& volume, std::string id, std::string why, std::string remedy,
                    Standing standing = Standing::refused) {
  return volume_conflict(volume.wanted->name, std::move(id),
                         "mount point '" + printable(volume.wanted->mount.path) + "' " + why, std::move(remedy), standing);
}

SetOwner owner_step(const VolumeSurvey& volume) {
  const MountSpec& wanted = volume.wanted->mount;
  return {wanted.path, wanted.owner.value_or(""), wanted.group.value_or(""), wanted.mode.value_or("")};
}

bool asks_for_owner(const MountSpec& wanted) { return wanted.owner || wanted.group || wanted.mode; }

std::string without_zeros(const std::string& mode) {
  const auto first = mode.find_first_not_of('0');
  return first == std::string::npos ? "0" : mode.substr(first);
}

// A number in the spec against a name in the look cannot be compared here; then nothing is done about it.
bool differs(const std::optional<std::string>& wanted, const std::string& found) {
  if (!wanted || found.empty()) return false;
  const bool wanted_number = parse_number(*wanted).has_value(), found_number = parse_number(found).has_value();
  return wanted_number == found_number && *wanted != found;
}

VolumeRecord mounted_record(const VolumeSurvey& volume) {
  VolumeRecord record = record_at(volume, Stage::made);
  record.mount_path = volume.wanted->mount.path;
  return record;
}

Action begin(const VolumeSurvey& volume, const std::string& verb, const Inventory& seen) {
  Action action;
  action.id = "mount." + verb + ":" + volume.wanted->name;
  action.object = "volume:" + volume.wanted->name;
  action.needs = {identity_fact(seen), filesystem_fact(volume)};
  return action;
}

Run daemon_reload() { return Run{{"systemctl", "daemon-reload"}, std::chrono::seconds(60)}; }

// Written and loaded before the start: a unit that still names another device would unmount at once.
void add_start(Action& action, const VolumeSurvey& volume, const Inventory& seen) {
  const std::string& path = volume.wanted->mount.path;
  const auto& kinds = seen.mounts.value().path_kinds;
  const auto kind = kinds.find(path);
  if (kind == kinds.end() || kind->second != "mount_point_of_ours") action.steps.emplace_back(MakeMountPoint{path});
  const UnitFile* unit = find_unit(seen, unit_name(path));
  if (unit == nullptr || unit->text != unit_text(volume))
    action.steps.emplace_back(PutFile{unit_path(path), unit_text(volume)});
  // Also when the file is right already: a crash between the two leaves systemd with the older text, which it keeps for as
  // long as it has the unit in memory.
  const auto& fresh = seen.mounts.value().units_not_loaded;
  if (std::find(fresh.begin(), fresh.end(), unit_name(path)) == fresh.end()) action.steps.emplace_back(daemon_reload());
  Run start{{"systemctl", "start", unit_name(path)}};
  start.deadline = std::chrono::seconds(100);
  action.steps.emplace_back(std::move(start));
  action.steps.emplace_back(Await{"mount:" + path, std::chrono::seconds(30)});
  if (asks_for_owner(volume.wanted->mount)) action.steps.emplace_back(owner_step(volume));
  action.gives = {"mount:" + path};
  action.after = {mounted_record(volume)};
}

void add_remove_unit(Action& action, const std::string& path, const VolumeSurvey& volume, const Inventory& seen) {
  if (!is_taken(path, volume, seen)) action.steps.emplace_back(stop_unit(unit_name(path)));
  action.steps.emplace_back(Remove{unit_path(path)});
  action.steps.emplace_back(daemon_reload());
}

Action start(const VolumeSurvey& volume, const Inventory& seen) {
  const std::string& path = volume.wanted->mount.path;
  Action action = begin(volume, "start", seen);
  action.sentence = "mount volume '" + volume.wanted->name + "' at '" + printable(path) + "'";
  action.reason = "it is not mounted";
  const std::string former = volume.record == nullptr ? "" : volume.record->mount_path;
  const UnitFile* left = former.empty() || former == path ? nullptr : find_unit(seen, unit_name(former));
  if (left != nullptr && left->text.starts_with(kMarker)) add_remove_unit(action, former, volume, seen);
  add_start(action, volume, seen);
  action.undo = {stop_unit(unit_name(path)), Remove{unit_path(path)}, daemon_reload()};
  return action;
}

Action move(const VolumeSurvey& volume, const std::string& from, const Inventory& seen) {
  const std::string& path = volume.wanted->mount.path;
  Action action = begin(volume, "move", seen);
  action.sentence = "unmount volume '" + volume.wanted->name + "' from '" + printable(from) + "' and mount it at '" +
                    printable(path) + "'";
  action.reason = "the spec names another mount point";
  action.risk = Risk::disruptive;
  add_remove_unit(action, from, volume, seen);
  add_start(action, volume, seen);
  return action;
}

std::string mount_section(const std::string& text) {
  const auto at = text.find("[Mount]");
  return at == std::string::npos ? std::string() : text.substr(at);
}

// What it mounts, where and how counts; the rest of the unit is brought up to date without touching the mount.
void plan_unit(const VolumeSurvey& volume, const Inventory& seen, Draft& out) {
  const std::string& path = volume.wanted->mount.path;
  const UnitFile* unit = find_unit(seen, unit_name(path));
  const std::string text = unit_text(volume);
  if (unit != nullptr && (unit->text == text || !unit->text.starts_with(kMarker))) return;
  const bool same = unit == nullptr || mount_section(unit->text) == mount_section(text);
  Action action = begin(volume, same ? "unit" : "change", seen);
  action.steps = {PutFile{unit_path(path), text}, daemon_reload()};
  if (same) {
    action.sentence = "write the mount unit of volume '" + volume.wanted->name + "' anew";
    action.reason = unit == nullptr ? "it is mounted without one, and would not come back or be ordered at shutdown"
                                    : "its order or description changed";
  } else {
    action.sentence = "mount volume '" + volume.wanted->name + "' again with other options";
    action.reason = "device or options of its mount unit changed";
    action.risk = Risk::disruptive;
    Run restart{{"systemctl", "restart", unit_name(path)}};
    restart.deadline = std::chrono::seconds(200);
    action.steps.emplace_back(std::move(restart));
    action.steps.emplace_back(Await{"mount:" + path, std::chrono::seconds(30)});
  }
  out.actions.push_back(std::move(action));
}

void plan_mounted(const VolumeSurvey& volume, const Inventory& seen, Draft& out) {
  plan_unit(volume, seen, out);
  const MountSpec& wanted = volume.wanted->mount;
  const Mount* mount = find_mount(seen, wanted.path);
  if (mount == nullptr) return;
  const bool mode = wanted.mode && !mount->mode.empty() && without_zeros(*wanted.mode) != without_zeros(mount->mode);
  if (differs(wanted.owner, mount->owner) || differs(wanted.group, mount->group) || mode) {
    Action action = begin(volume, "owner", seen);
    action.sentence = "set owner, group and mode of '" + printable(wanted.path) + "' as the spec says";
    action.reason =
        "they are '" + printable(mount->owner) + "', '" + printable(mount->group) + "' and '" + mount->mode + "'";
    action.steps = {owner_step(volume)};
    action.undo = {SetOwner{wanted.path, mount->owner, mount->group, mount->mode}};
    out.actions.push_back(std::move(action));
  }
  if (volume.record != nullptr && volume.record->mount_path != wanted.path && volume.made()) {
    Action action = begin(volume, "record", seen);
    action.sentence = "record where volume '" + volume.wanted->name + "' is mounted";
    action.reason = "it is mounted at '" + printable(wanted.path) + "' and the record does not say so";
    action.after = {mounted_record(volume)};
    out.actions.push_back(std::move(action));
  }
}

void plan_one(const VolumeSurvey& volume, const Inventory& seen, Draft& out) {
  const std::string at = mounted_at(volume, seen);
  const std::string& path = volume.wanted->mount.path;
  if (volume.state == "broken") return;  // recovered first, and mounted in the next look
  if (at == path && !at.empty()) {
    plan_mounted(volume, seen, out);
    return;
  }
  if (!filesystem_comes(volume, seen)) return;
  // Before a creation the survey has asked already.
  std::vector<Conflict> found = volume.phase == Phase::present ? mount_conflicts(volume, seen) : std::vector<Conflict>{};
  const bool ours = volume.record != nullptr && volume.record->mount_path == at;
  if (!at.empty() && !ours) {
    found.push_back(in_the_way(volume, "mount.elsewhere",
                               "is wanted, and the volume is mounted at '" + printable(at) + "' by somebody else",
                               "unmount it there; nvstripe unmounts only what it mounted"));
  }
  if (!found.empty()) {
    std::move(found.begin(), found.end(), std::back_inserter(out.conflicts));
    return;
  }
  out.actions.push_back(at.empty() ? start(volume, seen) : move(volume, at, seen));
}

void check_account(const VolumeSurvey& volume, const std::string& kind, const std::optional<std::string>& name,
                   const Inventory& seen, std::vector<Conflict>& out) {
  const auto& unknown = seen.mounts.value().no_accounts;
  if (!name || std::find(unknown.begin(), unknown.end(), kind + " " + *name) == unknown.end()) return;
  out.push_back(in_the_way(volume, "mount.no_account",
                           "is to belong to " + kind + " '" + printable(*name) + "', which is not on this machine",
                           "create it, or correct 'mount' of the volume", Standing::waiting));
}

}  // namespace

bool is_taken(const std::string& path, const VolumeSurvey& volume, const Inventory& seen) {
  const Mount* mount = find_mount(seen, path);
  return mount != nullptr && !is_of(*mount, volume, seen);
}

std::vector<Conflict> mount_conflicts(const VolumeSurvey& volume, const Inventory& seen) {
  std::vector<Conflict> out;
  const std::string& path = volume.wanted->mount.path;
  const Mounts& mounts = seen.mounts.value();
  if (const Mount* mount = find_mount(seen, path); mount != nullptr && !is_of(*mount, volume, seen)) {
    out.push_back(in_the_way(volume, "mount.in_use", "is in use: '" + printable(mount->source) + "' is mounted there",
                             "unmount it, or choose another path"));
    return out;
  }
  if (std::find(mounts.fstab_paths.begin(), mounts.fstab_paths.end(), path) != mounts.fstab_paths.end()) {
    out.push_back(in_the_way(volume, "mount.in_fstab", "is named in /etc/fstab",
                             "remove that line: nvstripe mounts through a unit of its own"));
  }
  if (const UnitFile* unit = find_unit(seen, unit_name(path)); unit != nullptr && !unit->text.starts_with(kMarker)) {
    out.push_back(in_the_way(volume, "mount.foreign_unit",
                             "has a unit that is not of nvstripe: '" + printable(unit->path) + "'",
                             "remove that unit, or choose another path"));
  }
  if (is_mounted(volume, seen) && mounted_at(volume, seen) == path) return out;
  const auto kind = mounts.path_kinds.find(path);
  if (kind == mounts.path_kinds.end()) {
    out.push_back(in_the_way(volume, "mount.unseen", "could not be looked at", "make it readable", Standing::waiting));
  } else if (kind->second == "full") {
    out.push_back(in_the_way(volume, "mount.not_empty", "is not empty", "move what is in it away, or choose another path"));
  } else if (kind->second == "not_a_folder") {
    out.push_back(in_the_way(volume, "mount.not_a_folder", "is not a folder", "remove it, or choose another path"));
  }
  return out;
}

std::vector<Conflict> account_conflicts(const VolumeSurvey& volume, const Inventory& seen) {
  std::vector<Conflict> out;
  check_account(volume, "user", volume.wanted->mount.owner, seen, out);
  check_account(volume, "group", volume.wanted->mount.group, seen, out);
  return out;
}

Draft plan_mount(const Spec& spec, const Inventory& seen) {
  Draft out;
  for (const VolumeSurvey& volume : survey_volumes(spec, seen)) {
    if (volume.phase != Phase::blocked) plan_one(volume, seen, out);
  }
  return out;
}

}  // namespace nvstripe::configure

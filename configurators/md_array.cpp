// Owns the command lines for arrays: UUID and explicit members always, inside the udev locks of all members.
#include "configurators/md_array.hpp"

#include "configurators/filesystem.hpp"
#include "configurators/host_identity.hpp"
#include "configurators/mount.hpp"
#include "configurators/volume.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::chrono::seconds kCreateDeadline{120};
constexpr std::chrono::seconds kStopDeadline{30};

Run mdadm(std::vector<Arg> arguments, const VolumeSurvey& volume, std::chrono::seconds deadline) {
  Run run;
  run.argv = {"mdadm"};
  run.argv.insert(run.argv.end(), arguments.begin(), arguments.end());
  run.deadline = deadline;
  // udev's incremental assembly takes each member as it comes; events wait until the tool is done with all of them.
  run.udev_lock = volume.members;
  return run;
}

std::vector<Arg> with_members(std::vector<Arg> arguments, const VolumeSurvey& volume) {
  for (const DeviceKey& key : volume.members) arguments.emplace_back(DeviceRef{key});
  return arguments;
}

Run create_run(const VolumeSurvey& volume) {
  // --run answers every question, so it is used only after our own look; stdin is empty for the questions of later versions.
  return mdadm(with_members({"--create", "/dev/md/" + array_name(volume.wanted->name), "--level=0",
                             "--raid-devices=" + std::to_string(volume.members.size()),
                             "--chunk=" + std::to_string(volume.wanted->chunk.count / 1024), "--metadata=1.2",
                             "--uuid=" + to_mdadm(volume.array), "--homehost=any",
                             "--name=" + array_name(volume.wanted->name), "--run"},
                            volume),
               volume, kCreateDeadline);
}

Run assemble_run(const VolumeSurvey& volume) {
  return mdadm(with_members({"--assemble", "/dev/md/" + array_name(volume.wanted->name), "--uuid=" + to_mdadm(volume.array),
                             "--homehost=any"},
                            volume),
               volume, kStopDeadline);
}

Run stop_run(const VolumeSurvey& volume) { return mdadm({"--stop", DeviceRef{volume.device}}, volume, kStopDeadline); }

Action begin(const VolumeSurvey& volume, const std::string& verb, const Inventory& seen) {
  Action action;
  action.id = "md." + verb + ":" + volume.wanted->name;
  action.object = "volume:" + volume.wanted->name;
  action.needs = {identity_fact(seen)};
  for (const DeviceKey& key : volume.members) action.needs.push_back(block_fact(key));
  action.gives = {volume.fact};
  return action;
}

Action create(const VolumeSurvey& volume, const Inventory& seen) {
  const std::string& name = volume.wanted->name;
  Action action = begin(volume, "create", seen);
  action.sentence = "make a raid0 array of " + many(volume.members.size(), "member") + " with " +
                    to_text(volume.wanted->chunk) + " chunks for volume '" + name + "'";
  action.reason = "volume '" + name + "' does not exist and " +
                  (volume.members.size() == 1 ? "its member is" : "all " + many(volume.members.size(), "member") + " are") +
                  " blank";
  if (volume.phase == Phase::redo)
    action.reason = "making volume '" + name + "' was interrupted before its array was complete";
  action.risk = Risk::writes_blank;
  action.writes = volume.members;
  action.steps = last_looks(volume, seen);
  action.before = {record_at(volume, Stage::intended)};
  action.after = {record_at(volume, Stage::made_array)};
  add_wipe(action, volume, seen);
  action.steps.emplace_back(create_run(volume));
  action.steps.emplace_back(Await{volume.fact, kStopDeadline});
  return action;
}

// What incremental assembly began with some of our members: only ours is stopped, told by its UUID.
Action stop_part(const VolumeSurvey& volume, const Inventory& seen) {
  Action action = begin(volume, "stop", seen);
  action.gives = {};
  action.sentence = "stop the incomplete array of volume '" + volume.wanted->name + "'";
  action.reason = "it was begun with some of its members and holds them";
  action.steps = {stop_run(volume)};
  return action;
}

Action assemble(const VolumeSurvey& volume, const Inventory& seen) {
  Action action = begin(volume, "assemble", seen);
  action.sentence =
      "assemble the array of volume '" + volume.wanted->name + "' from its " + many(volume.members.size(), "member");
  action.reason = "all its members are there and it does not run";
  if (volume.made()) action.gives.push_back(filesystem_fact(volume));
  if (volume.state == "inactive") action.steps.emplace_back(stop_run(volume));
  action.steps.emplace_back(assemble_run(volume));
  action.steps.emplace_back(Await{volume.fact, kStopDeadline});
  action.undo = {stop_run(volume)};
  if (volume.record == nullptr) action.after = {record_at(volume, Stage::made_array)};
  return action;
}

// A member that went away under a raid0 leaves it broken for good, and XFS on it shut down; the data is whole.
Action recover(const VolumeSurvey& volume, const Inventory& seen) {
  Action action = begin(volume, "recover", seen);
  action.sentence = "unmount volume '" + volume.wanted->name + "', stop its broken array and assemble it again";
  action.reason = "the array is broken, and all its members are back";
  action.risk = Risk::disruptive;
  if (volume.made()) action.gives.push_back(filesystem_fact(volume));
  if (is_mounted(volume, seen)) action.steps.emplace_back(stop_unit(unit_name(mounted_at(volume, seen))));
  action.steps.emplace_back(stop_run(volume));
  action.steps.emplace_back(assemble_run(volume));
  action.steps.emplace_back(Await{volume.fact, kStopDeadline});
  return action;
}

void plan_one(const VolumeSurvey& volume, const Inventory& seen, Draft& out) {
  if (volume.phase == Phase::create || volume.phase == Phase::redo) {
    out.actions.push_back(volume.state == "inactive" ? stop_part(volume, seen) : create(volume, seen));
    return;
  }
  if (volume.state == "broken") {
    if (volume.members_ready) {
      out.actions.push_back(recover(volume, seen));
    } else {
      out.conflicts.push_back(
          volume_conflict(volume.wanted->name, "volume.broken", "its array is broken, and not all its members are back",
                          "bring the target or drive back; then 'nvstripe apply' assembles it again", Standing::waiting));
    }
  } else if (!volume.running) {
    out.actions.push_back(assemble(volume, seen));
  }
}

}  // namespace

Draft plan_md_array(const Spec& spec, const Inventory& seen) {
  Draft out;
  for (const VolumeSurvey& volume : survey_volumes(spec, seen)) {
    if (volume.phase != Phase::blocked && volume.stack == Stack::md) plan_one(volume, seen, out);
  }
  return out;
}

}  // namespace nvstripe::configure

// Owns the command lines for volume groups: identity in the UUIDs of physical volumes and in tags, only our devices named.
#include "configurators/lvm_volume.hpp"

#include <algorithm>

#include "configurators/filesystem.hpp"
#include "configurators/host_identity.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::uint64_t kExtent = 4ull * 1024 * 1024;  // LVM's default
constexpr std::uint64_t kDataStart = 1024 * 1024;      // --dataalignment 1m
constexpr std::chrono::seconds kDeadline{60};

Run lvm(std::string program, std::vector<Arg> arguments, const VolumeSurvey& volume) {
  Run run;
  run.argv = {std::move(program)};
  run.argv.insert(run.argv.end(), arguments.begin(), arguments.end());
  const std::vector<Arg> only = only_devices(volume);
  run.argv.insert(run.argv.begin() + 1, only.begin(), only.end());
  run.deadline = kDeadline;
  run.udev_lock = volume.members;
  return run;
}

std::vector<std::string> tags(const VolumeSurvey& volume, const Inventory& seen) {
  const std::string& name = volume.wanted->name;
  return {"nvstripe.volume=" + name, "nvstripe.id=" + to_hex(derive(seen.host(), "vg", name, volume.generation))};
}

void add_tags(std::vector<Arg>& arguments, const VolumeSurvey& volume, const Inventory& seen) {
  for (const std::string& tag : tags(volume, seen)) {
    arguments.emplace_back("--addtag");
    arguments.emplace_back(tag);
  }
}

bool group_exists(const VolumeSurvey& volume, const Inventory& seen) {
  const auto& groups = seen.lvm.value().groups;
  return std::any_of(groups.begin(), groups.end(), [&](const LvmGroup& group) { return group.name == volume.group; });
}

// All extents; of unequal members as many as the smallest has, from each.
std::string extents(const VolumeSurvey& volume, const Inventory& seen) {
  if (!volume.trim) return "100%FREE";
  std::uint64_t smallest = UINT64_MAX;
  for (const DeviceKey& key : volume.members) {
    if (const BlockDevice* device = seen.find(key)) smallest = std::min(smallest, device->size.count);
  }
  return std::to_string((smallest - kDataStart) / kExtent * volume.members.size());
}

void add_create_steps(Action& action, const VolumeSurvey& volume, const Inventory& seen) {
  // -y answers every question and wipes without a word, so it is used only after our own look; -Wn -Zn neither wipe nor
  // zero.
  if (volume.phase == Phase::redo && group_exists(volume, seen))
    action.steps.emplace_back(lvm("vgremove", {"-y", "-ff", volume.group}, volume));
  for (const DeviceKey& key : volume.members) {
    const Uuid id = physical_uuid(seen.host(), volume.wanted->name, key, volume.generation);
    action.steps.emplace_back(
        lvm("pvcreate", {"-y", "-ff", "--uuid", to_lvm(id), "--norestorefile", "--dataalignment", "1m", DeviceRef{key}},
            volume));
  }
  std::vector<Arg> group{"-y", "--setautoactivation", "n"};
  add_tags(group, volume, seen);
  group.emplace_back(volume.group);
  for (const DeviceKey& key : volume.members) group.emplace_back(DeviceRef{key});
  action.steps.emplace_back(lvm("vgcreate", std::move(group), volume));
  std::vector<Arg> data{"-y",
                        "-Wn",
                        "-Zn",
                        "-n",
                        "data",
                        "-i",
                        std::to_string(volume.members.size()),
                        "-I",
                        std::to_string(volume.wanted->chunk.count / 1024) + "k",
                        "-l",
                        extents(volume, seen)};
  add_tags(data, volume, seen);
  data.emplace_back(volume.group);
  action.steps.emplace_back(lvm("lvcreate", std::move(data), volume));
  action.steps.emplace_back(Await{volume.fact, std::chrono::seconds(30)});
}

Action begin(const VolumeSurvey& volume, const std::string& verb, const Inventory& seen) {
  Action action;
  action.id = "lvm." + verb + ":" + volume.wanted->name;
  action.object = "volume:" + volume.wanted->name;
  action.needs = {identity_fact(seen)};
  for (const DeviceKey& key : volume.members) action.needs.push_back(block_fact(key));
  action.gives = {volume.fact};
  return action;
}

Action create(const VolumeSurvey& volume, const Inventory& seen) {
  const std::string& name = volume.wanted->name;
  Action action = begin(volume, "create", seen);
  action.sentence = "make a volume group of " + many(volume.members.size(), "member") + " with one volume striped by " +
                    to_text(volume.wanted->chunk) + " for volume '" + name + "'";
  action.reason = "volume '" + name + "' does not exist and " +
                  (volume.members.size() == 1 ? "its member is" : "all " + many(volume.members.size(), "member") + " are") +
                  " blank";
  if (volume.phase == Phase::redo)
    action.reason = "making volume '" + name + "' was interrupted before its group was complete";
  action.risk = Risk::writes_blank;
  action.writes = volume.members;
  action.steps = last_looks(volume, seen);
  action.before = {record_at(volume, Stage::intended)};
  action.after = {record_at(volume, Stage::made_array)};
  add_wipe(action, volume, seen);
  add_create_steps(action, volume, seen);
  return action;
}

Action activate(const VolumeSurvey& volume, const Inventory& seen) {
  Action action = begin(volume, "activate", seen);
  action.sentence = "activate group '" + volume.group + "' of volume '" + volume.wanted->name + "'";
  action.reason = "all its members are there and it is not active";
  if (volume.made()) action.gives.push_back(filesystem_fact(volume));
  action.steps = {lvm("vgchange", {"-ay", volume.group}, volume), Await{volume.fact, std::chrono::seconds(30)}};
  action.undo = {lvm("vgchange", {"-an", volume.group}, volume)};
  if (volume.record == nullptr) action.after = {record_at(volume, Stage::made_array)};
  return action;
}

}  // namespace

std::vector<Arg> only_devices(const VolumeSurvey& volume) {
  std::vector<Arg> arguments;
  for (const DeviceKey& key : volume.members) {
    arguments.emplace_back("--devices");
    arguments.emplace_back(DeviceRef{key});
  }
  return arguments;
}

Draft plan_lvm_volume(const Spec& spec, const Inventory& seen) {
  Draft out;
  for (const VolumeSurvey& volume : survey_volumes(spec, seen)) {
    if (volume.phase == Phase::blocked || volume.stack != Stack::lvm) continue;
    if (volume.phase == Phase::create || volume.phase == Phase::redo)
      out.actions.push_back(create(volume, seen));
    else if (!volume.running)
      out.actions.push_back(activate(volume, seen));
  }
  return out;
}

}  // namespace nvstripe::configure

// Mount points, units, owners, and the way back: release.
#include "configurators/mount.hpp"

#include "configurators/release.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drafts.hpp"
#include "tests/support/seen.hpp"

namespace nvstripe {
namespace {

using configure::release_volume;
using configure::unit_name;
using configure::unit_path;

struct World {
  Spec spec = seen::two_target_spec();
  Inventory seen = seen::two_targets_connected();
  Draft draft() const { return drafts::all(spec, seen); }
  std::string vetoes() const { return drafts::vetoes(draft(), spec, seen); }
  VolumeRecord& record() { return seen::records(seen).volumes.front(); }
};

World mounted() {
  World world;
  world.spec.volumes[0].mount.owner = "root";
  world.spec.volumes[0].mount.mode = "0755";
  for (const std::string id : {"md.create:train", "fs.make:train", "mount.start:train"}) {
    const Draft draft = world.draft();
    const auto action = drafts::action(draft, id);
    REQUIRE(action.has_value());
    const Action copy = *action;
    drafts::perform(world.seen, copy);
  }
  return world;
}

void own_controllers(World& world) {
  for (const NvmeController& one : world.seen.controllers.value()) {
    const std::string connection = one.traddr == "10.9.0.1" ? "s1" : "s2";
    seen::records(world.seen)
        .put(ConnectionRecord{connection, one.subsystem_nqn, one.transport, one.traddr, one.trsvcid, one.host_traddr,
                              world.seen.identity.value().boot_id});
  }
}

TEST_CASE("unit names are escaped as systemd does it") {
  CHECK(unit_name("/mnt/train") == "mnt-train.mount");
  CHECK(unit_name("/mnt/my-data") == "mnt-my\\x2ddata.mount");
  CHECK(unit_name("/mnt/.hidden/a b") == "mnt-.hidden-a\\x20b.mount");
  CHECK(unit_name("/.data") == "\\x2edata.mount");
  CHECK(unit_name("/mnt/t\xc3\xa4st") == "mnt-t\\xc3\\xa4st.mount");
  CHECK(unit_name("/mnt//double/") == "mnt-double.mount");
}

TEST_CASE("A-23 A-70 whatever is in the way of the mount is refused before anything is written") {
  struct Row {
    void (*change)(Inventory&);
    const char* id;
  };
  const Row rows[] = {
      {[](Inventory& seen) { seen.mounts.value().path_kinds["/mnt/train"] = "full"; }, "mount.not_empty"},
      {[](Inventory& seen) { seen.mounts.value().path_kinds["/mnt/train"] = "not_a_folder"; }, "mount.not_a_folder"},
      {[](Inventory& seen) { seen.mounts.value().path_kinds.erase("/mnt/train"); }, "mount.unseen"},
      {[](Inventory& seen) { seen.mounts.value().fstab_paths = {"/mnt/train"}; }, "mount.in_fstab"},
      {[](Inventory& seen) {
         seen.mounts.value().mounts.push_back({"/mnt/train", "/dev/vdb1", "ext4", "rw", "254:17", "", "", ""});
       },
       "mount.in_use"},
      {[](Inventory& seen) {
         seen.units.value() = {{"mnt-train.mount", unit_path("/mnt/train"), "[Mount]\nWhat=/dev/vdb\n"}};
       },
       "mount.foreign_unit"},
  };
  for (const Row& row : rows) {
    World world;
    row.change(world.seen);
    const Draft draft = world.draft();
    CHECK(drafts::ids(draft).empty());
    CHECK(drafts::conflict_ids(draft) == std::vector<std::string>{row.id});
  }
}

TEST_CASE("A-71 systemd is told to read its units again unless it has none of that name in memory") {
  const auto reloads = [](World world, const std::vector<std::string>& not_loaded) {
    world.seen.mounts.value().units_not_loaded = not_loaded;
    for (const std::string id : {"md.create:train", "fs.make:train"}) {
      const Action action = drafts::action(world.draft(), id).value();
      drafts::perform(world.seen, action);
    }
    return drafts::steps(drafts::action(world.draft(), "mount.start:train").value()).find("daemon-reload") !=
           std::string::npos;
  };
  CHECK(reloads(World{}, {}));
  CHECK(reloads(World{}, {"mnt-other.mount"}));
  CHECK_FALSE(reloads(World{}, {"mnt-train.mount"}));
}

TEST_CASE(
    "A-23 an owner who is not on the machine is refused before anything is written, and a volume that exists is mounted") {
  for (const std::string missing : {"user trainer", "group ml"}) {
    World world;
    world.spec.volumes[0].mount.owner = "trainer";
    world.spec.volumes[0].mount.group = "ml";
    CHECK(drafts::ids(world.draft()).size() == 3);
    world.seen.mounts.value().no_accounts = {missing};
    CHECK(drafts::ids(world.draft()).empty());
    CHECK(drafts::conflict_ids(world.draft()) == std::vector<std::string>{"mount.no_account"});
  }
  World made;
  for (const std::string id : {"md.create:train", "fs.make:train"}) {
    const Action action = drafts::action(made.draft(), id).value();
    drafts::perform(made.seen, action);
  }
  made.spec.volumes[0].mount.owner = "trainer";
  made.seen.mounts.value().no_accounts = {"user trainer"};
  CHECK(drafts::action(made.draft(), "mount.start:train").has_value());
}

TEST_CASE("owner, group and mode are set after the first mount and followed later") {
  World world;
  world.spec.volumes[0].mount = {"/mnt/train", "trainer", "ml", "2775"};
  const std::string steps = drafts::steps(*drafts::action(world.draft(), "mount.start:train"));
  CHECK(steps.find("owner 'trainer'") != std::string::npos);
  world = mounted();
  CHECK(world.draft() == Draft{});
  world.spec.volumes[0].mount.owner = "trainer";
  const Draft draft = world.draft();
  REQUIRE(drafts::ids(draft) == std::vector<std::string>{"mount.owner:train"});
  CHECK(draft.actions[0].risk == Risk::reversible);
  CHECK(draft.actions[0].undo == std::vector<Step>{SetOwner{"/mnt/train", "root", "root", "755"}});
  CHECK(world.vetoes() == "");
  world.spec.volumes[0].mount.owner = "1000";  // a number against a name says nothing
  CHECK(world.draft() == Draft{});
}

TEST_CASE("a changed mount path is a disruptive move that removes the former unit") {
  World world = mounted();
  world.spec.volumes[0].mount.path = "/mnt/scratch";
  const Draft draft = world.draft();
  REQUIRE(drafts::ids(draft) == std::vector<std::string>{"mount.move:train"});
  CHECK(draft.actions[0].risk == Risk::disruptive);
  CHECK(drafts::steps(draft.actions[0]).find("remove '/etc/systemd/system/mnt-train.mount'") != std::string::npos);
  CHECK(world.vetoes() == "");
}

TEST_CASE("a unit with other mount options waits for apply; one with another order is only written") {
  World world = mounted();
  UnitFile& unit = world.seen.units.value().front();
  const std::string text = unit.text;
  unit.text.replace(unit.text.find("noatime"), 7, "relatime");
  CHECK(drafts::ids(world.draft()) == std::vector<std::string>{"mount.change:train"});
  CHECK(world.draft().actions[0].risk == Risk::disruptive);
  unit.text = text;
  unit.text.replace(unit.text.find("Description="), 12, "Documentation=man:x\nDescription=");
  CHECK(drafts::ids(world.draft()) == std::vector<std::string>{"mount.unit:train"});
  CHECK(world.draft().actions[0].risk == Risk::reversible);
  CHECK(world.vetoes() == "");
}

TEST_CASE("a volume that somebody mounted elsewhere is left there") {
  World world = mounted();
  for (Mount& mount : world.seen.mounts.value().mounts) {
    if (mount.path == "/mnt/train") mount.path = "/srv/elsewhere";
  }
  for (BlockDevice& device : seen::blocks(world.seen)) {
    if (device.kind == DeviceKind::array) device.mount_points = {"/srv/elsewhere"};
  }
  world.seen.mounts.value().path_kinds["/mnt/train"] = "mount_point_of_ours";
  CHECK(world.draft().actions.empty());
  CHECK(drafts::conflict_ids(world.draft()) == std::vector<std::string>{"mount.elsewhere"});
}

TEST_CASE("A-54 A-56 the unit orders shutdown, and boot never waits for it") {
  const World world;
  const std::string steps = drafts::steps(*drafts::action(world.draft(), "mount.start:train"));
  for (const char* line : {"After=nvstripe-fabric.service", "Before=nvstripe-drain.service", "_netdev", "nofail"})
    CHECK(steps.find(line) != std::string::npos);
  for (const char* line : {"WantedBy", "RequiredBy", "Requires=", "[Install]"}) CHECK(steps.find(line) == std::string::npos);
}

// ---- release
// -------------------------------------------------------------------------------------------------------------------

TEST_CASE("release unmounts, stops and disconnects in this order, keeps the data and puts the volume on hold") {
  World world = mounted();
  own_controllers(world);
  const Draft draft = release_volume(world.spec, world.seen, "train");
  REQUIRE(drafts::ids(draft) == std::vector<std::string>{"volume.release:train"});
  CHECK(draft.actions[0].writes.empty());
  CHECK(draft.actions[0].before == std::vector<Record>{HoldRecord{"volume:train", "release"}});
  CHECK(drafts::vetoes(draft, world.spec, world.seen) == "");
  CHECK(drafts::golden("plans/release.txt", draft) == "");
}

TEST_CASE("A-55 with a dead target its own controllers go before the unmount") {
  World world = mounted();
  own_controllers(world);
  world.seen.controllers.value()[0].state = "connecting";
  const Draft draft = release_volume(world.spec, world.seen, "train");
  REQUIRE(draft.actions.size() == 1);
  const auto& steps = draft.actions[0].steps;
  REQUIRE(std::holds_alternative<Disconnect>(steps.front()));
  CHECK(std::get<Disconnect>(steps.front()).traddr == "10.9.0.1");
  CHECK(std::get<Disconnect>(steps.back()).traddr == "10.9.0.2");
  CHECK(draft.actions[0].reason.find("lost") != std::string::npos);
}

TEST_CASE("release leaves controllers that are not ours or that another volume needs") {
  World world = mounted();
  CHECK(drafts::steps(release_volume(world.spec, world.seen, "train").actions.at(0)).find("disconnect") ==
        std::string::npos);
  own_controllers(world);
  world.spec.volumes.push_back(seen::volume("scratch", {"s1"}, 2));
  const std::string steps = drafts::steps(release_volume(world.spec, world.seen, "train").actions.at(0));
  CHECK(steps.find(seen::subsystem_nqn("s1")) == std::string::npos);
  CHECK(steps.find(seen::subsystem_nqn("s2")) != std::string::npos);
}

TEST_CASE("release knows volumes of the records, and says so where there is none") {
  World world = mounted();
  world.spec.volumes.clear();
  const Draft draft = release_volume(world.spec, world.seen, "train");
  REQUIRE(draft.actions.size() == 1);
  CHECK(drafts::steps(draft.actions[0]).find("mdadm --stop") != std::string::npos);
  CHECK(drafts::conflict_ids(release_volume(world.spec, world.seen, "nothing")) ==
        std::vector<std::string>{"volume.unknown"});
}

TEST_CASE("releasing what is released already only holds it") {
  const World world;
  const Draft draft = release_volume(world.spec, world.seen, "train");
  REQUIRE(draft.actions.size() == 1);
  CHECK(draft.actions[0].steps.empty());
}

}  // namespace
}  // namespace nvstripe

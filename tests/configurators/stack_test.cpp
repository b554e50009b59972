// Arrays, groups, file systems and mounts of volumes that exist in whole or in part.
#include <algorithm>

#include "configurators/filesystem.hpp"
#include "configurators/mount.hpp"
#include "configurators/volume.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drafts.hpp"
#include "tests/support/seen.hpp"

namespace nvstripe {
namespace {

using configure::survey_volumes;

struct World {
  Spec spec = seen::two_target_spec();
  Inventory seen = seen::two_targets_connected();
  Draft draft() const { return drafts::all(spec, seen); }
  std::string vetoes() const { return drafts::vetoes(draft(), spec, seen); }
  VolumeRecord& record() { return seen::records(seen).volumes.front(); }
};

Uuid array_uuid() { return derive(seen::host_id(), "array", "train", seen::kFreshGeneration); }
Uuid filesystem_uuid() { return derive(seen::host_id(), "fs", "train", seen::kFreshGeneration); }
DeviceKey array_key() { return {"md:" + to_text(array_uuid())}; }

// Does what is planned, one action a look, as far as `last`.
void walk(World& world, const std::string& last) {
  for (const std::string id : {"md.create:train", "fs.make:train", "mount.start:train"}) {
    const Draft draft = world.draft();
    const auto action = drafts::action(draft, id);
    REQUIRE(action.has_value());
    const Action copy = *action;
    drafts::perform(world.seen, copy);
    if (id == last) return;
  }
}

// Everything is there and the machine was booted again: members with identity, no array, no mount.
World rebooted() {
  World world;
  walk(world, "mount.start:train");
  std::erase_if(seen::blocks(world.seen), [](const BlockDevice& device) { return device.kind == DeviceKind::array; });
  for (BlockDevice& device : seen::blocks(world.seen)) device.holders.clear();
  world.seen.arrays.value().clear();
  std::erase_if(world.seen.mounts.value().mounts, [](const Mount& mount) { return mount.path == "/mnt/train"; });
  world.seen.mounts.value().path_kinds["/mnt/train"] = "mount_point_of_ours";
  return world;
}

TEST_CASE("a volume is made layer by layer, and then nothing is left to do") {
  World world;
  CHECK(drafts::ids(world.draft()) == std::vector<std::string>{"fs.make:train", "md.create:train", "mount.start:train"});
  walk(world, "md.create:train");
  CHECK(drafts::ids(world.draft()) == std::vector<std::string>{"fs.make:train", "mount.start:train"});
  CHECK(world.record().stage == Stage::made_array);
  CHECK(world.vetoes() == "");
  world = World{};
  walk(world, "fs.make:train");
  CHECK(drafts::ids(world.draft()) == std::vector<std::string>{"mount.start:train"});
  CHECK(world.record().stage == Stage::made);
  CHECK(world.vetoes() == "");
  world = World{};
  walk(world, "mount.start:train");
  CHECK(world.record().mount_path == "/mnt/train");
  CHECK(world.draft() == Draft{});
}

TEST_CASE("A-34 after a reboot the array is assembled from its members and mounted, nothing is made") {
  World world = rebooted();
  const Draft draft = world.draft();
  CHECK(drafts::ids(draft) == std::vector<std::string>{"md.assemble:train", "mount.start:train"});
  CHECK(draft.actions[0].writes.empty());
  CHECK(draft.actions[0].risk == Risk::reversible);
  CHECK(world.vetoes() == "");
  CHECK(drafts::golden("plans/after-reboot.txt", draft) == "");
}

TEST_CASE("an incomplete array of ours is stopped before it is assembled from all members") {
  World world = rebooted();
  MdArray part;
  part.kernel_name = "md127";
  part.uuid = to_text(array_uuid());
  part.state = "inactive";
  part.members = {{world.record().members[0], "none", "spare"}};
  world.seen.arrays.value() = {part};
  seen::device(world.seen, world.record().members[0]).holders = {array_key()};
  const Draft draft = world.draft();
  const auto assemble = drafts::action(draft, "md.assemble:train");
  REQUIRE(assemble.has_value());
  CHECK(to_sentence(assemble->steps[0]) == "run mdadm --stop <" + array_key().text + ">");
  CHECK(world.vetoes() == "");
}

TEST_CASE("members of an idle array that cannot be reached are waited for") {
  World world = rebooted();
  world.seen.controllers.value()[1].state = "connecting";
  const Draft draft = world.draft();
  CHECK(draft.actions.empty());
  CHECK(drafts::conflict(draft, "volume.members_not_live").has_value());
}

TEST_CASE("a running array whose target is dead is left alone") {
  World world;
  walk(world, "mount.start:train");
  for (NvmeController& controller : world.seen.controllers.value()) controller.state = "connecting";
  for (BlockDevice& device : seen::blocks(world.seen)) {
    if (device.kind == DeviceKind::system) continue;
    device.look = Look::unknown;
    device.signatures.clear();
    device.content = Content::unknown;
  }
  const Draft draft = world.draft();
  CHECK(draft.actions.empty());
  CHECK(drafts::conflict_ids(draft) == std::vector<std::string>{"connection.reconnecting", "connection.reconnecting"});
}

TEST_CASE("a creation that was interrupted is done again with the same identity") {
  World world;
  const Action create = *drafts::action(world.draft(), "md.create:train");
  seen::records(world.seen).put(create.before[0]);
  seen::records(world.seen).intents = {{create.id, ""}};
  seen::records(world.seen).fresh_generation = 99;
  SECTION("nothing was written yet") {}
  SECTION("some members carry our identity") {
    for (std::size_t at = 0; at < 2; ++at)
      seen::put_array_member(seen::device(world.seen, world.record().members[at]), array_uuid(), "nvs-train");
  }
  const Draft draft = world.draft();
  const auto again = drafts::action(draft, "md.create:train");
  REQUIRE(again.has_value());
  CHECK(again->before == create.before);
  CHECK(again->risk == Risk::writes_blank);
  CHECK(world.vetoes() == "");
}

TEST_CASE("a creation that was interrupted after all members were written is assembled, not made again") {
  World world;
  const Action create = *drafts::action(world.draft(), "md.create:train");
  seen::records(world.seen).put(create.before[0]);
  for (const DeviceKey& key : world.record().members)
    seen::put_array_member(seen::device(world.seen, key), array_uuid(), "nvs-train");
  CHECK(drafts::ids(world.draft()) == std::vector<std::string>{"md.assemble:train"});
}

TEST_CASE("an interrupted creation is not done again over somebody else's data") {
  World world;
  seen::records(world.seen).put(drafts::action(world.draft(), "md.create:train")->before[0]);
  seen::put_signature(seen::device(world.seen, world.record().members[1]), {"ext4", "e", "", false});
  CHECK(world.draft().actions.empty());
  CHECK(drafts::conflict(world.draft(), "volume.member_changed").has_value());
}

TEST_CASE("a partial array of an interrupted creation is stopped first") {
  World world;
  seen::records(world.seen).put(drafts::action(world.draft(), "md.create:train")->before[0]);
  const DeviceKey first = world.record().members[0];
  seen::put_array_member(seen::device(world.seen, first), array_uuid(), "nvs-train");
  seen::device(world.seen, first).holders = {array_key()};
  MdArray part;
  part.uuid = to_text(array_uuid());
  part.state = "inactive";
  part.members = {{first, "none", "spare"}};
  world.seen.arrays.value() = {part};
  CHECK(drafts::ids(world.draft()) == std::vector<std::string>{"md.stop:train"});
  CHECK(world.vetoes() == "");
}

TEST_CASE("a broken array whose members came back is recovered, waiting for apply") {
  World world;
  walk(world, "mount.start:train");
  world.seen.arrays.value()[0].state = "broken";
  const Draft draft = world.draft();
  REQUIRE(drafts::ids(draft) == std::vector<std::string>{"md.recover:train"});
  CHECK(draft.actions[0].risk == Risk::disruptive);
  CHECK(world.vetoes() == "");
  CHECK(drafts::golden("plans/recover-broken-array.txt", draft) == "");
  world.seen.controllers.value()[0].state = "connecting";
  CHECK(world.draft().actions.empty());
  CHECK(drafts::conflict(world.draft(), "volume.broken")->standing == Standing::waiting);
}

// ---- LVM
// ---------------------------------------------------------------------------------------------------------------------

World lvm_world() {
  World world;
  world.spec.volumes[0].stack = Stack::lvm;
  return world;
}

TEST_CASE("a volume group is made with our identity on each physical volume, and only with our devices") {
  const World world = lvm_world();
  const Draft draft = world.draft();
  CHECK(drafts::ids(draft) == std::vector<std::string>{"fs.make:train", "lvm.create:train", "mount.start:train"});
  CHECK(world.vetoes() == "");
  CHECK(drafts::golden("plans/lvm-stripe.txt", draft) == "");
}

TEST_CASE("a group with our identity is activated, and with an active volume nothing is left but the rest") {
  World world = lvm_world();
  seen::records(world.seen).put(drafts::action(world.draft(), "lvm.create:train")->before[0]);
  world.record().stage = Stage::made;
  const std::string group = configure::group_name("train", seen::kFreshGeneration);
  LvmGroup made;
  made.name = group;
  made.tags = {"nvstripe.volume=train",
               "nvstripe.id=" + to_hex(derive(seen::host_id(), "vg", "train", seen::kFreshGeneration))};
  world.seen.lvm.value().groups = {made};
  for (const DeviceKey& key : world.record().members) {
    const Uuid id = configure::physical_uuid(seen::host_id(), "train", key, seen::kFreshGeneration);
    seen::put_signature(seen::device(world.seen, key), {"LVM2_member", configure::to_lvm(id), "", false});
    world.seen.lvm.value().physicals.push_back({key, configure::to_lvm(id), group, false});
  }
  SECTION("the logical volume is there") {
    LvmVolume data;
    data.vg = group;
    data.name = "data";
    world.seen.lvm.value().volumes = {data};
    CHECK(drafts::ids(world.draft()) == std::vector<std::string>{"lvm.activate:train", "mount.start:train"});
    CHECK(world.vetoes() == "");
  }
  SECTION("the logical volume is gone although the volume was made") {
    CHECK(world.draft().actions.empty());
    CHECK(drafts::conflict(world.draft(), "volume.lv_missing").has_value());
  }
  SECTION("A-35 a half-made group of an interrupted creation is removed and made again") {
    world.record().stage = Stage::intended;
    const auto again = drafts::action(world.draft(), "lvm.create:train");
    REQUIRE(again.has_value());
    CHECK(drafts::steps(*again).find("vgremove") != std::string::npos);
    CHECK(world.vetoes() == "");
  }
}

TEST_CASE("physical volumes without a group, of an interrupted creation, are made again") {
  World world = lvm_world();
  seen::records(world.seen).put(drafts::action(world.draft(), "lvm.create:train")->before[0]);
  const DeviceKey first = world.record().members[0];
  const Uuid id = configure::physical_uuid(seen::host_id(), "train", first, seen::kFreshGeneration);
  seen::put_signature(seen::device(world.seen, first), {"LVM2_member", configure::to_lvm(id), "", false});
  const auto again = drafts::action(world.draft(), "lvm.create:train");
  REQUIRE(again.has_value());
  CHECK(drafts::steps(*again).find("vgremove") == std::string::npos);
  CHECK(world.vetoes() == "");
}

// ---- file system
// ---------------------------------------------------------------------------------------------------------------

TEST_CASE("A-33 an old file system that shows again in the new array is refused, and wiped only with both keys") {
  World world;
  walk(world, "md.create:train");
  BlockDevice& array = seen::device(world.seen, array_key());
  seen::put_signature(array, {"xfs", "aaaaaaaa-0000-4000-8000-000000000009", "", false});
  CHECK(world.draft().actions.empty());
  CHECK(drafts::conflict(world.draft(), "volume.foreign_data").has_value());
  world.spec.volumes[0].wipe_foreign_data = true;
  const Draft draft = world.draft();
  const auto make = drafts::action(draft, "fs.make:train");
  REQUIRE(make.has_value());
  CHECK(make->risk == Risk::destroys_data);
  REQUIRE(make->destroys.size() == 1);
  CHECK(make->destroys[0] ==
        array_key().text + " " + std::to_string(array.size.count) + " xfs:aaaaaaaa-0000-4000-8000-000000000009");
  CHECK(world.vetoes() == "");
}

TEST_CASE("members with foreign data are wiped only with consent, as a destructive plan that lists them") {
  World world;
  for (std::size_t at = 1; at <= 8; ++at)
    seen::put_signature(seen::blocks(world.seen)[at], {"ext4", "e" + std::to_string(at), "", false});
  world.spec.volumes[0].wipe_foreign_data = true;
  const Draft draft = world.draft();
  const auto create = drafts::action(draft, "md.create:train");
  REQUIRE(create.has_value());
  CHECK(create->risk == Risk::destroys_data);
  CHECK(create->destroys.size() == 4);
  CHECK(std::is_sorted(create->destroys.begin(), create->destroys.end()));
  for (const std::string& line : create->destroys) CHECK(line.find("nvme1") == std::string::npos);  // no kernel names
  CHECK(world.vetoes() == "");
  CHECK(drafts::golden("plans/wipe-with-consent.txt", draft) == "");
}

TEST_CASE("mkfs that was interrupted is done again, and never over a file system that was complete") {
  World world;
  walk(world, "md.create:train");
  BlockDevice& array = seen::device(world.seen, array_key());
  SECTION("its superblock says that it is in progress") {
    seen::put_signature(array, {"xfs", to_text(filesystem_uuid()), "", true});
    const auto again = drafts::action(world.draft(), "fs.make:train");
    REQUIRE(again.has_value());
    CHECK(drafts::steps(*again).find(" -f ") != std::string::npos);
    CHECK(world.vetoes() == "");
    world.record().stage = Stage::made;
    CHECK(world.draft().actions.empty());
    CHECK(drafts::conflict(world.draft(), "volume.filesystem_lost").has_value());
  }
  SECTION("it left data without a superblock, and its intent is open") {
    array.content = Content::data;
    CHECK(world.draft().actions.empty());
    seen::records(world.seen).intents = {{"fs.make:train", ""}};
    CHECK(drafts::action(world.draft(), "fs.make:train").has_value());
    CHECK(world.vetoes() == "");
  }
  SECTION("it ended, and only its outcome is not recorded") {
    seen::put_signature(array, {"xfs", to_text(filesystem_uuid()), "", false});
    CHECK(drafts::ids(world.draft()) == std::vector<std::string>{"mount.start:train", "volume.record:train"});
  }
}

TEST_CASE("an array that was complete and is blank now is refused") {
  World world;
  walk(world, "fs.make:train");
  BlockDevice& array = seen::device(world.seen, array_key());
  array.signatures.clear();
  array.look = Look::none;
  array.content = Content::zero;
  CHECK(world.draft().actions.empty());
  CHECK(drafts::conflict(world.draft(), "volume.filesystem_lost").has_value());
}

TEST_CASE("A-41 an ambiguous look is never taken for empty, and our own superblock still counts") {
  World world;
  walk(world, "md.create:train");
  BlockDevice& array = seen::device(world.seen, array_key());
  array.look = Look::ambiguous;
  array.content = Content::data;
  CHECK(world.draft().actions.empty());
  CHECK(drafts::conflict(world.draft(), "volume.content_ambiguous").has_value());
  array.signatures = {{"xfs", to_text(filesystem_uuid()), "", false}, {"iso9660", "", "", false}};
  CHECK(drafts::action(world.draft(), "mount.start:train").has_value());
}

TEST_CASE("A-40 the log stripe unit stays within what mkfs takes") {
  World world;
  for (const auto& [chunk, expected] : {std::pair{64u, "-l su=64k"}, {256u, "-l su=256k"}, {1024u, "-l su=256k"}}) {
    world.spec.volumes[0].chunk = Bytes{chunk * 1024ull};
    CHECK(drafts::steps(*drafts::action(world.draft(), "fs.make:train")).find(expected) != std::string::npos);
  }
}

TEST_CASE("A-38 features that the running kernel cannot mount are left out") {
  World world;
  const auto options = [&](const std::string& release) {
    world.seen.kernel.value().release = release;
    return drafts::steps(*drafts::action(world.draft(), "fs.make:train"));
  };
  CHECK(options("6.1.0-57-amd64").find("nrext64") == std::string::npos);
  CHECK(options("5.15.0-1051-aws").find("-i nrext64=0") != std::string::npos);
  CHECK(options("5.15.0-1051-aws").find("bigtime") == std::string::npos);
  CHECK(options("5.4.0-150-generic").find("bigtime=0,inobtcount=0") != std::string::npos);
}

}  // namespace
}  // namespace nvstripe

// What a volume is, whether it may be made, and what stands in its way.
#include "configurators/volume.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/drafts.hpp"
#include "tests/support/seen.hpp"

namespace nvstripe {
namespace {

using configure::Phase;
using configure::survey_volumes;
using configure::VolumeSurvey;

struct World {
  Spec spec = seen::two_target_spec();
  Inventory seen = seen::two_targets_connected();
  VolumeSurvey survey() const { return survey_volumes(spec, seen).front(); }
  Draft draft() const { return drafts::all(spec, seen); }
  VolumeSpec& volume() { return spec.volumes.front(); }
};

// Of the members that would be chosen now, with a record that they were.
World recorded(Stage stage, std::uint64_t generation = 7) {
  World world;
  VolumeRecord record{"train", "md", generation, world.survey().members, stage, "", "", ""};
  seen::records(world.seen).volumes = {record};
  return world;
}

Uuid array_of(std::uint64_t generation, const Uuid& host = seen::host_id()) {
  return derive(host, "array", "train", generation);
}

void carry(World& world, std::size_t members, std::uint64_t generation = 7) {
  const auto keys = seen::records(world.seen).volumes.front().members;
  for (std::size_t at = 0; at < members; ++at)
    seen::put_array_member(seen::device(world.seen, keys[at]), array_of(generation), "any:nvs-train");
}

// Empty when nothing is planned and this conflict says why; else what is wrong with that.
std::string refusal(const World& world, const std::string& id, Standing standing = Standing::refused) {
  const Draft draft = world.draft();
  if (!draft.actions.empty()) return "it is planned: " + draft.actions.front().id;
  const auto found = drafts::conflict(draft, id);
  if (!found) return "not said; said is:\n" + drafts::text(draft);
  if (found->standing != standing) return "said as '" + std::string(to_text(found->standing)) + "'";
  if (found->object != "volume:train") return "said of '" + found->object + "'";
  return found->remedy.empty() ? "no remedy" : "";
}

TEST_CASE("shuffled devices give the same members in the same order") {
  World world;
  const auto members = world.survey().members;
  std::reverse(world.seen.blocks.value().begin(), world.seen.blocks.value().end());
  std::reverse(world.seen.targets.value().begin(), world.seen.targets.value().end());
  std::reverse(world.seen.controllers.value().begin(), world.seen.controllers.value().end());
  CHECK(world.survey().members == members);
}

TEST_CASE("members are spread over failure domains first and targets within them") {
  World world;
  world.spec.connections = {seen::connection("a1", "10.9.0.1"), seen::connection("a2", "10.9.0.2"),
                            seen::connection("b1", "10.9.0.3")};
  world.spec.connections[0].failure_domain = world.spec.connections[1].failure_domain = "rack-a";
  world.spec.connections[2].failure_domain = "rack-b";
  world.volume().members.from = {"a1", "a2", "b1"};
  world.seen = seen::machine();
  seen::connect(world.seen, "a1", "10.9.0.1", 4, 11);
  seen::connect(world.seen, "a2", "10.9.0.2", 4, 21);
  seen::connect(world.seen, "b1", "10.9.0.3", 4, 31);
  std::vector<std::string> order;
  for (const DeviceKey& key : world.survey().members) order.push_back(world.seen.find(key)->subsystem_nqn.substr(24, 2));
  CHECK(order == std::vector<std::string>{"a1", "b1", "a2", "b1"});
}

TEST_CASE("nothing is chosen before every connection is live and discovered, however many drives are there") {
  for (int what = 0; what < 3; ++what) {
    World world;
    if (what == 0) world.seen.controllers.value()[1].state = "connecting";
    if (what == 1) world.seen.targets.value()[1].discovered = false;
    if (what == 2) world.seen.targets.value().pop_back();
    CHECK(refusal(world, "volume.waits_for_connection", Standing::waiting) == "");
    const std::string why = drafts::conflict(world.draft(), "volume.waits_for_connection")->why;
    CHECK(why.find("'s2'") != std::string::npos);
    CHECK(why.find("is connected over") == std::string::npos);
  }
}

TEST_CASE("two connections that lead to the same controller give each drive once") {
  World world;
  world.spec.connections.push_back(seen::connection("s1b", "10.9.0.1"));
  TargetView twin = world.seen.targets.value()[0];
  twin.connection = "s1b";
  world.seen.targets.value().push_back(twin);
  world.volume().members = {{"s1", "s1b"}, 5, std::nullopt, std::nullopt};
  CHECK(refusal(world, "volume.too_few_members") == "");
  world.volume().members.count = 4;
  CHECK(world.survey().members.size() == 4);
}

TEST_CASE("two volumes never get the same drive, and a recorded one keeps its own") {
  World world;
  world.spec.volumes.push_back(seen::volume("scratch", {"s1", "s2"}, 4));
  const auto both = survey_volumes(world.spec, world.seen);
  REQUIRE(both[1].phase == Phase::create);
  for (const DeviceKey& key : both[1].members)
    CHECK(std::find(both[0].members.begin(), both[0].members.end(), key) == both[0].members.end());
}

TEST_CASE("a volume of local SSDs needs no connection") {
  World world;
  world.spec.connections.clear();
  world.volume().members.from = {"local_ssd"};
  world.volume().members.count = 2;
  world.seen = seen::machine();
  for (unsigned at = 1; at <= 2; ++at) {
    seen::blocks(world.seen).push_back(seen::local_ssd(at));
    world.seen.controllers.value().push_back(
        seen::controller("nvme" + std::to_string(at), "x", "pcie", "0000:00:0" + std::to_string(at)));
  }
  CHECK(drafts::ids(world.draft()) == std::vector<std::string>{"fs.make:train", "md.create:train", "mount.start:train"});
  CHECK(drafts::vetoes(world.draft(), world.spec, world.seen) == "");
  CHECK(drafts::text(world.draft()).find("_netdev") == std::string::npos);
}

TEST_CASE("a volume of local SSDs takes no drive that an export of the spec names") {
  World world;
  world.spec.connections.clear();
  world.volume().members.from = {"local_ssd"};
  world.volume().members.count = 2;
  world.seen = seen::machine();
  for (unsigned at = 1; at <= 4; ++at) {
    seen::blocks(world.seen).push_back(seen::local_ssd(at));
    world.seen.controllers.value().push_back(
        seen::controller("nvme" + std::to_string(at), "x", "pcie", "0000:00:0" + std::to_string(at)));
  }
  ExportSpec pool;
  pool.name = "pool";
  for (const unsigned at : {1u, 2u}) pool.devices.serials.push_back(seen::local_ssd(at).serial);
  world.spec.exports = {pool};
  const auto survey = survey_volumes(world.spec, world.seen);
  REQUIRE(survey.size() == 1);
  CHECK(survey[0].members == std::vector<DeviceKey>{seen::local_ssd(3).key, seen::local_ssd(4).key});
}

// ---- what is refused before anything exists
// ---------------------------------------------------------------------------------

TEST_CASE("a drive with a foreign signature is refused, named, and left alone") {
  World world;
  for (std::size_t at = 1; at <= 5; ++at) seen::put_signature(seen::blocks(world.seen)[at], {"ext4", "e", "", false});
  CHECK(refusal(world, "volume.foreign_data") == "");
  CHECK(drafts::conflict(world.draft(), "volume.foreign_data")->why.find("'ext4'") != std::string::npos);
}

TEST_CASE("enough blank drives are taken, and the others are noted") {
  World world;
  seen::put_signature(seen::blocks(world.seen)[1], {"ext4", "e", "", false});
  const Draft draft = world.draft();
  CHECK(drafts::action(draft, "md.create:train").has_value());
  REQUIRE(drafts::conflict_ids(draft) == std::vector<std::string>{"volume.passed_over"});
  CHECK(draft.conflicts[0].standing == Standing::note);
}

TEST_CASE("a drive without signature but with data is not blank") {
  World world;
  for (std::size_t at = 1; at <= 5; ++at) seen::blocks(world.seen)[at].content = Content::data;
  CHECK(refusal(world, "volume.foreign_data") == "");
}

TEST_CASE("drives that could not be looked at yet are waited for") {
  World world;
  for (std::size_t at = 1; at <= 8; ++at) {
    seen::blocks(world.seen)[at].look = Look::unknown;
    seen::blocks(world.seen)[at].content = Content::unknown;
  }
  CHECK(refusal(world, "volume.members_unseen", Standing::waiting) == "");
}

TEST_CASE("A-21 an array that udev began from stale superblocks is reported as foreign and neither adopted nor stopped") {
  World world;
  const Uuid stale = seen::uuid("deadbeef-0011-2233-4455-66778899aabb");
  MdArray trap;
  trap.kernel_name = "md127";
  trap.uuid = to_text(stale);
  trap.state = "inactive";
  for (std::size_t at = 1; at <= 5; ++at) {
    BlockDevice& device = seen::blocks(world.seen)[at];
    seen::put_array_member(device, stale, "other:data");
    device.holders = {DeviceKey{"md:" + to_text(stale)}};
    trap.members.push_back({device.key, "none", "spare"});
  }
  world.seen.arrays.value() = {trap};
  CHECK(refusal(world, "volume.foreign_array") == "");
  CHECK(drafts::conflict(world.draft(), "volume.foreign_array")->why.find("deadbeef") != std::string::npos);
  world.volume().wipe_foreign_data = true;  // consent to wipe is no consent to stop an array
  CHECK(refusal(world, "volume.foreign_array") == "");
}

TEST_CASE("another host's volume is refused, also with consent to wipe") {
  for (const bool wipe : {false, true}) {
    World world;
    world.volume().wipe_foreign_data = wipe;
    for (std::size_t at = 1; at <= 5; ++at)
      seen::put_array_member(seen::blocks(world.seen)[at], array_of(7, seen::other_host_id()), "any:nvs-train");
    CHECK(refusal(world, "volume.other_host") == "");
  }
}

TEST_CASE("members that another host took before the creation began are not wiped, whatever the consent") {
  World world = recorded(Stage::intended);
  world.volume().wipe_foreign_data = true;
  for (const DeviceKey& key : seen::records(world.seen).volumes.front().members)
    seen::put_array_member(seen::device(world.seen, key), array_of(7, seen::other_host_id()), "any:nvs-train");
  CHECK(refusal(world, "volume.member_changed") == "");
}

TEST_CASE("another host's volume group is refused by its name") {
  World world;
  for (std::size_t at = 1; at <= 5; ++at) {
    BlockDevice& device = seen::blocks(world.seen)[at];
    seen::put_signature(device, {"LVM2_member", "aBcDeF-0000-0000-0000-0000-0000-000000", "", false});
    world.seen.lvm.value().physicals.push_back({device.key, "x", "nvs_train_00000007", false});
  }
  CHECK(refusal(world, "volume.other_host") == "");
}

TEST_CASE("A-28 members of different logical block sizes are refused") {
  World world;
  for (std::size_t at = 1; at <= 4; ++at) seen::blocks(world.seen)[at].logical_block = 4096;
  CHECK(refusal(world, "volume.mixed_block_sizes") == "");
}

TEST_CASE("A-27 members of unequal size are refused without a policy, and md cannot trim them") {
  World world;
  for (std::size_t at = 1; at <= 4; ++at) seen::blocks(world.seen)[at].size.count += 512;
  CHECK(refusal(world, "volume.unequal_sizes") == "");
  CHECK(drafts::conflict(world.draft(), "volume.unequal_sizes")->remedy.find("'stack: lvm'") != std::string::npos);
  world.volume().members.unequal_sizes = "trim";
  CHECK(refusal(world, "volume.trim_needs_lvm") == "");
  world.volume().stack = Stack::lvm;
  CHECK(drafts::text(world.draft()).find("-l 8188 ") != std::string::npos);  // 4 × (8 GiB − 1 MiB) / 4 MiB, rounded down
}

TEST_CASE("too few members and too few failure domains are refused") {
  World world;
  world.volume().members.count = 9;
  CHECK(refusal(world, "volume.too_few_members") == "");
  world.volume().members.count = 4;
  world.volume().members.min_failure_domains = 3;
  CHECK(refusal(world, "volume.too_few_domains") == "");
  world.volume().members.min_failure_domains = 2;
  CHECK(world.survey().phase == Phase::create);
}

TEST_CASE("A-07 two devices with one identity are not members") {
  World world;
  for (std::size_t at = 1; at <= 5; ++at) seen::blocks(world.seen)[at].ambiguous_key = true;
  CHECK(refusal(world, "volume.too_few_members") == "");
}

TEST_CASE("a missing program or kernel feature is named before anything is written") {
  World world;
  std::erase(world.seen.tools.value(), "mdadm");
  CHECK(refusal(world, "host.tool_missing") == "");
  CHECK(drafts::conflict(world.draft(), "host.tool_missing")->why.find("'mdadm'") != std::string::npos);
  world = World{};
  std::erase(world.seen.kernel.value().modules_available, "raid0");
  std::erase(world.seen.kernel.value().modules_loaded, "raid0");
  CHECK(refusal(world, "host.kernel_feature_missing") == "");
}

TEST_CASE("what cannot be seen stops the volume and is said") {
  World world;
  world.seen.mounts = Facet<Mounts>::unavailable("permission denied");
  CHECK(refusal(world, "volume.cannot_see", Standing::waiting) == "");
}

// ---- what exists
// -------------------------------------------------------------------------------------------------------------

TEST_CASE("A-22 a record whose members are all blank is data lost, and nothing is made anew") {
  for (const Stage stage : {Stage::made_array, Stage::made}) CHECK(refusal(recorded(stage), "volume.data_lost") == "");
}

TEST_CASE("a record with some members blank is refused") {
  World world = recorded(Stage::made);
  carry(world, 3);
  CHECK(refusal(world, "volume.member_blank") == "");
}

TEST_CASE("while a member is away nothing is chosen anew, although other drives are blank") {
  World world = recorded(Stage::made);
  carry(world, 4);
  const DeviceKey gone = seen::records(world.seen).volumes[0].members[0];
  std::erase_if(seen::blocks(world.seen), [&](const BlockDevice& device) { return device.key == gone; });
  CHECK(refusal(world, "volume.members_missing", Standing::waiting) == "");
  CHECK(drafts::conflict(world.draft(), "volume.members_missing")->why.find(gone.text) != std::string::npos);
}

TEST_CASE("a recorded member that carries something else is refused") {
  World world = recorded(Stage::made);
  carry(world, 3);
  const DeviceKey last = seen::records(world.seen).volumes[0].members[3];
  SECTION("a foreign file system") { seen::put_signature(seen::device(world.seen, last), {"ext4", "e", "", false}); }
  SECTION("an older generation of the volume") {
    seen::put_array_member(seen::device(world.seen, last), array_of(6), "nvs-train");
  }
  CHECK(refusal(world, "volume.member_changed") == "");
}

TEST_CASE("the record vetoes nothing but what exists: identity alone brings a volume back, and it is recorded") {
  World world = recorded(Stage::made);
  carry(world, 4);
  seen::records(world.seen).volumes.clear();
  const Draft draft = world.draft();
  REQUIRE(drafts::ids(draft) == std::vector<std::string>{"md.assemble:train"});
  REQUIRE(draft.actions[0].after.size() == 1);
  CHECK(std::get<VolumeRecord>(draft.actions[0].after[0]).generation == 7);
}

TEST_CASE("identity on fewer members than wanted waits, and two generations are refused") {
  World world = recorded(Stage::made);
  carry(world, 3);
  seen::records(world.seen).volumes.clear();
  CHECK(refusal(world, "volume.members_missing", Standing::waiting) == "");
  for (BlockDevice& device : seen::blocks(world.seen)) {
    if (device.look == Look::none && device.kind == DeviceKind::remote_namespace) {
      seen::put_array_member(device, array_of(8), "nvs-train");
      break;
    }
  }
  CHECK(refusal(world, "volume.several_generations") == "");
}

TEST_CASE("a changed count, stack or chunk of an existing volume is refused, and the volume goes on") {
  World world = recorded(Stage::made);
  const auto members = seen::records(world.seen).volumes[0].members;
  seen::run_array(world.seen, array_of(7), "nvs-train", members);
  BlockDevice& array = seen::device(world.seen, {"md:" + to_text(array_of(7))});
  seen::put_signature(array, {"xfs", to_text(derive(seen::host_id(), "fs", "train", 7)), "", false});
  struct Row {
    void (*change)(VolumeSpec&);
    const char* id;
  };
  const Row rows[] = {{[](VolumeSpec& one) { one.members.count = 6; }, "volume.count_changed"},
                      {[](VolumeSpec& one) { one.stack = Stack::lvm; }, "volume.stack_changed"},
                      {[](VolumeSpec& one) { one.chunk = Bytes{64 * 1024}; }, "volume.chunk_changed"}};
  for (const Row& row : rows) {
    World changed = world;
    row.change(changed.volume());
    const Draft draft = changed.draft();
    CHECK(drafts::conflict_ids(draft) == std::vector<std::string>{row.id});
    CHECK(drafts::ids(draft) == std::vector<std::string>{"mount.start:train"});
  }
}

TEST_CASE("a volume that left the spec is unclaimed and stays as it is; an emptied spec says nothing") {
  World world = recorded(Stage::made);
  world.spec.volumes.clear();
  Draft draft = world.draft();
  CHECK(draft.actions.empty());
  REQUIRE(drafts::conflict_ids(draft) == std::vector<std::string>{"volume.unclaimed"});
  CHECK(draft.conflicts[0].standing == Standing::note);
  world.spec = Spec{};
  draft = world.draft();
  CHECK(draft.actions.empty());
  CHECK(draft.conflicts.empty());
}

}  // namespace
}  // namespace nvstripe

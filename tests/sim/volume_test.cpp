// Owns the checks of a compute VM over the simulated machine: the main job, its days after, and what must never happen.
#include "tests/sim/bench.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using namespace nvstripe::sim;

TEST_CASE("from bare targets to a mounted volume, and quiet then") {
  for (const Stack stack : {Stack::md, Stack::lvm}) {
    Bench bench;
    add_targets_and_volume(bench, 2, 4, stack);
    bench.settle();
    INFO(plan_text(bench.last.plan));
    CHECK(bench.last.plan.actions.empty());
    REQUIRE(bench.host.mounted.contains("/mnt/train"));
    CHECK(bench.destructive("mkfs.xfs") == 1);
    CHECK(bench.journal.kept.volume("train")->stage == Stage::made);
    CHECK(bench.journal.kept.intents.empty());
    const std::size_t steps = bench.host.tape.size(), events = bench.journal.events.size();
    bench.settle();
    bench.restart_daemon();
    bench.settle({true, {}});
    CHECK(bench.host.tape.size() == steps);
    CHECK(bench.journal.events.size() == events);
  }
}

TEST_CASE("a volume comes back after a reboot without a write, with the target late") {
  for (const Stack stack : {Stack::md, Stack::lvm}) {
    Bench bench;
    add_targets_and_volume(bench, 2, 4, stack);
    bench.settle();
    bench.host.use_volume("/mnt/train");
    const std::size_t destructive = bench.host.destructive.size();
    bench.host.set_target("s2", false);
    bench.reboot();
    bench.settle();
    CHECK_FALSE(bench.host.mounted.contains("/mnt/train"));
    CHECK(bench.has_conflict("volume.members_missing"));
    bench.host.set_target("s2", true);
    bench.settle();
    INFO(plan_text(bench.last.plan));
    CHECK(bench.host.mounted.contains("/mnt/train"));
    CHECK(bench.host.destructive.size() == destructive);
  }
}

TEST_CASE("nothing is made while a connection that the volume names is down") {
  Bench bench;
  add_targets_and_volume(bench, 4, 4, Stack::md);
  bench.host.set_target("s2", false);
  bench.settle();
  CHECK(bench.host.destructive.empty());
  CHECK(bench.journal.kept.volumes.empty());
  bench.host.set_target("s2", true);
  bench.settle();
  CHECK(bench.destructive("mdadm --create") == 1);
  CHECK(bench.host.mounted.contains("/mnt/train"));
}

TEST_CASE("a target that goes away under a mounted volume changes nothing, and nothing is made anew") {
  Bench bench;
  add_targets_and_volume(bench, 2, 4, Stack::md);
  bench.settle();
  bench.host.use_volume("/mnt/train");
  bench.host.set_target("s1", false);
  const std::size_t steps = bench.host.tape.size();
  bench.settle();
  CHECK(bench.host.tape.size() == steps);
  CHECK(bench.journal.count_events("io.nvstripe.connection.lost.v1") == 1);
  bench.host.set_target("s1", true);
  bench.settle();
  CHECK(bench.host.tape.size() == steps);
  CHECK(bench.journal.count_events("io.nvstripe.connection.restored.v1") == 1);
  CHECK(bench.host.mounted.contains("/mnt/train"));
}

TEST_CASE("a target's return is said though the agent was restarted while it was away") {
  Bench bench;
  add_targets_and_volume(bench, 2, 4, Stack::md);
  bench.settle();
  bench.host.set_target("s1", false);
  bench.settle();
  bench.restart_daemon();
  bench.settle();
  CHECK(bench.journal.count_events("io.nvstripe.connection.restored.v1") == 0);
  bench.host.set_target("s1", true);
  bench.settle();
  CHECK(bench.journal.count_events("io.nvstripe.connection.restored.v1") == 1);
}

TEST_CASE("members that come back blank are lost data, said and never made anew") {
  for (const Stack stack : {Stack::md, Stack::lvm}) {
    Bench bench;
    add_targets_and_volume(bench, 2, 4, stack);
    bench.settle();
    const std::size_t destructive = bench.host.destructive.size();
    for (Target& target : bench.host.targets) {
      for (TargetNamespaceOf& ns : target.namespaces) *ns.media = Media{};
    }
    if (stack == Stack::lvm) bench.host.groups.clear();
    bench.reboot();
    bench.settle();
    bench.settle({true, {}});
    CHECK(bench.has_conflict("volume.data_lost"));
    CHECK(bench.host.destructive.size() == destructive);
    CHECK(bench.host.mounted.empty());
  }
}

TEST_CASE("one member that comes back blank, or with something else, stops everything") {
  Bench bench;
  add_targets_and_volume(bench, 2, 4, Stack::md);
  bench.settle();
  const std::size_t destructive = bench.host.destructive.size();
  SECTION("blank") { *bench.host.targets[0].namespaces[0].media = Media{}; }
  SECTION("foreign") { *bench.host.targets[0].namespaces[0].media = Media{{{"ext4", "u", "", false}}, true, true, "", ""}; }
  SECTION("another drive under another identity") {
    bench.host.targets[0].namespaces[0] = {1, to_text(derive(seen::other_host_id(), "ns", "new", 1)), blank_media()};
  }
  bench.reboot();
  bench.settle();
  bench.settle({true, {}});
  INFO(plan_text(bench.last.plan));
  CHECK(bench.host.destructive.size() == destructive);
  CHECK(bench.host.mounted.empty());
  CHECK_FALSE(bench.last.plan.conflicts.empty());
}

TEST_CASE("A-21 an array that udev assembled from stale superblocks is neither adopted nor stopped") {
  Bench bench;
  add_targets_and_volume(bench, 2, 4, Stack::md);
  bench.spec.volumes.clear();
  bench.spec.volumes.push_back(seen::volume("other", {"s1", "s2"}, 1));
  bench.host.path_kinds["/mnt/other"] = "absent";
  bench.settle();
  bench.spec.volumes.back() = seen::volume("train", {"s1", "s2"}, 3);
  const Inventory seen = bench.look();
  Array stale;
  stale.uuid = "deadbeef-0011-2233-4455-66778899aabb";
  stale.name = "stale";
  stale.raid_disks = 2;
  stale.state = "inactive";
  stale.ours = false;
  stale.media = blank_media();
  for (const BlockDevice& device : seen.blocks.value()) {
    if (device.kind == DeviceKind::remote_namespace && device.nsid == 2) stale.members = {device.key};
  }
  const MediaPtr media = bench.host.media_of(stale.members.at(0));
  *media = Media{{{"linux_raid_member", stale.uuid, "x:stale", false}}, true, true, "", ""};
  bench.host.arrays.push_back(stale);
  bench.settle();
  bench.settle({true, {}});
  const bool still = std::any_of(bench.host.arrays.begin(), bench.host.arrays.end(),
                                 [&](const Array& one) { return one.uuid == stale.uuid; });
  CHECK(still);
  CHECK(media->signatures.size() == 1);
}

TEST_CASE("a second host with the same spec takes nothing of the first one's volume") {
  for (const Stack stack : {Stack::md, Stack::lvm}) {
    Bench first;
    add_targets_and_volume(first, 2, 4, stack);
    first.settle();
    first.host.use_volume("/mnt/train");
    Bench second;
    second.spec = first.spec;
    second.host.targets = first.host.targets;  // the same drives, allowed to both by mistake
    second.host.groups = first.host.groups;
    second.host.path_kinds["/mnt/train"] = "absent";
    second.host.base.identity.value().computed = seen::other_host_id();
    second.host.base.identity.value().product_uuid = to_text(seen::other_host_id());
    second.settle();
    second.settle({true, {}});
    CHECK(second.host.destructive.empty());
    CHECK(second.host.mounted.empty());
    CHECK(second.host.arrays.empty());
    CHECK(second.host.active.empty());
  }
}

TEST_CASE("foreign data is wiped with consent and the acceptance of exactly that plan, once") {
  Bench bench;
  add_targets_and_volume(bench, 2, 4, Stack::md);
  Media& full = *bench.host.targets[0].namespaces[1].media;
  full = Media{{{"ext4", "11111111-0000-4000-8000-000000000000", "", false}}, true, false, "", ""};
  bench.settle();
  CHECK(bench.host.destructive.empty());
  bench.spec.volumes[0].wipe_foreign_data = true;
  bench.settle();
  CHECK(bench.host.destructive.empty());
  REQUIRE(bench.last.plan.digest.size() == 64);
  bench.settle({true, std::string(64, '0')});
  CHECK(bench.host.destructive.empty());
  bench.settle({true, bench.last.plan.digest});
  INFO(plan_text(bench.last.plan));
  CHECK(bench.destructive("wipefs") == 1);
  CHECK(bench.host.mounted.contains("/mnt/train"));
}

TEST_CASE("an emptied spec changes nothing") {
  Bench bench;
  add_targets_and_volume(bench, 2, 4, Stack::md);
  add_local_ssds(bench, 2);
  add_pool(bench, "pool", {seen::hostnqn(seen::other_host_id())}, 1);
  bench.settle();
  const std::size_t steps = bench.host.tape.size();
  bench.spec = Spec{};
  bench.settle();
  CHECK(bench.host.tape.size() == steps);
  CHECK(bench.host.mounted.contains("/mnt/train"));
}

TEST_CASE("provisioning many namespaces looks at everything only at the beginning and the end of a pass") {
  Bench bench;
  add_targets_and_volume(bench, 8, 16, Stack::md);
  bench.pass();
  const auto full = std::count(bench.host.looks.begin(), bench.host.looks.end(), kAllFacets);
  CHECK(full <= 3);
}

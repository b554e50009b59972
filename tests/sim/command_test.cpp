// Owns the checks of release, revert and hold over the simulated machine, crashes included.
#include "configurators/release.hpp"
#include "configurators/tuning.hpp"
#include "tests/sim/bench.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using namespace nvstripe::sim;

namespace {

const Reconciler::DraftOf kRelease = [](const Spec& spec, const Inventory& seen) {
  return configure::release_volume(spec, seen, "train");
};

std::string errors(const PassReport& report) {
  std::string out;
  for (const ActionOutcome& outcome : report.outcomes)
    out += outcome.error.empty() ? "" : outcome.id + ": " + outcome.error + "\n";
  return out;
}

void check_released(Bench& bench) {
  CHECK(bench.host.mounted.empty());
  CHECK(bench.host.arrays.empty());
  CHECK(bench.host.active.empty());
  CHECK(bench.host.controllers.empty());
}

}  // namespace

TEST_CASE("release unmounts, stops and disconnects, stays so, and leaves the data") {
  for (const Stack stack : {Stack::md, Stack::lvm}) {
    Bench bench;
    add_targets_and_volume(bench, 2, 4, stack);
    bench.settle();
    bench.host.use_volume("/mnt/train");
    const std::size_t destructive = bench.host.destructive.size();
    CHECK(errors(bench.command(kRelease)) == "");
    INFO(plan_text(bench.last.plan));
    check_released(bench);
    CHECK(bench.journal.kept.held("volume:train"));
    bench.settle();
    bench.reboot();
    bench.settle();
    CHECK(bench.host.mounted.empty());
    CHECK(bench.host.arrays.empty());
    bench.journal.kept.put(Forget{"hold", "volume:train"});  // as `apply` does
    bench.settle({true, {}});
    INFO(plan_text(bench.last.plan));
    CHECK(bench.host.mounted.contains("/mnt/train"));
    CHECK(bench.host.destructive.size() == destructive);
  }
}

TEST_CASE("a crash anywhere in a release converges when it is asked for again") {
  Bench undisturbed;
  add_targets_and_volume(undisturbed, 2, 4, Stack::md);
  undisturbed.settle();
  const int begin = undisturbed.clock.count();
  undisturbed.command(kRelease);
  const int end = undisturbed.clock.count();
  REQUIRE(end > begin + 3);
  for (int at = begin; at < end; ++at) {
    Bench bench;
    add_targets_and_volume(bench, 2, 4, Stack::md);
    bench.settle();
    bench.host.use_volume("/mnt/train");
    bench.clock.crash_at(at, Clock::When::before);
    CHECK_THROWS_AS(bench.command(kRelease), Crash);
    bench.clock.never();
    bench.restart_daemon();
    bench.command(kRelease);
    INFO("operation " << at);
    check_released(bench);
    CHECK(bench.journal.kept.held("volume:train"));
  }
}

TEST_CASE("release with a dead target ends, and the data is there when the target returns") {
  Bench bench;
  add_targets_and_volume(bench, 2, 4, Stack::md);
  bench.settle();
  bench.host.use_volume("/mnt/train");
  bench.host.set_target("s1", false);
  CHECK(errors(bench.command(kRelease)) == "");
  CHECK(bench.host.mounted.empty());
  bench.host.set_target("s1", true);
  bench.journal.kept.put(Forget{"hold", "volume:train"});
  bench.settle({true, {}});
  INFO(plan_text(bench.last.plan));
  CHECK(bench.host.mounted.contains("/mnt/train"));
}

TEST_CASE("release touches nothing that another volume or somebody else needs") {
  Bench bench;
  add_targets_and_volume(bench, 4, 2, Stack::md);
  bench.spec.volumes.push_back(seen::volume("other", {"s1", "s2"}, 2));
  bench.host.path_kinds["/mnt/other"] = "absent";
  bench.host.controllers.push_back({"nvme77", "nqn.2020-01.org.example:san", "tcp", "192.0.2.77", "4420", "", false});
  bench.settle();
  REQUIRE(bench.host.mounted.size() == 2);
  CHECK(errors(bench.command(kRelease)) == "");
  CHECK(bench.host.mounted.contains("/mnt/other"));
  CHECK(bench.host.controllers.size() == 3);
}

TEST_CASE("revert gives every setting its old value, and it stays so") {
  Bench bench;
  bench.host.sysctls = {{"vm.dirty_ratio", "20", ""},
                        {"vm.dirty_background_ratio", "10", ""},
                        {"vm.dirty_bytes", "0", ""},
                        {"vm.dirty_background_bytes", "0", ""}};
  add_targets_and_volume(bench, 2, 4, Stack::md);
  bench.spec.volumes[0].want_write = BytesPerSecond{400'000'000};
  const Inventory before = bench.look();
  bench.settle();
  REQUIRE_FALSE(bench.journal.kept.tunings.empty());
  CHECK_FALSE(bench.look().sysctls.value() == before.sysctls.value());
  CHECK(errors(bench.command(
            [](const Spec& spec, const Inventory& seen) { return configure::revert_tuning(spec, seen); })) == "");
  CHECK(bench.look().sysctls.value() == before.sysctls.value());
  const Inventory after = bench.look();
  for (const BlockDevice& device : after.blocks.value()) {
    if (device.kind == DeviceKind::remote_namespace) CHECK(device.queue.scheduler == "mq-deadline");
  }
  const std::size_t steps = bench.host.tape.size();
  bench.settle();
  CHECK(bench.host.tape.size() == steps);
  CHECK(bench.journal.kept.tunings.empty());
  CHECK(bench.journal.kept.held("tuning"));
}

TEST_CASE("nothing is done to what is on hold, by itself or by all") {
  for (const std::string object : {"volume:train", "all"}) {
    Bench bench;
    bench.journal.kept.holds = {{object, "hold"}};
    add_targets_and_volume(bench, 2, 4, Stack::md);
    bench.settle();
    CHECK(bench.host.destructive.empty());
    CHECK(bench.host.mounted.empty());
    CHECK(bench.host.controllers.empty());  // nothing else needs them
  }
}

TEST_CASE("release leaves alone what somebody mounted in the volume's place") {
  Bench bench;
  add_targets_and_volume(bench, 2, 4, Stack::md);
  bench.settle();
  bench.command(kRelease);
  bench.journal.kept.put(Forget{"hold", "volume:train"});
  bench.settle({true, {}});
  for (const char* name : {"s1", "s2"}) bench.host.set_target(name, false);
  bench.reboot();
  bench.settle();
  REQUIRE(bench.host.mounted.empty());
  bench.host.foreign_mounts.push_back({"/mnt/train", "10.1.1.1:/spare", "nfs4", "rw", "0:51", "", "", ""});
  CHECK(errors(bench.command(kRelease)) == "");
  INFO(plan_text(bench.last.plan));
  CHECK(bench.journal.kept.held("volume:train"));
  CHECK_FALSE(bench.host.files.contains("/etc/systemd/system/mnt-train.mount"));
}

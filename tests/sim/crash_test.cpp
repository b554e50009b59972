// Owns the crash sweep: power is cut, or the daemon killed, before, within and after every durable operation on the way;
// then all is started again and must reach the same end state, with no destructive command a second time except to redo an
// own creation whose outcome was not recorded.
#include <algorithm>
#include <map>
#include <set>

#include "tests/sim/bench.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using namespace nvstripe::sim;

namespace {

using Prepare = void (*)(Bench&);

void volume_md(Bench& bench) { add_targets_and_volume(bench, 2, 4, Stack::md); }
void volume_lvm(Bench& bench) { add_targets_and_volume(bench, 2, 4, Stack::lvm); }
void local_md(Bench& bench) {
  add_local_ssds(bench, 3);
  add_local_volume(bench, "scratch", 3, Stack::md);
}
void pool(Bench& bench) {
  add_local_ssds(bench, 3);
  add_pool(bench, "pool", {seen::hostnqn(seen::other_host_id())}, 1);
}
void slices(Bench& bench) {
  add_local_ssds(bench, 2);
  add_pool(bench, "pool",
           {seen::hostnqn(seen::other_host_id()), "nqn.2014-08.org.nvmexpress:uuid:0c0c0c0c-1111-4222-8333-444455556666"},
           4);
}
void both(Bench& bench) {
  add_local_ssds(bench, 4);
  add_local_volume(bench, "scratch", 2, Stack::md);
  add_pool(bench, "pool", {seen::hostnqn(seen::other_host_id())}, 1);
  add_targets_and_volume(bench, 1, 2, Stack::lvm);
}

// What the interrupted action had done already may be done once more; everything else happens once.
void check_destruction(const Bench& bench, const std::string& interrupted) {
  std::map<std::string, int> counts;
  for (const std::string& line : bench.host.destructive) ++counts[line];
  for (const auto& [line, count] : counts) {
    const bool redo = line.starts_with(interrupted + ":") || line.find("vgremove") != std::string::npos;
    INFO(line << ", interrupted: " << interrupted);
    CHECK(count <= (redo ? 2 : 1));
  }
}

// A controller that was made while the daemon was killed is ours as well: at shutdown it must not be left.
void check_ownership(const Bench& bench) {
  const std::string& boot = bench.host.base.identity.value().boot_id;
  for (const Controller& made : bench.host.controllers) {
    const auto& records = bench.journal.kept.connections;
    const bool known = std::any_of(records.begin(), records.end(), [&](const ConnectionRecord& one) {
      return one.nqn == made.nqn && one.transport == made.transport && one.traddr == made.traddr && one.boot_id == boot;
    });
    INFO("controller to " << made.nqn);
    CHECK(known);
  }
}

// The number of crashes that were tried.
int sweep(Prepare prepare, bool power_cut) {
  int crashes = 0;
  Bench undisturbed;
  prepare(undisturbed);
  undisturbed.settle();
  const std::string expected = end_state(undisturbed);
  const int operations = undisturbed.clock.count();
  REQUIRE(operations > 5);
  for (const Clock::When when : {Clock::When::before, Clock::When::torn}) {
    for (int at = 0; at < operations; ++at) {
      if (when == Clock::When::torn && !undisturbed.clock.can_tear(at)) continue;
      Bench bench;
      prepare(bench);
      bench.clock.crash_at(at, when);
      INFO("operation " << at << " of " << operations << ", " << (when == Clock::When::before ? "before" : "torn")
                        << (power_cut ? ", power cut" : ", daemon killed"));
      REQUIRE(bench.settle_or_crash());
      ++crashes;
      const bool open = !bench.journal.kept.intents.empty();
      std::string interrupted = open ? bench.journal.kept.intents.front().action_id : "";
      if (power_cut)
        bench.reboot();
      else
        bench.restart_daemon();
      bench.settle();
      INFO(plan_text(bench.last.plan));
      CHECK(end_state(bench) == expected);
      CHECK(bench.journal.count_events("io.nvstripe.action.interrupted.v1") == (open ? 1 : 0));
      check_destruction(bench, interrupted);
      check_ownership(bench);
    }
  }
  return crashes;
}

}  // namespace

TEST_CASE("a crash anywhere on the way to an md volume converges") {
  CHECK(sweep(volume_md, false) > 20);
  CHECK(sweep(volume_md, true) > 20);
}
TEST_CASE("a crash anywhere on the way to an LVM volume converges") {
  CHECK(sweep(volume_lvm, false) > 20);
  CHECK(sweep(volume_lvm, true) > 20);
}
TEST_CASE("a crash anywhere on the way to a volume from local drives converges") {
  CHECK(sweep(local_md, false) > 20);
  CHECK(sweep(local_md, true) > 20);
}
TEST_CASE("a crash anywhere on the way to exported drives converges") {
  CHECK(sweep(pool, false) > 20);
  CHECK(sweep(pool, true) > 20);
}
TEST_CASE("a crash anywhere on the way to exported slices converges") {
  CHECK(sweep(slices, false) > 20);
  CHECK(sweep(slices, true) > 20);
}
TEST_CASE("a crash anywhere on a machine with both roles converges") {
  CHECK(sweep(both, false) > 20);
  CHECK(sweep(both, true) > 20);
}

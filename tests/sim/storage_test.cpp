// Owns the checks of a storage VM over the simulated machine.
#include "tests/sim/bench.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using namespace nvstripe::sim;

namespace {
const std::string kConsumer = seen::hostnqn(seen::other_host_id());
}

TEST_CASE("a storage VM serves its blank drives, and is quiet then") {
  Bench bench;
  add_local_ssds(bench, 4);
  add_pool(bench, "pool", {kConsumer}, 1);
  bench.settle();
  INFO(plan_text(bench.last.plan));
  CHECK(bench.last.plan.actions.empty());
  REQUIRE(bench.host.nvmet.subsystems.size() == 1);
  CHECK(bench.host.nvmet.subsystems[0].namespaces.size() == 4);
  CHECK(bench.host.destructive.empty());
  const std::size_t steps = bench.host.tape.size();
  bench.settle();
  CHECK(bench.host.tape.size() == steps);
}

TEST_CASE("after a reboot the drives are served again under the same ids, though consumers wrote to them") {
  Bench bench;
  add_local_ssds(bench, 2);
  add_pool(bench, "pool", {kConsumer}, 1);
  bench.settle();
  const TargetConfiguration before = bench.host.nvmet;
  for (Drive& drive : bench.host.drives) {
    if (drive.device.kind != DeviceKind::local_ssd) continue;
    drive.media->signatures = {{"linux_raid_member", "deadbeef-0011-2233-4455-66778899aabb", "other", false}};
    drive.media->data = drive.media->precious = true;
  }
  bench.settle();
  bench.reboot();
  bench.settle();
  INFO(plan_text(bench.last.plan));
  REQUIRE(bench.host.nvmet.subsystems.size() == 1);
  CHECK(bench.host.nvmet.subsystems[0].allowed_hosts == before.subsystems[0].allowed_hosts);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(bench.host.nvmet.subsystems[0].namespaces[i].uuid == before.subsystems[0].namespaces[i].uuid);
}

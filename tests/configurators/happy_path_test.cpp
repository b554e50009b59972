// The way from two connected targets to a mounted volume, look by look, as the table of configurators drafts it.
#include <algorithm>

#include "agent/engine/planner.hpp"
#include "agent/engine/tables.hpp"
#include "agent/model/guard.hpp"
#include "configurators/volume.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drafts.hpp"
#include "tests/support/seen.hpp"

namespace nvstripe {
namespace {

using configure::survey_volumes;

TEST_CASE("two connected targets with blank drives give array, file system and mount in one plan") {
  const Spec spec = seen::two_target_spec();
  const Inventory seen = seen::two_targets_connected();
  const Draft draft = drafts::all(spec, seen);
  CHECK(drafts::ids(draft) == std::vector<std::string>{"fs.make:train", "md.create:train", "mount.start:train"});
  CHECK(drafts::conflict_ids(draft).empty());
  CHECK(drafts::vetoes(draft, spec, seen) == "");
  CHECK(drafts::golden("plans/two-targets.txt", draft) == "");
}

TEST_CASE("the planner orders the layers by what they give each other") {
  const Plan plan = make_plan(seen::two_target_spec(), seen::two_targets_connected());
  std::vector<std::string> order;
  for (const Action& action : plan.actions) order.push_back(action.id);
  CHECK(order == std::vector<std::string>{"md.create:train", "fs.make:train", "mount.start:train"});
  CHECK(plan.conflicts.empty());
  CHECK(plan.digest.empty());
}

TEST_CASE("on a new machine the identity is recorded before anything is connected") {
  Inventory seen = seen::machine();
  seen.targets.value() = {seen::target("s1", "10.9.0.1"), seen::target("s2", "10.9.0.2")};
  seen.targets.value()[0].problem = "the last connect ended after 15 s";
  seen::records(seen).identity.reset();
  const Plan plan = make_plan(seen::two_target_spec(), seen);
  std::vector<std::string> order;
  for (const Action& action : plan.actions) order.push_back(action.id);
  CHECK(order == std::vector<std::string>{"identity.record:host", "controller.connect:s2/s2", "controller.connect:s1/s1"});
}

TEST_CASE("targets that answer are connected first, and the volume waits for them") {
  const Spec spec = seen::two_target_spec();
  Inventory seen = seen::machine();
  seen.targets.value() = {seen::target("s1", "10.9.0.1"), seen::target("s2", "10.9.0.2")};
  const Draft draft = drafts::all(spec, seen);
  CHECK(drafts::ids(draft) == std::vector<std::string>{"controller.connect:s1/s1", "controller.connect:s2/s2"});
  CHECK(drafts::conflict_ids(draft) == std::vector<std::string>{"volume.waits_for_connection"});
  CHECK(drafts::vetoes(draft, spec, seen) == "");
  CHECK(drafts::golden("plans/connect-two-targets.txt", draft) == "");
}

TEST_CASE("the members of four are taken from both targets in turn") {
  const Spec spec = seen::two_target_spec();
  const Inventory seen = seen::two_targets_connected();
  const auto volume = survey_volumes(spec, seen).front();
  REQUIRE(volume.members.size() == 4);
  std::vector<std::string> subsystems;
  for (const DeviceKey& key : volume.members) subsystems.push_back(seen.find(key)->subsystem_nqn);
  CHECK(subsystems == std::vector<std::string>{seen::subsystem_nqn("s1"), seen::subsystem_nqn("s2"),
                                               seen::subsystem_nqn("s1"), seen::subsystem_nqn("s2")});
}

}  // namespace
}  // namespace nvstripe

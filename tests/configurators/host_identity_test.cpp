// Which machine this is: recorded once, and a mismatch stops everything.
#include "configurators/host_identity.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/drafts.hpp"
#include "tests/support/seen.hpp"

namespace nvstripe {
namespace {

using configure::identity_settled;
using configure::plan_host_identity;

TEST_CASE("a machine without a record gets its identity recorded once, from DMI") {
  Inventory seen = seen::machine();
  seen::records(seen).identity.reset();
  const Draft draft = plan_host_identity({}, seen);
  REQUIRE(drafts::ids(draft) == std::vector<std::string>{"identity.record:host"});
  CHECK(draft.actions[0].steps.empty());
  CHECK(draft.actions[0].after == std::vector<Record>{IdentityRecord{seen::host_id(), "dmi"}});
  drafts::perform(seen, draft.actions[0]);
  CHECK(plan_host_identity({}, seen) == Draft{});
}

TEST_CASE("node.host_id of the spec wins over DMI and is recorded as such") {
  Inventory seen = seen::machine();
  seen::records(seen).identity.reset();
  Spec spec;
  spec.node.host_id = seen::other_host_id();
  seen.identity.value().from_spec = seen::other_host_id();
  const Draft draft = plan_host_identity(spec, seen);
  REQUIRE(draft.actions.size() == 1);
  CHECK(draft.actions[0].after == std::vector<Record>{IdentityRecord{seen::other_host_id(), "spec"}});
}

TEST_CASE("a clone, whose DMI differs from the record, is refused and says how to settle it") {
  Inventory seen = seen::machine();
  seen.identity.value().product_uuid = to_text(seen::other_host_id());
  seen.identity.value().computed = seen::other_host_id();
  const Draft draft = plan_host_identity({}, seen);
  CHECK(draft.actions.empty());
  REQUIRE(drafts::conflict_ids(draft) == std::vector<std::string>{"identity.mismatch"});
  CHECK(draft.conflicts[0].standing == Standing::refused);
  CHECK(draft.conflicts[0].remedy.find("nvstripe identity adopt") != std::string::npos);
}

TEST_CASE("while the identity does not stand, nothing connects, writes or mounts") {
  const Spec spec = seen::two_target_spec();
  Inventory seen = seen::two_targets_connected();
  seen.controllers.value().clear();
  seen.identity.value().product_uuid = to_text(seen::other_host_id());
  seen.identity.value().computed = seen::other_host_id();
  REQUIRE_FALSE(identity_settled(spec, seen));
  const Draft draft = drafts::all(spec, seen);
  CHECK(draft.actions.empty());
  CHECK(drafts::conflict(draft, "volume.identity_unsettled").has_value());
}

TEST_CASE("a product UUID that cannot be read now is missing information, not another machine") {
  Inventory seen = seen::machine();
  seen.identity.value().product_uuid.clear();
  seen.identity.value().computed = seen::other_host_id();
  CHECK(drafts::conflict_ids(plan_host_identity({}, seen)) == std::vector<std::string>{"identity.unknown"});
  CHECK_FALSE(identity_settled({}, seen));
}

TEST_CASE("A-46 a machine without any usable identity waits for one instead of drawing it at random") {
  Inventory seen = seen::machine();
  seen::records(seen).identity.reset();
  seen.identity.value().product_uuid.clear();
  seen.identity.value().computed = Uuid{};
  const Draft draft = plan_host_identity({}, seen);
  CHECK(draft.actions.empty());
  CHECK(drafts::conflict_ids(draft) == std::vector<std::string>{"identity.unknown"});
}

TEST_CASE("A-45 another host NQN in /etc/nvme is a note and stops nothing") {
  Inventory seen = seen::machine();
  seen.identity.value().hostnqn_file = "nqn.2014-08.org.nvmexpress:uuid:cccccccc-0000-4000-8000-000000000001";
  const Draft draft = plan_host_identity({}, seen);
  REQUIRE(drafts::conflict_ids(draft) == std::vector<std::string>{"identity.foreign_hostnqn"});
  CHECK(draft.conflicts[0].standing == Standing::note);
  CHECK(identity_settled({}, seen));
  seen.identity.value().hostnqn_file = seen::hostnqn();
  CHECK(plan_host_identity({}, seen) == Draft{});
}

}  // namespace
}  // namespace nvstripe

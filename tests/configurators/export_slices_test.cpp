// Proves how drives are shared in slices: cut once, owned for good, moved by nothing. No machine is touched.
#include <algorithm>
#include <set>

#include "agent/model/guard.hpp"
#include "configurators/export_names.hpp"
#include "configurators/export_wishes.hpp"
#include "configurators/exports.hpp"
#include "tests/configurators/served.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using namespace nvstripe::configure;
using namespace nvstripe::served;

namespace {

std::string second() { return seen::hostnqn(seen::uuid("0c0c0c0c-1111-4222-8333-444455556666")); }

Spec shared_spec() {
  Spec spec = pool_spec();
  spec.exports.front().slices = 4;
  spec.exports.front().allow = {{consumer(), 2}, {second(), 1}};
  return spec;
}

using Owners = std::set<std::pair<std::string, std::string>>;  // backing, host
Owners owners(const Spec& spec, const Inventory& seen) {
  Owners found;
  for (const SubsystemWish& subsystem : export_wishes(spec, seen).subsystems) {
    for (const NamespaceWish& wish : subsystem.namespaces) found.insert({wish.backing.text, subsystem.host_nqn});
  }
  return found;
}

}  // namespace

TEST_CASE("a blank drive is cut into all its slices at once, and each host gets its own") {
  const Spec spec = shared_spec();
  Inventory seen = storage(2);
  const Draft draft = export_slices(spec, seen);
  REQUIRE(draft.actions.size() == 2);
  const Action& action = draft.actions.front();
  CHECK(action.risk == Risk::writes_blank);
  CHECK(action.gives.size() == 4);
  CHECK(std::holds_alternative<RequireContent>(action.steps.front()));
  CHECK(guard::judge(action, spec, seen) == guard::Veto{});
  settle(spec, seen);
  CHECK(planned(spec, seen).empty());
  REQUIRE(seen.exports.value().subsystems.size() == 2);
  std::set<std::string> paths;
  for (const TargetSubsystem& subsystem : seen.exports.value().subsystems) {
    CHECK(subsystem.allowed_hosts.size() == 1);
    for (const TargetNamespace& ns : subsystem.namespaces) CHECK(paths.insert(ns.device_path).second);
  }
  CHECK(paths.size() == 6);
}

TEST_CASE("every action that cuts, activates and serves slices passes the guard") {
  const Spec spec = shared_spec();
  Inventory seen = storage(1);
  for (int round = 0; round < 20; ++round) {
    const auto actions = planned(spec, seen);
    if (actions.empty()) break;
    INFO(actions.front().sentence);
    CHECK(guard::judge(actions.front(), spec, seen) == guard::Veto{});
    carry_out(seen, actions.front());
  }
  CHECK(planned(spec, seen).empty());
}

TEST_CASE("inserting an entry moves no slice") {
  const Spec spec = shared_spec();
  Inventory seen = storage(2);
  settle(spec, seen);
  const Owners before = owners(spec, seen);
  Spec wider = spec;
  const std::string third = seen::hostnqn(seen::uuid("0d0d0d0d-1111-4222-8333-444455556666"));
  wider.exports.front().allow.insert(wider.exports.front().allow.begin(), {third, 1});
  Owners after = owners(wider, seen);
  CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
  CHECK(after.size() == before.size() + 2);
  // The tags on the drive say the same when the ledger was lost.
  seen::records(seen).exports.clear();
  after = owners(wider, reboot(seen));
  CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
}

TEST_CASE("after a reboot slices are activated and served under the same identity without writing") {
  const Spec spec = shared_spec();
  Inventory seen = storage(1);
  settle(spec, seen);
  Inventory again = reboot(seen);
  seen::records(again).fresh_generation = 99;
  const Draft slices = export_slices(spec, again);
  REQUIRE(slices.actions.size() == 1);
  CHECK(slices.actions.front().risk == Risk::reversible);
  CHECK(slices.actions.front().writes.empty());
  settle(spec, again);
  for (std::size_t at = 0; at < 2; ++at) {
    const auto& before = seen.exports.value().subsystems[at].namespaces;
    const auto& after = again.exports.value().subsystems[at].namespaces;
    REQUIRE(before.size() == after.size());
    for (std::size_t ns = 0; ns < before.size(); ++ns) CHECK(before[ns].uuid == after[ns].uuid);
  }
}

TEST_CASE("a cut that broke off after any step is finished, and no step destroys what the ones before made") {
  const Spec spec = shared_spec();
  const Inventory blank = storage(1);
  const Action whole = export_slices(spec, blank).actions.front();
  for (std::size_t done = 1; done < whole.steps.size(); ++done) {
    INFO("broken off after step " << done);
    Inventory seen = blank;
    Action part = whole;
    part.steps.resize(done);
    part.after.clear();
    carry_out(seen, part);
    settle(spec, seen);
    CHECK(planned(spec, seen).empty());
    CHECK(seen.lvm.value().volumes.size() == 4);
    CHECK(seen.lvm.value().physicals.size() == 1);
  }
}

TEST_CASE("slices are fixed when the drive is taken") {
  Spec spec = shared_spec();
  Inventory seen = storage(1);
  settle(spec, seen);
  for (const std::uint32_t other : {3u, 8u}) {
    spec.exports.front().slices = other;
    const Draft draft = export_slices(spec, seen);
    CHECK(draft.actions.empty());
    REQUIRE(draft.conflicts.size() == 1);
    CHECK(draft.conflicts.front().id == "export.slices_fixed");
  }
}

TEST_CASE("slices that were served and are gone are not made again") {
  const Spec spec = shared_spec();
  Inventory seen = storage(1);
  settle(spec, seen);
  seen = reboot(seen);
  seen.lvm.value() = {};
  seen::device(seen, seen::local_ssd(1).key).signatures.clear();
  seen::device(seen, seen::local_ssd(1).key).look = Look::none;
  seen::device(seen, seen::local_ssd(1).key).content = Content::zero;
  const Draft draft = export_slices(spec, seen);
  CHECK(draft.actions.empty());
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().id == "export.slices_lost");
}

TEST_CASE("a slice of a host that left is given to nobody else") {
  Spec spec = shared_spec();
  Inventory seen = storage(1);
  settle(spec, seen);
  spec.exports.front().allow = {{second(), 1}, {seen::hostnqn(seen::uuid("0d0d0d0d-1111-4222-8333-444455556666")), 2}};
  const ExportWishes wishes = export_wishes(spec, seen);
  REQUIRE(wishes.conflicts.size() == 1);
  CHECK(wishes.conflicts.front().id == "export.no_free_slice");
  for (const auto& [backing, host] : owners(spec, seen))
    CHECK((backing.ends_with("s1") || backing.ends_with("s2")) == false);
}

TEST_CASE("allow lists that do not fit the slices are refused") {
  Spec spec = shared_spec();
  const Inventory seen = storage(1);
  spec.exports.front().allow = {{consumer(), 3}, {second(), 2}};
  CHECK(exports(spec, seen).conflicts.front().id == "export.slices_overlap");
  spec.exports.front().allow = {{consumer(), std::nullopt}, {second(), 2}};
  CHECK(exports(spec, seen).conflicts.front().id == "export.slices_overlap");
}

TEST_CASE("a slice that somebody made anew is not served as the old one") {
  const Spec spec = shared_spec();
  Inventory seen = storage(1);
  settle(spec, seen);
  for (const ExportRecord& record : seen::records(seen).exports) CHECK_FALSE(record.lv_uuid.empty());
  Inventory again = reboot(seen);
  again.lvm.value().volumes.front().uuid = "another";
  settle(spec, again);
  const auto conflicts = exports(spec, again).conflicts;
  REQUIRE(conflicts.size() == 1);
  CHECK(conflicts.front().id == "export.slice_replaced");
  CHECK(conflicts.front().standing == Standing::refused);
}

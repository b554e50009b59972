// Proves what machines turn exports into: subsystems, namespaces, ledger entries and conflicts. No machine is touched.
#include "configurators/exports.hpp"

#include <algorithm>

#include "agent/model/guard.hpp"
#include "configurators/export_names.hpp"
#include "configurators/export_wishes.hpp"
#include "tests/configurators/served.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using namespace nvstripe::configure;
using namespace nvstripe::served;

TEST_CASE("four blank drives become one subsystem with four namespaces for the one host") {
  const Spec spec = pool_spec();
  const Inventory seen = storage(4);
  const Draft draft = exports(spec, seen);
  REQUIRE(draft.conflicts.empty());
  REQUIRE(draft.actions.size() == 1);
  const Action& action = draft.actions.front();
  CHECK(action.risk == Risk::reversible);
  CHECK(action.before.size() == 4);
  CHECK(action.after.size() == 4);
  CHECK(action.gives.size() == 4);
  CHECK(guard::judge(action, spec, seen).id == "");
  const std::string folder = subsystem_path(consumer_nqn());
  CHECK(position(action, folder + "/attr_allow_any_host") < position(action, folder + "/allowed_hosts/" + consumer()));
  CHECK(position(action, folder + "/namespaces/4/device_uuid") < position(action, folder + "/namespaces/4/enable"));
  for (const Step& step : action.steps) CHECK_FALSE(to_sentence(step).find("/ports/") != std::string::npos);
}

TEST_CASE("a subsystem of somebody else that serves an exported drive too is told, and nothing is done about it") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  settle(spec, seen);
  auto& subsystems = seen.exports.value().subsystems;
  TargetSubsystem careless = subsystems.front();
  careless.nqn = "nqn.2026-01.invalid.lab:careless";
  subsystems.push_back(careless);
  const Draft draft = exports(spec, seen);
  CHECK(draft.actions.empty());
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().id == "export.served_beside");
  CHECK(draft.conflicts.front().standing == Standing::refused);
  CHECK(draft.conflicts.front().why.find("careless', which is not ours, serves 2 of its drives") != std::string::npos);
  subsystems.back().namespaces.clear();
  CHECK(exports(spec, seen).conflicts.empty());
}

TEST_CASE("a drive that was withdrawn and is a member of a volume now is not served again") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  settle(spec, seen);
  seen = reboot(seen);
  const DeviceKey member = seen::local_ssd(1).key;
  for (ExportRecord& record : seen::records(seen).exports) record.retired = record.drive == member;
  VolumeRecord scratch;
  scratch.name = "scratch";
  scratch.stack = "lvm";
  scratch.members = {member};
  scratch.stage = Stage::made;
  seen::records(seen).volumes = {scratch};
  // Not active yet, as after boot: nothing is stacked on it.
  seen::put_signature(seen::device(seen, member), {"LVM2_member", "abcdef-1111-2222-3333-4444-5555-666666", "", false});
  std::size_t served = 0;
  for (const Action& action : planned(spec, seen)) {
    for (const Step& step : action.steps) {
      const auto* write = std::get_if<WriteAttribute>(&step);
      if (write == nullptr || !write->value_device) continue;
      ++served;
      CHECK(*write->value_device != member);
    }
  }
  CHECK(served == 1);
}

TEST_CASE("A-64 serial, model and namespace identity are derived, so that a reboot gives the same") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  const Draft first = exports(spec, seen);
  carry_out(seen, first.actions.front());
  Inventory rebooted = reboot(seen);
  seen::records(rebooted).fresh_generation = 99;
  const Draft again = exports(spec, rebooted);
  REQUIRE(again.actions.size() == 1);
  CHECK(written(again.actions.front(), "attr_serial") == written(first.actions.front(), "attr_serial"));
  CHECK(written(again.actions.front(), "device_uuid") == written(first.actions.front(), "device_uuid"));
  CHECK(written(first.actions.front(), "attr_serial").front().size() <= 20);
  CHECK(again.actions.front().before.empty());
}

TEST_CASE("a drive that carries its consumer's data is exported again after a reboot without a look at its content") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  carry_out(seen, exports(spec, seen).actions.front());
  for (BlockDevice& device : seen::blocks(seen)) {
    if (device.kind == DeviceKind::local_ssd)
      seen::put_array_member(device, seen::uuid("deadbeef00112233445566778899aabb"), "nvs-train");
  }
  const Draft noted = exports(spec, seen);
  REQUIRE(noted.actions.size() == 1);
  CHECK(noted.actions.front().id.starts_with("export.remember:"));
  CHECK(noted.actions.front().steps.empty());
  carry_out(seen, noted.actions.front());
  CHECK(exports(spec, seen) == Draft{});
  const Inventory rebooted = reboot(seen);
  const Draft again = exports(spec, rebooted);
  REQUIRE(again.actions.size() == 1);
  CHECK(again.conflicts.empty());
  for (const Step& step : again.actions.front().steps) CHECK_FALSE(std::holds_alternative<RequireContent>(step));
  CHECK(guard::judge(again.actions.front(), spec, rebooted).id == "");
}

TEST_CASE("a drive that was re-made while nobody looked gets a new namespace id and a new identity") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  carry_out(seen, exports(spec, seen).actions.front());
  for (ExportRecord& record : seen::records(seen).exports) record.consumer_data_seen = true;
  Inventory rebooted = reboot(seen);
  seen::records(rebooted).fresh_generation = 99;
  const Draft again = exports(spec, rebooted);
  REQUIRE(again.actions.size() == 1);
  const Action& action = again.actions.front();
  REQUIRE(action.before.size() == 2);
  CHECK(std::get<ExportRecord>(action.before[0]).nsid == 3);
  CHECK(std::get<ExportRecord>(action.before[1]).nsid == 4);
  CHECK(std::get<ExportRecord>(action.before[0]).generation == 99);
  CHECK(guard::judge(action, spec, rebooted).id == "");
}

TEST_CASE("a swapped drive gets a namespace id that was never given out, and the old one is withdrawn") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  carry_out(seen, exports(spec, seen).actions.front());
  const DeviceKey gone = seen::local_ssd(2).key;
  std::erase_if(seen::blocks(seen), [&](const BlockDevice& device) { return device.key == gone; });
  seen::blocks(seen).push_back(seen::local_ssd(7));
  const Draft draft = exports(spec, seen);
  REQUIRE(draft.actions.size() == 1);
  CHECK(std::get<ExportRecord>(draft.actions.front().before.front()).nsid == 3);
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().id == "export.drive_missing");
  CHECK(draft.conflicts.front().standing == Standing::waiting);
  const Draft withdrawn = export_withdrawal(spec, seen);
  REQUIRE(withdrawn.actions.size() == 1);
  CHECK(withdrawn.actions.front().id.starts_with("export.drop:"));
  CHECK(withdrawn.actions.front().risk == Risk::reversible);
  CHECK(withdrawn.actions.front().steps == std::vector<Step>{Remove{namespace_path(consumer_nqn(), 2)}});
}

TEST_CASE("a half-made namespace is removed and made again, and keeps its id") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  const Action first = exports(spec, seen).actions.front();
  for (const Record& record : first.before) seen::records(seen).put(record);
  TargetSubsystem half{consumer_nqn(), subsystem_serial(seen.host(), consumer_nqn()), "nvstripe", false, {consumer()}, {}};
  half.namespaces.push_back({1, "/dev/nvme1n1", "", "", false});
  seen.exports.value().subsystems.push_back(half);
  const Draft draft = exports(spec, seen);
  REQUIRE(draft.actions.size() == 1);
  CHECK(draft.actions.front().steps.front() == Step{Remove{namespace_path(consumer_nqn(), 1)}});
  CHECK(std::any_of(draft.actions.front().steps.begin(), draft.actions.front().steps.end(),
                    [](const Step& step) { return std::holds_alternative<RequireContent>(step); }));
}

TEST_CASE("a drive whose last look failed is not exported later on the strength of its ledger entry") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  const Action refused = exports(spec, seen).actions.front();
  for (const Record& record : refused.before) seen::records(seen).put(record);
  seen::put_signature(seen::device(seen, seen::local_ssd(1).key), {"ext4", "u", "", false});
  const Draft draft = exports(spec, seen);
  CHECK(draft.actions.empty());
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().id == "guard.signature");
}

TEST_CASE("drives that are foreign, held, unknown or of the system are not exported") {
  const Spec spec = pool_spec();
  Inventory seen = storage(5);
  seen::put_signature(seen::device(seen, seen::local_ssd(1).key), {"xfs", "u", "", false});
  seen::device(seen, seen::local_ssd(2).key).holders = {{"md:x"}};
  seen::device(seen, seen::local_ssd(3).key).look = Look::unknown;
  seen::device(seen, seen::local_ssd(4).key).kind = DeviceKind::system;
  seen::device(seen, seen::local_ssd(5).key).content = Content::data;
  const Draft draft = exports(spec, seen);
  CHECK(draft.actions.empty());
  std::vector<std::string> ids;
  for (const Conflict& conflict : draft.conflicts) ids.push_back(conflict.id);
  CHECK(ids == std::vector<std::string>{"guard.signature", "guard.holder", "guard.look_unknown", "guard.content",
                                        "export.no_drive"});
}

TEST_CASE("several hosts cannot share whole drives") {
  Spec spec = pool_spec();
  spec.exports.front().allow.push_back({seen::hostnqn(seen::uuid("0c0c0c0c-1111-4222-8333-444455556666")), std::nullopt});
  Inventory seen = storage(2);
  Draft draft = exports(spec, seen);
  CHECK(draft.actions.empty());
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().id == "export.shared_drive");
  // What runs is left as it is.
  carry_out(seen, exports(pool_spec(), seen).actions.front());
  CHECK(export_withdrawal(spec, seen).actions.empty());
}

TEST_CASE("while the host identity is in question nothing is exported anew, and what the ledger knows still is") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  carry_out(seen, exports(spec, seen).actions.front());
  Inventory cloned = reboot(seen);
  cloned.identity.value().computed = seen::other_host_id();
  seen::blocks(cloned).push_back(seen::local_ssd(9));
  const Draft draft = exports(spec, cloned);
  REQUIRE(draft.actions.size() == 1);
  CHECK(draft.actions.front().gives == std::vector<Fact>{namespace_fact(consumer_nqn(), 1)});
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().id == "export.identity_unsettled");
}

TEST_CASE("a drive of a volume is not exported, and an exported drive is not a member") {
  Spec spec = pool_spec();
  spec.volumes.push_back(seen::volume("scratch", {"local_ssd"}, 2));
  Inventory seen = storage(4);
  const ExportWishes wishes = export_wishes(spec, seen);
  REQUIRE(wishes.drives.size() == 2);
  CHECK(wishes.conflicts.empty());
  seen::records(seen).volumes.push_back({.name = "scratch", .stack = "md", .members = {wishes.drives.front()}});
  CHECK(export_wishes(spec, seen).drives.size() == 3);
}

TEST_CASE("A-62 a ledger entry whose drive is not there yet waits, and the others are served") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  carry_out(seen, exports(spec, seen).actions.front());
  Inventory rebooted = reboot(seen);
  std::erase_if(seen::blocks(rebooted), [](const BlockDevice& device) { return device.key == seen::local_ssd(1).key; });
  const Draft draft = exports(spec, rebooted);
  REQUIRE(draft.actions.size() == 1);
  CHECK(draft.actions.front().gives == std::vector<Fact>{namespace_fact(consumer_nqn(), 2)});
  const Draft ports = export_ports(spec, rebooted);
  REQUIRE(ports.actions.size() == 2);
  for (const Action& action : ports.actions) CHECK(action.risk == Risk::disruptive);
}

TEST_CASE("a subsystem that serves on when the state file was lost is taken into the ledger again") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  carry_out(seen, exports(spec, seen).actions.front());
  const auto before = seen::records(seen).exports;
  seen::records(seen).exports.clear();
  const Draft draft = exports(spec, seen);
  REQUIRE(draft.actions.size() == 1);
  carry_out(seen, draft.actions.front());
  CHECK(seen::records(seen).exports == before);
}

TEST_CASE("the plan is the same whatever order the drives are seen in") {
  const Spec spec = pool_spec();
  const Inventory seen = storage(4);
  Inventory shuffled = seen;
  std::reverse(seen::blocks(shuffled).begin(), seen::blocks(shuffled).end());
  CHECK(exports(spec, seen) == exports(spec, shuffled));
}

TEST_CASE("what cannot be seen is said once, and nothing is exported or withdrawn meanwhile") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  settle(spec, seen);
  seen.exports = Facet<TargetConfiguration>::unavailable("permission denied");
  CHECK(planned(spec, seen).empty());
  REQUIRE(exports(spec, seen).conflicts.size() == 1);
  CHECK(exports(spec, seen).conflicts.front().id == "export.cannot_see");
  Inventory bare = seen::machine();
  bare.exports = Facet<TargetConfiguration>::unavailable("permission denied");
  CHECK(exports(Spec{}, bare) == Draft{});
}

// Proves where subsystems are offered, when, and how they are taken away again. No machine is touched.
#include <algorithm>

#include "agent/model/guard.hpp"
#include "configurators/export_listen.hpp"
#include "configurators/export_names.hpp"
#include "configurators/exports.hpp"
#include "configurators/ip_network.hpp"
#include "tests/configurators/served.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drafts.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using namespace nvstripe::configure;
using namespace nvstripe::served;

TEST_CASE("an export settles in few actions, and then nothing is planned") {
  const Spec spec = pool_spec();
  Inventory seen = storage(4);
  settle(spec, seen);
  CHECK(planned(spec, seen).empty());
  const TargetConfiguration& made = seen.exports.value();
  REQUIRE(made.subsystems.size() == 1);
  CHECK(made.subsystems.front().namespaces.size() == 4);
  CHECK_FALSE(made.subsystems.front().allow_any_host);
  REQUIRE(made.ports.size() == 2);
  for (const TargetPort& port : made.ports) {
    CHECK(port.traddr == "10.9.0.11");
    CHECK(port.adrfam == "ipv4");
    CHECK(port.subsystems == std::vector<std::string>{consumer_nqn()});
    CHECK(is_our_port(port));
  }
}

TEST_CASE("a subsystem is offered only after all its namespaces") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  const Draft early = export_ports(spec, seen);
  REQUIRE(early.actions.size() == 2);
  for (const Action& action : early.actions) {
    CHECK(action.needs == std::vector<Fact>{namespace_fact(consumer_nqn(), 1), namespace_fact(consumer_nqn(), 2)});
    CHECK(std::holds_alternative<Link>(action.steps.back()));
    CHECK(guard::judge(action, spec, seen).id == "");
  }
}

TEST_CASE("every action that settles an export passes the guard and touches nothing foreign") {
  const Spec spec = pool_spec();
  Inventory seen = storage(3);
  seen.exports.value().subsystems.push_back(
      {"nqn.2020-01.org.example:theirs", "s", "Linux", true, {}, {{1, "/dev/vda", "", "", true}}});
  seen.exports.value().ports.push_back({"1", "tcp", "ipv4", "192.0.2.10", "4420", {"nqn.2020-01.org.example:theirs"}});
  const TargetConfiguration before = seen.exports.value();
  for (int round = 0; round < 20; ++round) {
    const auto actions = planned(spec, seen);
    if (actions.empty()) break;
    CHECK(guard::judge(actions.front(), spec, seen) == guard::Veto{});
    carry_out(seen, actions.front());
  }
  CHECK(planned(spec, seen).empty());
  CHECK(seen.exports.value().subsystems.front() == before.subsystems.front());
  CHECK(seen.exports.value().ports.front() == before.ports.front());
}

TEST_CASE("A-62 without the address nothing is offered, it is said, and it is offered once the address is there") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  const auto addresses = seen.links.value()[1].addresses;
  seen.links.value()[1].addresses.clear();
  const Draft draft = export_ports(spec, seen);
  CHECK(draft.actions.empty());
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().id == "export.no_address");
  CHECK(draft.conflicts.front().standing == Standing::waiting);
  seen.links.value()[1].addresses = addresses;
  CHECK(export_ports(spec, seen).actions.size() == 2);
}

TEST_CASE("an address that goes away ends nothing") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  settle(spec, seen);
  seen.links.value()[1].addresses.clear();
  CHECK(planned(spec, seen).empty());
  Spec by_interface = spec;
  by_interface.exports.front().listen = {std::nullopt, "eth1", 4420};
  CHECK(planned(by_interface, seen).empty());
}

TEST_CASE("without an RDMA device on the address TCP serves, and only an export by RDMA alone waits") {
  Spec spec = pool_spec();
  Inventory seen = storage(1);
  seen.rdma.value().front().port_state = "DOWN";
  const Draft draft = export_ports(spec, seen);
  REQUIRE(draft.actions.size() == 1);
  CHECK(written(draft.actions.front(), "addr_trtype") == std::vector<std::string>{"tcp"});
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().id == "export.no_rdma");
  CHECK(draft.conflicts.front().standing == Standing::note);
  spec.exports.front().transports = {"rdma"};
  const Draft alone = export_ports(spec, seen);
  CHECK(alone.actions.empty());
  REQUIRE(alone.conflicts.size() == 1);
  CHECK(alone.conflicts.front().standing == Standing::waiting);
}

TEST_CASE("a foreign port on the same address is refused, not shared") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  seen.exports.value().ports.push_back({"1", "tcp", "ipv4", "0.0.0.0", "4420", {}});
  const Draft draft = export_ports(spec, seen);
  CHECK(draft.actions.size() == 1);
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().id == "export.port_taken");
}

TEST_CASE("a foreign port that has our id makes us take the next one") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  const PortAddress address{"tcp", "10.9.0.11", "4420"};
  const std::string first = *port_id(address, seen.exports.value());
  seen.exports.value().ports.push_back({first, "tcp", "ipv4", "192.0.2.10", "4420", {"nqn.2020-01.org.example:theirs"}});
  const std::string second = *port_id(address, seen.exports.value());
  CHECK(second != first);
  settle(spec, seen);
  CHECK(port_id(address, seen.exports.value()) == second);
}

TEST_CASE("a missing kernel module is named") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  std::erase(seen.kernel.value().modules_loaded, "nvmet_rdma");
  std::erase(seen.kernel.value().modules_available, "nvmet_rdma");
  const Draft draft = export_ports(spec, seen);
  CHECK(draft.actions.size() == 1);
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().why == "this kernel has no module 'nvmet_rdma'");
}

TEST_CASE("A-63 an export that left the spec waits for apply and is taken apart in the order configfs wants") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  settle(spec, seen);
  const Spec empty;
  const Draft draft = export_withdrawal(empty, seen);
  REQUIRE(draft.actions.size() == 1);
  const Action& action = draft.actions.front();
  CHECK(action.risk == Risk::disruptive);
  CHECK(guard::judge(action, empty, seen) == guard::Veto{});
  carry_out(seen, action);  // the stand-in refuses any other order
  CHECK(seen.exports.value().subsystems.empty());
  CHECK(seen.exports.value().hosts.empty());
  settle(empty, seen);
  CHECK(seen.exports.value().ports.empty());
  for (const ExportRecord& record : seen::records(seen).exports) CHECK(record.retired);
  // Named again, the same drives come back under the same ids, and the ledger permits it although they carry data.
  for (BlockDevice& device : seen::blocks(seen)) {
    if (device.kind == DeviceKind::local_ssd)
      seen::put_array_member(device, seen::uuid("deadbeef00112233445566778899aabb"), "nvs-train");
  }
  settle(spec, seen);
  REQUIRE(seen.exports.value().subsystems.size() == 1);
  CHECK(seen.exports.value().subsystems.front().namespaces.size() == 2);
}

TEST_CASE("another host never gets a drive that carries the first host's data") {
  Spec spec = pool_spec();
  Inventory seen = storage(1);
  settle(spec, seen);
  seen::put_array_member(seen::device(seen, seen::local_ssd(1).key), seen::uuid("deadbeef00112233445566778899aabb"),
                         "nvs-train");
  settle(spec, seen);
  spec.exports.front().allow = {{seen::hostnqn(seen::uuid("0c0c0c0c-1111-4222-8333-444455556666")), std::nullopt}};
  const auto conflicts = exports(spec, seen).conflicts;
  REQUIRE(conflicts.size() == 1);
  CHECK(conflicts.front().id == "export.not_withdrawn");
  const Draft withdrawal = export_withdrawal(spec, seen);
  REQUIRE(withdrawal.actions.size() == 1);
  carry_out(seen, withdrawal.actions.front());
  const Draft after = exports(spec, seen);
  CHECK(after.actions.empty());
  CHECK(std::any_of(after.conflicts.begin(), after.conflicts.end(),
                    [](const Conflict& conflict) { return conflict.id == "guard.signature"; }));
}

TEST_CASE("a narrower selector withdraws drives only on apply") {
  Spec spec = pool_spec();
  Inventory seen = storage(2);
  settle(spec, seen);
  spec.exports.front().devices.serials = {"ssd1"};
  const Draft draft = export_withdrawal(spec, seen);
  REQUIRE(draft.actions.size() == 1);
  CHECK(draft.actions.front().risk == Risk::disruptive);
  CHECK(draft.actions.front().steps == std::vector<Step>{Remove{namespace_path(consumer_nqn(), 2)}});
}

TEST_CASE("a host that somebody let in is shut out on apply") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  settle(spec, seen);
  seen.exports.value().subsystems.front().allowed_hosts.push_back("nqn.other");
  const Draft draft = export_withdrawal(spec, seen);
  REQUIRE(draft.actions.size() == 1);
  CHECK(draft.actions.front().risk == Risk::disruptive);
  CHECK(guard::judge(draft.actions.front(), spec, seen) == guard::Veto{});
}

TEST_CASE("addresses lie in networks of their own family only") {
  CHECK(in_network("10.9.0.1", "10.9.0.0/24"));
  CHECK_FALSE(in_network("10.9.1.1", "10.9.0.0/24"));
  CHECK(in_network("10.9.1.1", "10.9.0.0/23"));
  CHECK(in_network("fd00::5", "fd00::/64"));
  CHECK_FALSE(in_network("fd00::5", "0.0.0.0/0"));
  CHECK_FALSE(in_network("10.9.0.1", "10.9.0.0/33"));
  CHECK_FALSE(in_network("10.9.0.1", "10.9.0.0"));
  CHECK_FALSE(in_network("host", "10.9.0.0/24"));
}

TEST_CASE("the plan of a new export, whole drives and slices, is as reviewed") {
  Spec spec = pool_spec();
  const Inventory seen = storage(2);
  CHECK(drafts::golden("export-drives.txt", drafts::all(spec, seen)) == "");
  spec.exports.front().slices = 2;
  CHECK(drafts::golden("export-slices.txt", drafts::all(spec, seen)) == "");
}

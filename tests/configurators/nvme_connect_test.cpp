// Transport, parameters, existing controllers, and what a connection waits for.
#include "configurators/nvme_connect.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/drafts.hpp"
#include "tests/support/seen.hpp"

namespace nvstripe {
namespace {

using configure::choose_transport;
using configure::plan_nvme_connect;

struct World {
  Spec spec;
  Inventory seen = seen::machine();
};

World one_target() {
  World world;
  world.spec.connections = {seen::connection("s1", "10.9.0.1")};
  world.seen.targets.value() = {seen::target("s1", "10.9.0.1")};
  return world;
}

const Connect& connect_of(const Draft& draft) {
  REQUIRE(draft.actions.size() == 1);
  for (const Step& step : draft.actions[0].steps) {
    if (const auto* connect = std::get_if<Connect>(&step)) return *connect;
  }
  FAIL("no connect step");
  std::abort();
}

TEST_CASE("auto takes rdma where a local device is active and the target answers over it, and says so") {
  const World world = one_target();
  const auto choice = choose_transport(world.spec.connections[0], world.seen);
  CHECK(choice.transport == "rdma");
  CHECK(choice.why.find("rxe0") != std::string::npos);
}

TEST_CASE("auto falls back to tcp with the reason why rdma is not to be had") {
  struct Row {
    void (*change)(Inventory&);
    const char* why;
  };
  const Row rows[] = {
      {[](Inventory& seen) { seen.rdma.value().clear(); }, "no RDMA device"},
      {[](Inventory& seen) { seen.rdma.value()[0].port_state = "DOWN"; }, "no RDMA device"},
      {[](Inventory& seen) { seen.rdma.value()[0].roce_v2_addresses = {"192.0.2.10"}; }, "no RDMA device with address"},
      {[](Inventory& seen) {
         std::erase(seen.kernel.value().modules_available, "nvme_rdma");
         std::erase(seen.kernel.value().modules_loaded, "nvme_rdma");
       },
       "no nvme-rdma"},
      {[](Inventory& seen) {
         seen.targets.value()[0].rdma = Reach::unreachable;
         seen.targets.value()[0].rdma_problem = "connection refused";
       },
       "connection refused"},
      {[](Inventory& seen) {
         std::erase_if(seen.targets.value()[0].subsystems, [](const auto& entry) { return entry.transport == "rdma"; });
       },
       "does not offer rdma"},
  };
  for (const Row& row : rows) {
    World world = one_target();
    row.change(world.seen);
    const auto choice = choose_transport(world.spec.connections[0], world.seen);
    CHECK(choice.transport == "tcp");
    CHECK(choice.why.find(row.why) != std::string::npos);
    const Draft draft = plan_nvme_connect(world.spec, world.seen);
    CHECK(connect_of(draft).transport == "tcp");
    CHECK(draft.actions[0].reason.find(row.why) != std::string::npos);
    CHECK(drafts::vetoes(draft, world.spec, world.seen) == "");
  }
}

TEST_CASE("a check of rdma that is under way is waited for instead of taking tcp") {
  World world = one_target();
  world.seen.targets.value()[0].rdma = Reach::checking;
  CHECK(choose_transport(world.spec.connections[0], world.seen).waiting);
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  CHECK(draft.actions.empty());
  CHECK(drafts::conflict_ids(draft) == std::vector<std::string>{"connection.checking"});
}

TEST_CASE("a transport that the spec names is never replaced by the other") {
  World world = one_target();
  world.spec.connections[0].transport = Transport::rdma;
  world.seen.rdma.value().clear();
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  CHECK(draft.actions.empty());
  CHECK(drafts::conflict_ids(draft) == std::vector<std::string>{"connection.unreachable"});
  world = one_target();
  world.spec.connections[0].transport = Transport::tcp;
  CHECK(connect_of(plan_nvme_connect(world.spec, world.seen)).transport == "tcp");
}

TEST_CASE("queues, depth and time-outs fit together and are never one queue") {
  World world = one_target();
  const Connect few = connect_of(plan_nvme_connect(world.spec, world.seen));
  CHECK(few.nr_io_queues == 4);  // CPUs, below the 8 receive queues
  CHECK(few.queue_size == 128);
  CHECK(few.reconnect_delay == 2);
  CHECK(few.keep_alive_tmo == 5);
  CHECK(few.ctrl_loss_tmo == -1);
  CHECK(few.fast_io_fail_tmo == -1);
  CHECK(few.host_traddr == "10.9.0.11");
  CHECK(few.hostnqn == seen::hostnqn());
  CHECK(few.hostid == to_text(seen::host_id()));
  world.seen.kernel.value().cpus = 1;
  CHECK(connect_of(plan_nvme_connect(world.spec, world.seen)).nr_io_queues == 2);
  world.seen.kernel.value().cpus = 128;
  CHECK(connect_of(plan_nvme_connect(world.spec, world.seen)).nr_io_queues == 8);  // the NIC's receive queues
}

TEST_CASE("A-58 many controllers get few queues each and reconnect slowly") {
  World world;
  world.seen.kernel.value().cpus = 128;
  for (unsigned at = 1; at <= 40; ++at) {
    const std::string name = "s" + std::to_string(at), address = "10.9.0." + std::to_string(at + 20);
    world.spec.connections.push_back(seen::connection(name, address));
    world.seen.targets.value().push_back(seen::target(name, address));
  }
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  REQUIRE(draft.actions.size() == 40);
  const auto& connect = std::get<Connect>(draft.actions[0].steps[0]);
  CHECK(connect.nr_io_queues == 4);
  CHECK(connect.queue_size == 32);
  CHECK(connect.reconnect_delay == 10);
}

TEST_CASE("A-49 A-59 a controller that exists, ours or not, is recognised and not made again") {
  World world = one_target();
  for (const std::string host_traddr : {"10.9.0.11", "", "10.9.0.99"}) {
    world.seen.controllers.value() = {seen::controller("nvme7", seen::subsystem_nqn("s1"), "rdma", "10.9.0.1")};
    world.seen.controllers.value()[0].host_traddr = host_traddr;
    CHECK(plan_nvme_connect(world.spec, world.seen) == Draft{});
  }
  // By hand and over tcp: auto keeps it.
  world.seen.controllers.value() = {seen::controller("nvme7", seen::subsystem_nqn("s1"), "tcp", "10.9.0.1")};
  CHECK(plan_nvme_connect(world.spec, world.seen) == Draft{});
  CHECK(choose_transport(world.spec.connections[0], world.seen).transport == "tcp");
}

TEST_CASE("A-50 a controller in any state but dead or deleting is there, and is waited for") {
  for (const std::string state : {"new", "connecting", "resetting"}) {
    World world = one_target();
    world.seen.controllers.value() = {seen::controller("nvme7", seen::subsystem_nqn("s1"), "rdma", "10.9.0.1", state)};
    const Draft draft = plan_nvme_connect(world.spec, world.seen);
    CHECK(draft.actions.empty());
    REQUIRE(drafts::conflict_ids(draft) == std::vector<std::string>{"connection.reconnecting"});
    CHECK(draft.conflicts[0].standing == Standing::waiting);
  }
  World world = one_target();
  world.seen.controllers.value() = {seen::controller("nvme7", seen::subsystem_nqn("s1"), "rdma", "10.9.0.1", "dead")};
  CHECK(plan_nvme_connect(world.spec, world.seen).actions.size() == 1);
}

TEST_CASE("what cannot be reached waits with the target's own words, and delays nobody else") {
  World world = one_target();
  world.spec.connections.push_back(seen::connection("s2", "10.9.0.2"));
  TargetView dead = seen::target("s2", "10.9.0.2");
  dead.tcp = Reach::unreachable;
  dead.rdma = Reach::unreachable;
  dead.tcp_problem = "no route to host";
  dead.rdma_problem = "address not resolved within 2 s";
  dead.discovered = false;
  dead.subsystems.clear();
  world.seen.targets.value().push_back(dead);
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  CHECK(drafts::ids(draft) == std::vector<std::string>{"controller.connect:s1/s1"});
  REQUIRE(drafts::conflict_ids(draft) == std::vector<std::string>{"connection.unreachable"});
  CHECK(draft.conflicts[0].why.find("no route to host") != std::string::npos);
  CHECK(draft.conflicts[0].why.find("not resolved") != std::string::npos);
  CHECK(draft.conflicts[0].object == "connection:s2");
}

TEST_CASE("a target that accepts and goes silent is said to be so") {
  World world = one_target();
  world.seen.targets.value()[0].tcp = Reach::silent;
  world.seen.targets.value()[0].rdma = Reach::silent;
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  CHECK(draft.actions.empty());
  CHECK(drafts::conflict_ids(draft) == std::vector<std::string>{"connection.silent"});
}

TEST_CASE("a target with an earlier problem is marked as a suspect, so that it is connected last") {
  World world = one_target();
  CHECK_FALSE(plan_nvme_connect(world.spec, world.seen).actions.at(0).suspect);
  world.seen.targets.value()[0].problem = "the last connect ended after 15 s";
  CHECK(plan_nvme_connect(world.spec, world.seen).actions.at(0).suspect);
}

TEST_CASE("A-65 a discovery log without subsystems shows the host NQN that the target must allow") {
  World world = one_target();
  world.seen.targets.value()[0].subsystems = {{"nqn.2014-08.org.nvmexpress.discovery", "rdma", "10.9.0.1", "4420"}};
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  CHECK(draft.actions.empty());
  REQUIRE(drafts::conflict_ids(draft) == std::vector<std::string>{"connection.not_allowed"});
  CHECK(draft.conflicts[0].remedy.find(seen::hostnqn()) != std::string::npos);
}

TEST_CASE("a subsystem named in the spec is connected without a discovery log") {
  World world = one_target();
  world.spec.connections[0].subsystem = "nqn.2019-08.com.example:array7";
  world.seen.targets.value()[0].discovered = false;
  world.seen.targets.value()[0].subsystems.clear();
  CHECK(connect_of(plan_nvme_connect(world.spec, world.seen)).nqn == "nqn.2019-08.com.example:array7");
}

TEST_CASE("every subsystem of the log gets one connect, at the address that was reached") {
  World world = one_target();
  world.seen.targets.value()[0] = seen::target("s1", "10.9.0.1", 2);
  world.seen.targets.value()[0].subsystems.push_back({seen::subsystem_nqn("s1"), "rdma", "10.8.0.1", "4420"});
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  REQUIRE(draft.actions.size() == 2);
  for (const Action& action : draft.actions) CHECK(std::get<Connect>(action.steps[0]).traddr == "10.9.0.1");
}

TEST_CASE("A-36 a loop to an export of this host is refused") {
  World world = one_target();
  world.seen.links.value()[1].addresses = {{"10.9.0.1", 24}};
  world.seen.exports.value().subsystems.push_back({seen::subsystem_nqn("s1"), "", "", false, {}, {}});
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  CHECK(draft.actions.empty());
  REQUIRE(drafts::conflict_ids(draft) == std::vector<std::string>{"connection.loop"});
  CHECK(draft.conflicts[0].standing == Standing::refused);
}

TEST_CASE("A-57 without /dev/nvme-fabrics the module is loaded first") {
  World world = one_target();
  world.seen.kernel.value().fabrics_node = false;
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  REQUIRE(draft.actions.size() == 1);
  CHECK(to_sentence(draft.actions[0].steps[0]) == "run modprobe nvme_fabrics");
}

World withdrawn() {
  World world = one_target();
  seen::connect(world.seen, "s2", "10.9.0.2", 2, 21);
  world.seen.controllers.value().push_back(seen::controller("nvme0", seen::subsystem_nqn("s1"), "rdma", "10.9.0.1"));
  seen::records(world.seen).connections = {
      {"s2", seen::subsystem_nqn("s2"), "rdma", "10.9.0.2", "4420", "10.9.0.11", world.seen.identity.value().boot_id}};
  return world;
}

TEST_CASE("a controller of ours whose connection left the spec is disconnected, waiting for apply") {
  const World world = withdrawn();
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  REQUIRE(drafts::ids(draft) == std::vector<std::string>{"controller.disconnect:s2/s2"});
  CHECK(draft.actions[0].risk == Risk::disruptive);
  CHECK(drafts::vetoes(draft, world.spec, world.seen) == "");
}

TEST_CASE("a controller that is in use, not ours, or of an earlier boot is never disconnected") {
  World world = withdrawn();
  world.seen.blocks.value().back().mount_points = {"/mnt/x"};
  CHECK(drafts::conflict_ids(plan_nvme_connect(world.spec, world.seen)) ==
        std::vector<std::string>{"connection.withdrawn_in_use"});
  CHECK(plan_nvme_connect(world.spec, world.seen).actions.empty());
  world = withdrawn();
  seen::records(world.seen).volumes = {{"old", "md", 1, {world.seen.blocks.value().back().key}, Stage::made, "", "", ""}};
  CHECK(plan_nvme_connect(world.spec, world.seen).actions.empty());
  world = withdrawn();
  seen::records(world.seen).connections[0].boot_id = "another boot";
  CHECK(plan_nvme_connect(world.spec, world.seen) == Draft{});
  world = withdrawn();
  world.spec = Spec{};  // emptied
  CHECK(plan_nvme_connect(world.spec, world.seen).actions.empty());
}

TEST_CASE("a connection that only released volumes name stays disconnected") {
  World world = one_target();
  world.spec.volumes = {seen::volume("train", {"s1"}, 2)};
  CHECK(plan_nvme_connect(world.spec, world.seen).actions.size() == 1);
  seen::records(world.seen).holds = {{"volume:train", "release"}};
  CHECK(plan_nvme_connect(world.spec, world.seen) == Draft{});
  world.spec.volumes.push_back(seen::volume("scratch", {"s1"}, 2));
  CHECK(plan_nvme_connect(world.spec, world.seen).actions.size() == 1);
}

TEST_CASE("what cannot be seen is said, and nothing is connected on it") {
  World world = one_target();
  world.seen.controllers = Facet<std::vector<NvmeController>>::unavailable("permission denied");
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  CHECK(draft.actions.empty());
  REQUIRE(drafts::conflict_ids(draft) == std::vector<std::string>{"connection.cannot_see"});
  CHECK(draft.conflicts[0].why.find("permission denied") != std::string::npos);
}

TEST_CASE("a captured machine says that its targets are not probed") {
  World world = one_target();
  world.seen.captured = true;
  world.seen.targets.value().clear();
  const Draft draft = plan_nvme_connect(world.spec, world.seen);
  CHECK(drafts::conflict_ids(draft) == std::vector<std::string>{"connection.not_probed"});
}

}  // namespace
}  // namespace nvstripe

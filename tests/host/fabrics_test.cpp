// Tests of option lines, controllers and the meaning of refused connects.
#include "agent/host/fabrics.hpp"

#include "tests/host/folder.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::host;
using namespace nvstripe::test;

namespace {
Connect step() {
  return {.nqn = "nqn.x",
          .transport = "rdma",
          .traddr = "10.9.0.1",
          .trsvcid = "4420",
          .host_traddr = "10.9.0.2",
          .hostnqn = "nqn.host",
          .hostid = "id",
          .nr_io_queues = 4,
          .queue_size = 128,
          .keep_alive_tmo = 5,
          .reconnect_delay = 2,
          .ctrl_loss_tmo = -1,
          .fast_io_fail_tmo = -1};
}
bool says(const Error& error, std::string_view part) { return error.what.find(part) != std::string::npos; }
}  // namespace

TEST_CASE("the option line names everything, and only what the kernel lists") {
  CHECK(
      option_line(step(), {}) ==
      "transport=rdma,traddr=10.9.0.1,trsvcid=4420,nqn=nqn.x,host_traddr=10.9.0.2,hostnqn=nqn.host,hostid=id,nr_io_queues=4,"
      "queue_size=128,keep_alive_tmo=5,reconnect_delay=2,ctrl_loss_tmo=-1,fast_io_fail_tmo=-1");
  const auto known =
      parse_known_options("instance=-1,cntlid=-1,transport=%s,traddr=%s,trsvcid=%s,nqn=%s,hostnqn=%s,discovery\n");
  CHECK(known.size() == 6);
  CHECK(option_line(step(), known) == "transport=rdma,traddr=10.9.0.1,trsvcid=4420,nqn=nqn.x,hostnqn=nqn.host");
}

TEST_CASE("a discovery controller is asked for without queues and loss policy") {
  auto discovery = step();
  discovery.nqn = kDiscoveryNqn;
  CHECK(option_line(discovery, {}).find("nr_io_queues") == std::string::npos);
  CHECK(option_line(discovery, {}).find("ctrl_loss_tmo") == std::string::npos);
}

TEST_CASE("A-65 a host that is not allowed, a wrong NQN and an unread log are told apart") {
  const auto allowed =
      connect_error(step(), EIO, "nvme nvme1: Connect for subsystem nqn.x is not allowed, hostnqn: nqn.host");
  CHECK(says(allowed, "does not allow this host"));
  CHECK(allowed.remedy.find("nqn.host") != std::string::npos);
  CHECK(says(connect_error(step(), EIO, "nvme nvme1: Connect Invalid Data Parameter, subsysnqn \"nqn.x\""),
             "no subsystem of this name"));
  CHECK(says(connect_error(step(), EIO, ""), "not allowed, or there is no such subsystem"));
}

TEST_CASE("errors of the network are put into words with a remedy each") {
  for (const int code : {ECONNREFUSED, ECONNRESET, ETIMEDOUT, ENETUNREACH, EADDRNOTAVAIL, ENODEV, EINVAL, ENOMEM, EPERM}) {
    const auto error = connect_error(step(), code, "");
    INFO(error.what);
    CHECK(is_errno(error, code));
    CHECK(says(error, "'10.9.0.1:4420' by rdma"));
    CHECK_FALSE(error.remedy.empty());
  }
}

TEST_CASE("A-58 a lack of queue pairs is recognised") {
  CHECK(lacks_resources(ENOMEM, ""));
  CHECK(lacks_resources(ECONNRESET,
                        "nvme nvme3: Connect rejected: status 28 (consumer defined) nvme status 6 (no resources)."));
  CHECK_FALSE(lacks_resources(ECONNRESET, ""));
}

TEST_CASE("A-49 a controller is found by what identifies it, whatever its state and the spelling of its address") {
  const std::vector<NvmeController> all = {{.kernel_name = "nvme0",
                                            .subsystem_nqn = "nqn.x",
                                            .transport = "tcp",
                                            .state = "live",
                                            .traddr = "10.9.0.1",
                                            .trsvcid = "4420"},
                                           {.kernel_name = "nvme1",
                                            .subsystem_nqn = "nqn.x",
                                            .transport = "rdma",
                                            .state = "connecting",
                                            .traddr = "fd00:0::1",
                                            .trsvcid = "4420"}};
  REQUIRE(find_controller(all, "nqn.x", "rdma", "fd00::0:1", "4420") != nullptr);
  CHECK(find_controller(all, "nqn.x", "rdma", "fd00::0:1", "4420")->kernel_name == "nvme1");
  CHECK(find_controller(all, "nqn.x", "rdma", "10.9.0.1", "4420") == nullptr);
  CHECK(find_controller(all, "nqn.x", "tcp", "10.9.0.1", "4421") == nullptr);
}

TEST_CASE("A-59 only the controller that is meant is deleted, and never a PCIe one") {
  const Folder folder;
  const auto make = [&](const std::string& transport, const std::string& address) {
    std::filesystem::create_directories(folder / "nvme3");
    put(folder / "nvme3/subsysnqn", "nqn.x\n");
    put(folder / "nvme3/transport", transport + "\n");
    put(folder / "nvme3/address", address + "\n");
    put(folder / "nvme3/delete_controller", "");
  };
  const DeleteController meant{"nvme3", "nqn.x", "tcp", "10.9.0.1", "4420"};
  make("tcp", "traddr=10.9.0.2,trsvcid=4420");
  CHECK_FALSE(fabrics_delete(meant, folder / "").has_value());
  make("pcie", "0000:00:05.0");
  CHECK_FALSE(fabrics_delete({"nvme3", "nqn.x", "pcie", "", ""}, folder / "").has_value());
  CHECK(get(folder / "nvme3/delete_controller").empty());
  make("tcp", "traddr=10.9.0.1,trsvcid=4420,src_addr=10.9.0.9");
  CHECK(fabrics_delete(meant, folder / "").has_value());
  CHECK(get(folder / "nvme3/delete_controller") == "1");
  CHECK(fabrics_delete({"nvme4", "nqn.x", "tcp", "10.9.0.1", "4420"}, folder / "").has_value());
}

TEST_CASE("A-57 a missing fabrics node names the module") {
  const auto missing = fabrics_connect(step(), "/nonexistent/nvme-fabrics");
  REQUIRE_FALSE(missing.has_value());
  CHECK(missing.error().remedy.find("nvme-fabrics") != std::string::npos);
}

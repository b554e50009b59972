// Owns tests of the pulse: what tells the daemon of changes that no event of the kernel tells of.
#include "agent/daemon/watches.hpp"

#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using daemon::nvme_pulse;

TEST_CASE("The pulse differs with a controller's state, with what nvmet serves, and at the first write to that") {
  const test::Folder root;
  const std::string stat = "sys/class/block/nvme1n1/stat";
  root.write("sys/class/nvme/nvme0/state", "live\n");
  root.write("sys/kernel/config/nvmet/subsystems/nqn.x/namespaces/1/device_path", "/dev/nvme1n1\n");
  root.write("dev/nvme1n1", "");
  root.write(stat, "      52        0     3176       10        0        0        0        0        0       36       10\n");
  CHECK(nvme_pulse(root.path()) == "nqn.x serves /dev/nvme1n1\nnvme0=live\n");
  root.write(stat, "      52        0     3176       10        2        0       16        0        0       36       10\n");
  const std::string written = nvme_pulse(root.path());
  CHECK(written == "/dev/nvme1n1 is written to\nnqn.x serves /dev/nvme1n1\nnvme0=live\n");
  root.write(stat, "      52        0     3176       10       90        0     9000        0        0       36       10\n");
  CHECK(nvme_pulse(root.path()) == written);
  root.write("sys/kernel/config/nvmet/subsystems/nqn.y/namespaces/1/device_path", "/dev/nvme1n1\n");
  CHECK(nvme_pulse(root.path()) != written);
  root.write("sys/class/nvme/nvme0/state", "connecting\n");
  CHECK(nvme_pulse(root.path()).find("nvme0=connecting") != std::string::npos);
}

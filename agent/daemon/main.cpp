// Owns the program's ways in: a child's verb, the two shutdown hooks, or the daemon.
#include <cstdio>
#include <string_view>

#include "agent/daemon/service.hpp"
#include "agent/daemon/shutdown.hpp"
#include "agent/host/child.hpp"

int main(int argc, char** argv) {
  if (const auto status = nvstripe::host::child_main(argc, argv)) return *status;
  const std::string_view asked = argc > 1 ? argv[1] : "";
  if (asked == "--drain") return nvstripe::daemon::drain({});
  if (asked == "--fabric-stop") return nvstripe::daemon::fabric_stop({});
  if (asked == "--version") return std::puts(NVSTRIPE_VERSION) < 0 ? 1 : 0;
  if (!asked.empty()) {
    std::fputs("usage: nvstriped    (no arguments: it is a service and reads /etc/nvstripe)\n", stderr);
    return 64;
  }
  return nvstripe::daemon::serve();
}

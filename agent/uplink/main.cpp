// Owns the program: signals, systemd's readiness, and the pace.
#include <poll.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "agent/api/client.hpp"
#include "agent/base/fd.hpp"
#include "agent/uplink/service.hpp"

namespace {
constexpr int kFollowMs = 5'000;
}

int main(int argc, char** argv) {
  std::string socket = nvstripe::api::kSocketPath;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--version") return std::puts(NVSTRIPE_VERSION) < 0 ? 1 : 0;
    if (!argument.starts_with("--socket=")) {
      std::fputs("usage: nvstripe-uplink    (a service; it asks the agent what to serve)\n", stderr);
      return 64;
    }
    socket = argument.substr(9);
  }
  sigset_t endings;
  sigemptyset(&endings);
  sigaddset(&endings, SIGTERM);
  sigaddset(&endings, SIGINT);
  sigprocmask(SIG_BLOCK, &endings, nullptr);  // before any thread is made
  const nvstripe::Fd ending(::signalfd(-1, &endings, SFD_CLOEXEC));
  nvstripe::uplink::Service service(
      socket, [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); },
      nvstripe::uplink::otlp_settings([](const char* name) { return std::getenv(name); }));
  // Ready before anything is served: nobody at boot shall wait for the agent through the uplink.
  sd_notify(0, "READY=1");
  pollfd waiting{ending.get(), POLLIN, 0};
  do {
    service.follow();
    sd_notify(0, "WATCHDOG=1");
  } while (::poll(&waiting, 1, kFollowMs) == 0);
  sd_notify(0, "STOPPING=1");
  return 0;
}

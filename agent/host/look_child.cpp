// Owns the child's half of looks: one thread a device, so that one that hangs delays nobody, and each answer told at once.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "agent/host/child.hpp"
#include "agent/host/child_verbs.hpp"
#include "agent/host/looker.hpp"

namespace nvstripe::host {
namespace {
// Threads at once: enough that a few dead drives do not stop the rest, few enough for a machine of a thousand namespaces.
constexpr std::size_t kThreads = 64;
}  // namespace

int look_verb(const std::vector<std::string>& arguments) {
  std::atomic<std::size_t> next{0}, told{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < arguments.size(); i = next++) {
      const bool held = arguments[i].starts_with(kHeld);
      const std::string device = arguments[i].substr(held ? kHeld.size() : 0);
      const auto equals = device.find('=');
      const std::string number = device.substr(0, equals);
      const std::string path = equals == std::string::npos ? std::string() : device.substr(equals + 1);
      tell(to_line(number, look_at(path, number, held ? Depth::held : Depth::both)));
      // A thread that hangs in the kernel would keep the process from an orderly end.
      if (++told == arguments.size()) ::_exit(0);
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < std::min(kThreads, arguments.size()); ++i) threads.emplace_back(work);
  for (auto& thread : threads) thread.join();
  return 0;
}

}  // namespace nvstripe::host

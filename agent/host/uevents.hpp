// Owns the kernel's and udev's events as wake-ups: something about drives, controllers or links changed, look again. What
// changed is found out by looking; an event is never a fact.
#pragma once
#include <chrono>
#include <memory>

#include "agent/base/result.hpp"

namespace nvstripe::host {

class Uevents {
 public:
  virtual ~Uevents() = default;
  // Events after udev's rules ran (block, nvme, net, infiniband). Readable: call drain().
  [[nodiscard]] static Result<std::unique_ptr<Uevents>> open();
  [[nodiscard]] virtual int fd() const = 0;
  // Takes all that is queued; true when one of them matters (queue and loop devices of nobody do not).
  [[nodiscard]] virtual bool drain() = 0;
  // Until an event that matters or the end of the time; then collects what follows within a moment, since they come in
  // swarms.
  bool wait(std::chrono::milliseconds most, std::chrono::milliseconds swarm = std::chrono::milliseconds(20));
};

// Whether an event may change what is planned.
[[nodiscard]] bool matters(std::string_view subsystem, std::string_view sysname, std::string_view action);

}  // namespace nvstripe::host

// Owns what happens at machine shutdown, and only then: the stop hooks of nvstripe-drain.service (before the unmounts) and
// nvstripe-fabric.service (after them). When the system is not stopping both do nothing (law 7). Every wait is bounded.
#pragma once
#include <sys/types.h>
#include <functional>
#include <string>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/model/record.hpp"

namespace nvstripe::daemon {

// Work in forked children that may end up asleep in the kernel: they are left behind when the time is over.
class Children {
 public:
  void start(std::string what, const std::function<int()>& work);
  // Waits until all are done or the time is over; returns what is not done.
  [[nodiscard]] std::vector<std::string> wait(int milliseconds);
  void end();  // SIGKILL to what is left: it dies once the kernel lets it
  [[nodiscard]] bool failed(const std::string& what) const;

 private:
  struct Child {
    std::string what;
    pid_t pid = -1;
    bool done = false;
    int status = 0;
  };
  std::vector<Child> children_;
};

struct FabricController {  // of ours, as sysfs shows it now
  std::string kernel_name, transport, traddr, host_traddr, state;
  bool operator==(const FabricController&) const = default;
};

struct ShutdownPlaces {  // other folders in tests
  std::string sys = "/sys", proc = "/proc", state = "/var/lib/nvstripe/state.db";
  std::string lock = "/run/nvstripe/nvstriped.lock";  // held by the daemon while it lives
  std::string scratch = "/run/nvstripe";              // memory: writable when nothing else is
  int daemon_ms = 10'000;                             // it ends itself 8 s after it was told to
};

// The records as they are, also while a daemon that does not end holds the state file, or where that cannot be written.
[[nodiscard]] Result<Records> records_at_shutdown(const ShutdownPlaces& places);

// Controllers that the records of this boot say we made.
[[nodiscard]] std::vector<FabricController> our_controllers(const ShutdownPlaces& places, const Records& records);
// Kernel names of running arrays that are ours by their identity.
[[nodiscard]] std::vector<std::string> our_arrays(const ShutdownPlaces& places, const Records& records);
// Volume groups of ours with an active volume, by the names that device-mapper shows.
[[nodiscard]] std::vector<std::string> our_groups(const ShutdownPlaces& places, const Records& records);
// Mount points of our volumes that are mounted now.
[[nodiscard]] std::vector<std::string> our_mounts(const ShutdownPlaces& places, const Records& records);

[[nodiscard]] int drain(const ShutdownPlaces& places);
[[nodiscard]] int fabric_stop(const ShutdownPlaces& places);

}  // namespace nvstripe::daemon

// Owns starting a process: own group, fixed environment, chosen descriptors, nothing else inherited; and children left
// behind.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "agent/base/fd.hpp"
#include "agent/base/result.hpp"

namespace nvstripe::host {

struct Streams {
  int in = -1, out = -1, err = -1;  // -1: /dev/null
};
[[nodiscard]] Result<pid_t> spawn_program(const std::string& path, const std::vector<std::string>& argv,
                                          const Streams& streams);
[[nodiscard]] Fd open_pidfd(pid_t pid);

// A child that did not die of SIGKILL sleeps in the kernel. It is asked for again, without waiting, by reap_abandoned().
void abandon(pid_t pid);
void reap_abandoned();

}  // namespace nvstripe::host

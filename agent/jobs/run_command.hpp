// Owns how a user's command becomes a transient unit. The unit's own environment and folder stay empty: what ends the unit
// runs as root and would inherit them, with all that LD_PRELOAD or a dead mount can do there. The command gets both by
// env(1), as its user.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/result.hpp"

namespace nvstripe::jobs {

struct JobRun {
  std::string id, name;           // id: empty, one is drawn
  std::vector<std::string> argv;  // argv[0]: an absolute path
  std::string directory;          // absolute; empty: /
  std::vector<std::pair<std::string, std::string>> environment;
  bool operator==(const JobRun&) const = default;
};

struct RunAs {
  std::uint32_t uid = 0, gid = 0;
};

[[nodiscard]] Result<> check_run(const JobRun& run);
[[nodiscard]] std::string unit_of(std::string_view id);  // "nvstripe-job-ID.service"
[[nodiscard]] std::vector<std::string> run_argv(const JobRun& run, RunAs as);

}  // namespace nvstripe::jobs

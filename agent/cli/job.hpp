// Owns what `nvstripe job` is given, and its commands.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/cli/context.hpp"
#include "agent/jobs/lifecycle.hpp"

namespace nvstripe::cli {

struct JobWords {
  std::string id, name, result, signal, source;
  std::optional<unsigned> exit_status;
  std::optional<double> utilization;
  bool proxy = false, from_unit = false, from_slurm = false;
  std::vector<std::string> command, environment;  // environment: NAME or NAME=VALUE
};

int job_run(const Context& context, const JobWords& given);
int job_start(const Context& context, const JobWords& given);
int job_heartbeat(const Context& context, const JobWords& given);
int job_report(const Context& context, const JobWords& given);
int job_end(const Context& context, const JobWords& given);
int job_list(const Context& context);

// What is told of an end: from options, a unit's environment or Slurm's.
[[nodiscard]] Result<jobs::JobEnd> end_of(const JobWords& given, const jobs::Environment& environment);
[[nodiscard]] Result<jobs::JobStart> start_of(const JobWords& given, const jobs::Environment& environment);
// Leaves the end as a file for an agent that is away: whole and on disk, or not at all.
[[nodiscard]] Result<> leave_report(const std::string& folder, const jobs::JobEnd& end);
// The exit status that a shell would give: 128 and the signal for one that was signalled; nothing where it is not known.
[[nodiscard]] std::optional<int> shell_status(const boost::json::value& job);

}  // namespace nvstripe::cli

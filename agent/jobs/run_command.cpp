// Owns the argument vector of systemd-run.
#include "agent/jobs/run_command.hpp"

#include <algorithm>

#include "agent/base/text.hpp"

namespace nvstripe::jobs {
namespace {

constexpr std::size_t kMaxArguments = 1024, kMaxVariables = 256, kMaxBytes = 96 * 1024;

bool valid_variable(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto allowed = [&](char c) { return letter(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && letter(name.front()) && std::all_of(name.begin(), name.end(), allowed);
}

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// systemd replaces $NAME in the arguments of a unit by its own environment, and $$ by one $.
std::string literal(std::string_view argument) {
  std::string out;
  for (const char c : argument) out.append(c == '$' ? 2 : 1, c);
  return out;
}

}  // namespace

Result<> check_run(const JobRun& run) {
  if (run.argv.empty() || !run.argv.front().starts_with('/'))
    return fail("the job's command is no absolute path", "send {\"argv\": [\"/usr/bin/python3\", \"train.py\"]}");
  if (run.argv.front().find('=') != std::string::npos)
    return fail("the path of the job's command has a '='", "call it through a link without one");
  if (!run.directory.empty() && !run.directory.starts_with('/'))
    return fail("the job's folder '" + printable(run.directory) + "' is no absolute path");
  std::size_t bytes = run.directory.size();
  bool odd = has_nul(run.directory);
  for (const std::string& argument : run.argv) {
    bytes += argument.size();
    odd = odd || has_nul(argument);
  }
  for (const auto& [name, value] : run.environment) {
    if (!valid_variable(name)) return fail("'" + printable(name) + "' is no name of an environment variable");
    bytes += name.size() + value.size();
    odd = odd || has_nul(value);
  }
  if (odd) return fail("the job's command has a NUL byte");
  if (run.argv.size() > kMaxArguments || run.environment.size() > kMaxVariables || bytes > kMaxBytes)
    return fail("the job's command and environment are too long", "put them into a script and run that");
  return {};
}

std::string unit_of(std::string_view id) { return "nvstripe-job-" + std::string(id) + ".service"; }

std::vector<std::string> run_argv(const JobRun& run, RunAs as) {
  std::vector<std::string> argv{"systemd-run",
                                "--no-block",
                                "--collect",
                                "--quiet",
                                "--unit=" + unit_of(run.id),
                                "--description=nvstripe job " + run.id,
                                "--uid=" + std::to_string(as.uid),
                                "--gid=" + std::to_string(as.gid),
                                "--property=ExecStopPost=+/usr/bin/nvstripe job end --from-unit --source=run --id=" + run.id,
                                "--",
                                "/usr/bin/env",
                                "--chdir=" + literal(run.directory.empty() ? "/" : run.directory)};
  for (const auto& [name, value] : run.environment) argv.push_back(name + "=" + literal(value));
  argv.push_back("NVSTRIPE_JOB_ID=" + run.id);
  for (const std::string& argument : run.argv) argv.push_back(literal(argument));
  return argv;
}

}  // namespace nvstripe::jobs

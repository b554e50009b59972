// Tests how the end of a job is read from systemd's and Slurm's variables: right, or unknown.
#include "agent/jobs/ending.hpp"

#include <map>

#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::jobs;

namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Environment environment(const Variables& variables) {
  return [&variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

Variables unit(const std::string& result, const std::string& code, const std::string& status) {
  return {{"SERVICE_RESULT", result}, {"EXIT_CODE", code}, {"EXIT_STATUS", status}};
}

struct Case {
  const char* name;
  Variables variables;
  Ending expected;
};

}  // namespace

TEST_CASE("what systemd says of a unit's end is read as it is meant") {
  const Case cases[] = {
      {"fine", unit("success", "exited", "0"), {JobResult::success, "", 0, ""}},
      {"a status that the unit takes for success", unit("success", "exited", "3"), {JobResult::success, "", 3, ""}},
      {"failed", unit("exit-code", "exited", "1"), {JobResult::failed, "", 1, ""}},
      {"not executable", unit("exit-code", "exited", "203"), {JobResult::failed, "", 203, ""}},
      {"stopped by the operator", unit("success", "killed", "TERM"), {JobResult::signalled, "stopped", {}, "TERM"}},
      {"killed", unit("signal", "killed", "KILL"), {JobResult::signalled, "", {}, "KILL"}},
      {"core dump", unit("core-dump", "dumped", "SEGV"), {JobResult::signalled, "core-dump", {}, "SEGV"}},
      {"timeout", unit("timeout", "killed", "TERM"), {JobResult::timeout, "", {}, "TERM"}},
      {"timeout, in order at last", unit("timeout", "exited", "0"), {JobResult::timeout, "", 0, ""}},
      {"watchdog", unit("watchdog", "dumped", "ABRT"), {JobResult::timeout, "watchdog", {}, "ABRT"}},
      {"out of memory", unit("oom-kill", "killed", "KILL"), {JobResult::oom, "", {}, "KILL"}},
      {"out of memory, main process ended itself", unit("oom-kill", "exited", "1"), {JobResult::oom, "", 1, ""}},
      {"a real-time signal", unit("signal", "killed", "RTMIN+2"), {JobResult::signalled, "", {}, "RTMIN+2"}},
      {"other results", unit("resources", "", ""), {JobResult::failed, "resources", {}, ""}},
  };
  for (const Case& one : cases) {
    INFO(one.name);
    CHECK(unit_ending(environment(one.variables)) == one.expected);
  }
}

TEST_CASE("what systemd does not say is unknown") {
  const Ending unknown;
  const Case cases[] = {
      {"nothing", {}, unknown},
      {"no result", {{"EXIT_CODE", "exited"}, {"EXIT_STATUS", "0"}}, unknown},
      {"an empty result", unit("", "exited", "0"), unknown},
      {"success without a code", {{"SERVICE_RESULT", "success"}}, unknown},
      {"success without a status", {{"SERVICE_RESULT", "success"}, {"EXIT_CODE", "exited"}}, unknown},
      {"success of a status that is none", unit("success", "exited", "TERM"), unknown},
      {"success of a signal that is none", unit("success", "killed", "0"), unknown},
      {"failed, status missing", {{"SERVICE_RESULT", "exit-code"}}, {JobResult::failed, "", {}, ""}},
      {"failed, status too large", unit("exit-code", "exited", "256"), {JobResult::failed, "", {}, ""}},
      {"timeout alone", {{"SERVICE_RESULT", "timeout"}}, {JobResult::timeout, "", {}, ""}},
      {"a signal that is not known", unit("signal", "killed", "FOO"), {JobResult::signalled, "", {}, ""}},
  };
  for (const Case& one : cases) {
    INFO(one.name);
    CHECK(unit_ending(environment(one.variables)) == one.expected);
  }
}

TEST_CASE("what Slurm says of a job's end is read, the clearer form first") {
  const Case cases[] = {
      {"fine", {{"SLURM_JOB_EXIT_CODE2", "0:0"}}, {JobResult::success, "", 0, ""}},
      {"failed", {{"SLURM_JOB_EXIT_CODE2", "7:0"}}, {JobResult::failed, "", 7, ""}},
      {"cancelled", {{"SLURM_JOB_EXIT_CODE2", "0:15"}}, {JobResult::signalled, "", {}, "TERM"}},
      {"wait status, fine", {{"SLURM_JOB_EXIT_CODE", "0"}}, {JobResult::success, "", 0, ""}},
      {"wait status, failed", {{"SLURM_JOB_EXIT_CODE", "256"}}, {JobResult::failed, "", 1, ""}},
      {"wait status, killed", {{"SLURM_JOB_EXIT_CODE", "9"}}, {JobResult::signalled, "", {}, "KILL"}},
      {"wait status, core dumped", {{"SLURM_JOB_EXIT_CODE", "139"}}, {JobResult::signalled, "", {}, "SEGV"}},
      {"both", {{"SLURM_JOB_EXIT_CODE", "0"}, {"SLURM_JOB_EXIT_CODE2", "2:0"}}, {JobResult::failed, "", 2, ""}},
      {"the clearer one broken",
       {{"SLURM_JOB_EXIT_CODE", "0"}, {"SLURM_JOB_EXIT_CODE2", "x"}},
       {JobResult::success, "", 0, ""}},
      {"nothing", {}, {}},
      {"no number", {{"SLURM_JOB_EXIT_CODE", "-1"}}, {}},
      {"stopped, not ended", {{"SLURM_JOB_EXIT_CODE", "127"}}, {}},
      {"a signal that is none", {{"SLURM_JOB_EXIT_CODE2", "0:99"}}, {}},
  };
  for (const Case& one : cases) {
    INFO(one.name);
    CHECK(slurm_ending(environment(one.variables)) == one.expected);
  }
}

TEST_CASE("names and numbers of signals are each other's inverse") {
  for (unsigned number = 1; number <= 64; ++number) {
    const std::string name = signal_name(number);
    if (name.empty()) continue;
    CHECK(signal_number(name) == number);
    CHECK(signal_number("SIG" + name) == number);
  }
  CHECK(signal_number("TERM") == 15u);
  CHECK_FALSE(signal_number(""));
  CHECK_FALSE(signal_number("9"));
}

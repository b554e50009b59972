// Owns the tables of systemd's service results and of wait statuses.
#include "agent/jobs/ending.hpp"

#include <sys/wait.h>

#include <csignal>
#include <cstring>

#include "agent/base/text.hpp"

namespace nvstripe::jobs {
namespace {

constexpr unsigned kLastStandardSignal = 31;

// A service whose main process died of one of these was stopped in order, for systemd: SERVICE_RESULT stays "success".
// The job did not reach its end all the same.
Ending clean_ending(const std::string& code, const Ending& seen) {
  Ending ending = seen;
  if (code == "exited" && seen.exit_status) ending.result = JobResult::success;
  if (code == "killed" && !seen.signal.empty()) {
    ending.result = JobResult::signalled;
    ending.reason = "stopped";
  }
  return ending;
}

Ending exit_or_signal(std::uint64_t exit_status, std::uint64_t signal) {
  if (signal != 0) {
    const std::string name = signal <= 64 ? signal_name(static_cast<unsigned>(signal)) : std::string();
    if (name.empty()) return {};
    return {JobResult::signalled, {}, {}, name};
  }
  return exit_status <= 255 ? exit_ending(static_cast<std::uint32_t>(exit_status)) : Ending{};
}

}  // namespace

std::string signal_name(unsigned number) {
  if (number == 0) return {};
  if (number <= kLastStandardSignal) {
    const char* name = ::sigabbrev_np(static_cast<int>(number));
    return name == nullptr ? std::string() : std::string(name);
  }
  const auto first = static_cast<unsigned>(SIGRTMIN);
  if (number < first || number > static_cast<unsigned>(SIGRTMAX)) return {};
  return "RTMIN+" + std::to_string(number - first);
}

std::optional<unsigned> signal_number(std::string_view name) {
  if (name.starts_with("SIG")) name.remove_prefix(3);
  if (name == "RTMIN") return static_cast<unsigned>(SIGRTMIN);
  for (unsigned number = 1; number <= static_cast<unsigned>(SIGRTMAX); ++number)
    if (const std::string known = signal_name(number); !known.empty() && known == name) return number;
  return {};
}

Ending exit_ending(std::uint32_t exit_status) {
  return {exit_status == 0 ? JobResult::success : JobResult::failed, {}, exit_status, {}};
}

Ending unit_ending(const Environment& environment) {
  const auto result = environment("SERVICE_RESULT");
  if (!result || result->empty()) return {};
  const std::string code = environment("EXIT_CODE").value_or("");
  const std::string status = environment("EXIT_STATUS").value_or("");
  Ending seen;
  if (code == "exited") {
    if (const auto number = parse_number(status); number && *number <= 255)
      seen.exit_status = static_cast<std::uint32_t>(*number);
  }
  if (code == "killed" || code == "dumped") {
    if (const auto number = signal_number(status)) seen.signal = signal_name(*number);
  }
  if (*result == "success") return clean_ending(code, seen);
  if (*result == "exit-code") {
    seen.result = JobResult::failed;
  } else if (*result == "signal") {
    seen.result = JobResult::signalled;
  } else if (*result == "core-dump") {
    seen.result = JobResult::signalled;
    seen.reason = "core-dump";
  } else if (*result == "timeout") {
    seen.result = JobResult::timeout;
  } else if (*result == "watchdog") {
    seen.result = JobResult::timeout;
    seen.reason = "watchdog";
  } else if (*result == "oom-kill") {
    seen.result = JobResult::oom;
  } else {  // protocol, resources, start-limit-hit, exec-condition, and what later versions add: none is a success
    seen.result = JobResult::failed;
    seen.reason = printable(result->substr(0, 64));
  }
  return seen;
}

Ending slurm_ending(const Environment& environment) {
  if (const auto both = environment("SLURM_JOB_EXIT_CODE2")) {
    const auto parts = split(*both, ':');
    const auto exit_status = parse_number(parts.front());
    const auto signal = parts.size() == 2 ? parse_number(parts[1]) : std::nullopt;
    if (exit_status && signal) return exit_or_signal(*exit_status, *signal);
  }
  const auto text = environment("SLURM_JOB_EXIT_CODE");
  const auto number = text ? parse_number(*text) : std::nullopt;
  if (!number || *number > 0xffff) return {};
  const int status = static_cast<int>(*number);
  if (WIFEXITED(status)) return exit_or_signal(static_cast<std::uint64_t>(WEXITSTATUS(status)), 0);
  if (WIFSIGNALED(status)) return exit_or_signal(0, static_cast<std::uint64_t>(WTERMSIG(status)));
  return {};
}

std::optional<std::uint64_t> epoch_ms(std::string_view seconds) {
  constexpr std::uint64_t kLatest = 100'000'000'000;  // some thousand years on; also keeps the product in range
  const auto number = parse_number(seconds);
  if (!number || *number == 0 || *number > kLatest) return {};
  return *number * 1000;
}

}  // namespace nvstripe::jobs

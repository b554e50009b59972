// Owns how the end of a job is read from what systemd and Slurm say of it. What they do not say is unknown, never guessed.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "agent/model/record.hpp"

namespace nvstripe::jobs {

struct Ending {
  JobResult result = JobResult::unknown;
  std::string reason;  // a word more: "stopped", "watchdog", "reboot"; empty: the result says all
  std::optional<std::uint32_t> exit_status;
  std::string signal;  // without SIG: "TERM"
  bool operator==(const Ending&) const = default;
};

using Environment = std::function<std::optional<std::string>(std::string_view name)>;  // nothing: it is not set

// SERVICE_RESULT, EXIT_CODE and EXIT_STATUS, as ExecStopPost= is given them (systemd.exec(5)).
[[nodiscard]] Ending unit_ending(const Environment& environment);
// SLURM_JOB_EXIT_CODE2 ("exit:signal") or SLURM_JOB_EXIT_CODE (as wait(2) has it), as an epilog is given them.
[[nodiscard]] Ending slurm_ending(const Environment& environment);
// What a shell's $? is worth: 0 is success, all else failed.
[[nodiscard]] Ending exit_ending(std::uint32_t exit_status);

[[nodiscard]] std::string signal_name(unsigned number);                         // "TERM"; empty: there is none
[[nodiscard]] std::optional<unsigned> signal_number(std::string_view name);     // nothing: there is none
[[nodiscard]] std::optional<std::uint64_t> epoch_ms(std::string_view seconds);  // "1767225600", as Slurm gives times

}  // namespace nvstripe::jobs

// Owns running one program to its end or its deadline: no shell, own process group, a fixed environment, bounded output.
// It must never wait without bound: a child in uninterruptible sleep is abandoned, and said so.
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"

namespace nvstripe::host {

// Enough for the longest report we read (lvm's JSON of a thousand volumes); what is beyond it is dropped and said.
inline constexpr std::size_t kMaxOutputBytes = 4u << 20;
// Between SIGTERM and SIGKILL, and again between SIGKILL and giving the child up.
inline constexpr std::chrono::milliseconds kGrace{1500};

struct Command {
  std::vector<std::string> argv;  // argv[0]: a name from tools.hpp, or an absolute path
  std::chrono::milliseconds deadline{60'000};
  std::size_t max_output = kMaxOutputBytes;
  std::chrono::milliseconds grace = kGrace;
  // Children of ourselves are not given SIGTERM first: they hold nothing that wants an orderly end.
  bool kill_at_once = false;
  // Readable: the command is ended as at its deadline; -1: none.
  int cancel_fd = -1;
  // Told each whole line of standard output as it comes; the text is collected in `out` all the same.
  std::function<void(std::string_view line)> on_line;
};

struct CommandResult {
  int exit_status = -1;  // -1: ended by a signal, timed out or was abandoned
  int signal = 0;
  bool timed_out = false;  // the deadline came first
  bool abandoned = false;  // it did not die of SIGKILL in time: it sleeps in the kernel and is left behind
  bool truncated = false;  // more output than max_output
  std::string out, err;
};

// The seam: the machine runs programs, tests replay a tape (tape.hpp).
class Runner {
 public:
  virtual ~Runner() = default;
  // An error only when the program could not be started; ENOENT when it is not installed.
  [[nodiscard]] virtual Result<CommandResult> run(const Command& command) = 0;
};

[[nodiscard]] Result<CommandResult> run_command(const Command& command);
[[nodiscard]] Runner& live_runner();

}  // namespace nvstripe::host

// Owns recorded programs: a Runner that answers from a text instead of starting anything. A call that is not the next one
// on the tape fails, and so does an entry that was not used. Format of a tape:
//   > ["mdadm","--stop","/dev/md/x"]     the argument vector, one JSON array
//   = 0                                  exit status, "timeout" or "missing" (not installed)
//   | text                               standard output, a line each
//   ! text                               standard error, a line each
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/host/command.hpp"

namespace nvstripe::host {

struct TapeEntry {
  std::vector<std::string> argv;
  bool missing = false;
  CommandResult result;
};

[[nodiscard]] Result<std::vector<TapeEntry>> parse_tape(std::string_view text);
[[nodiscard]] std::string to_tape(const TapeEntry& entry);

class TapeRunner : public Runner {
 public:
  explicit TapeRunner(std::vector<TapeEntry> entries) : entries_(std::move(entries)) {}
  [[nodiscard]] Result<CommandResult> run(const Command& command) override;
  // Empty when every entry was used and every call was on the tape; else the first thing that was wrong.
  [[nodiscard]] std::string complaint() const;

 private:
  std::vector<TapeEntry> entries_;
  std::size_t next_ = 0;
  std::string unknown_;
};

// Runs another runner and keeps what was said, for support bundles and for making tapes.
class RecordingRunner : public Runner {
 public:
  explicit RecordingRunner(Runner& real) : real_(real) {}
  [[nodiscard]] Result<CommandResult> run(const Command& command) override;
  [[nodiscard]] const std::string& tape() const { return tape_; }

 private:
  Runner& real_;
  std::string tape_;
};

}  // namespace nvstripe::host

// Owns the list of every external program: where it may lie, why we call it, what its messages mean; and the list of the
// read-only calls that Reader::output may make. A program that is not in the list is never started.
#pragma once
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/host/command.hpp"

namespace nvstripe::host {

struct Tool {
  std::string_view name;     // "mdadm"; lvm's subcommands are programs of their own
  std::string_view package;  // Debian's, for the remedy when it is missing
  std::string_view why;
};
[[nodiscard]] std::span<const Tool> all_tools();
[[nodiscard]] const Tool* find_tool(std::string_view name);
// Absolute path, looked up in kToolFolders; ENOENT with the package to install as remedy.
[[nodiscard]] Result<std::string> tool_path(std::string_view name);
inline constexpr std::string_view kToolFolders[] = {"/usr/sbin", "/usr/bin", "/sbin", "/bin"};

// A call that only reads, by the name that Reader::output and the folder cmd/ of a captured machine use.
struct Reading {
  std::string_view name;  // "lvm.vgs"
  std::vector<std::string> argv;
  std::chrono::milliseconds deadline{10'000};
};
[[nodiscard]] std::span<const Reading> all_readings();
[[nodiscard]] const Reading* find_reading(std::string_view name);
// Runs it, narrowed to these devices (paths) where there are any; standard output, or an error. A stop at the deadline and a
// non-zero exit are errors. Bound to live_runner() it is what live_reader() takes.
[[nodiscard]] Result<std::string> read_output(Runner& runner, std::string_view name,
                                              const std::vector<std::string>& devices = {});

// Standard error without the lines that are known to mean nothing: notes, progress, adjusted log stripe units.
[[nodiscard]] std::string without_benign(std::string_view tool, std::string_view text);
// Why the program failed and what to do, from its exit and messages; known messages are mapped.
[[nodiscard]] Error explain(const std::vector<std::string>& argv, const CommandResult& result);

}  // namespace nvstripe::host

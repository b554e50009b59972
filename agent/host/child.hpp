// Owns the verbs of `nvstriped --child <verb> …`: blocking work in processes that can be abandoned. Results come as one JSON
// object a line. A child touches nothing of the daemon's state and never outlives its own alarm by much.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/host/command.hpp"

namespace nvstripe::host {

inline constexpr std::string_view kChildFlag = "--child";

// When the arguments ask for a child's verb: does it and gives the exit status. The daemon's main calls this first.
[[nodiscard]] std::optional<int> child_main(int argc, char** argv);

// The program that is running, as a child with a verb. `deadline` also sets the child's own alarm a little later, so that
// it ends even when we are gone.
[[nodiscard]] std::vector<std::string> child_argv(std::string_view verb, std::chrono::milliseconds deadline,
                                                  const std::vector<std::string>& arguments);
[[nodiscard]] Command child_command(std::string_view verb, std::chrono::milliseconds deadline,
                                    const std::vector<std::string>& arguments);

// In a child: answers each question by a line of its own, in threads, so that one that hangs delays nobody. Gives the
// child's exit status.
[[nodiscard]] int answer_each(const std::vector<std::string>& questions,
                              const std::function<std::string(const std::string&)>& answer);

// One line of JSON to standard output, at once. Safe to call from several threads.
void tell(const std::string& json_line);

}  // namespace nvstripe::host

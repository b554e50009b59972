// Owns what every command is given and how it speaks with the agent: output format, colour, socket, exit codes.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include <boost/json.hpp>

#include "agent/api/client.hpp"
#include "agent/base/result.hpp"

namespace nvstripe::cli {

// Design's exit codes: scripts depend on them.
inline constexpr int kFine = 0, kFailed = 1, kConflicts = 2, kPending = 3, kNotPermitted = 4, kNotReachable = 5, kUsage = 64;

enum class Format { table, json, yaml };

struct Context {
  Format format = Format::table;
  bool colour = false;    // standard output is a terminal and NO_COLOR is not set
  bool terminal = false;  // progress may rewrite its line
  std::string socket;
};

// Prints the document for programs and answers true, or answers false: the caller prints a table.
[[nodiscard]] bool print_document(const Context& context, const boost::json::value& document);
// "nvstripe: WHAT" and the remedy on standard error; returns `code`.
int complain(const Context& context, const Error& error, int code);

struct Reply {
  boost::json::value document;
  int exit_code = kFine;  // not kFine: it was complained about already
};
[[nodiscard]] Reply ask(const Context& context, const std::string& method, const std::string& target,
                        const std::string& body = {});
// What an answer that came means; `ask` is an exchange and this.
[[nodiscard]] Reply reply_of(const Context& context, const api::Answer& answer);
// Posts a request, follows its progress (printing each action's sentence as it is done) and returns its last state.
[[nodiscard]] Reply carry_through(const Context& context, const std::string& target, const std::string& body,
                                  bool show_lines);

// Field access for answers of the agent: an absent field reads as empty.
[[nodiscard]] std::string text_of(const boost::json::value& value, std::string_view name);
[[nodiscard]] std::uint64_t number_of(const boost::json::value& value, std::string_view name);
[[nodiscard]] bool flag_of(const boost::json::value& value, std::string_view name);
[[nodiscard]] const boost::json::array& list_of(const boost::json::value& value, std::string_view name);

}  // namespace nvstripe::cli

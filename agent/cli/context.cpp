// Owns the exchange with the agent and the mapping of its answers to exit codes.
#include "agent/cli/context.hpp"

#include <poll.h>

#include <cstdio>

#include <fmt/core.h>

#include "agent/api/client.hpp"
#include "agent/cli/table.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::cli {
namespace {

constexpr int kPollMs = 150;

Reply refused(const Context& context, const api::Answer& answer, boost::json::value document) {
  Error error{"the agent answered with status " + std::to_string(answer.status), "'journalctl -u nvstriped' says more", {}};
  if (document.is_object())
    if (const auto* inner = document.as_object().if_contains("error")) {
      error.what = text_of(*inner, "what");
      error.remedy = text_of(*inner, "remedy");
    }
  const int code = answer.status == 403 ? kNotPermitted : kFailed;
  return {std::move(document), complain(context, error, code)};
}

void show(const Context& context, const boost::json::value& line) {
  const std::string error = text_of(line, "error");
  if (error.empty()) {
    fmt::print("{} {}\n", paint(context, Colour::good, "done:"), text_of(line, "sentence"));
  } else {
    fmt::print("{} {}\n  {}\n", paint(context, Colour::bad, "failed:"), text_of(line, "sentence"), error);
    if (const std::string remedy = text_of(line, "remedy"); !remedy.empty()) fmt::print("  remedy: {}\n", remedy);
  }
  std::fflush(stdout);
}

void show_open(const Context& context, const boost::json::array& lines, bool open) {
  if (!context.terminal) return;
  fmt::print("\r\033[K");
  if (open && !lines.empty()) fmt::print("... {}", text_of(lines.back(), "sentence"));
  std::fflush(stdout);
}

}  // namespace

bool print_document(const Context& context, const boost::json::value& document) {
  if (context.format == Format::json) fmt::print("{}", json::pretty_text(document));
  if (context.format == Format::yaml) fmt::print("{}", json::yaml_text(document));
  return context.format != Format::table;
}

int complain(const Context& context, const Error& error, int code) {
  (void)context;
  fmt::print(stderr, "nvstripe: {}\n", error.what);
  if (!error.remedy.empty()) fmt::print(stderr, "remedy: {}\n", error.remedy);
  return code;
}

Reply ask(const Context& context, const std::string& method, const std::string& target, const std::string& body) {
  const auto answer = api::exchange(context.socket, method, target, body);
  if (!answer)
    return {nullptr, complain(context, answer.error(), is_errno(answer.error(), EACCES) ? kNotPermitted : kNotReachable)};
  return reply_of(context, *answer);
}

Reply reply_of(const Context& context, const api::Answer& answer) {
  auto document = json::parse(answer.body);
  if (!document) return {nullptr, complain(context, document.error(), kFailed)};
  if (answer.status >= 300) return refused(context, answer, std::move(*document));
  return {std::move(*document), kFine};
}

Reply carry_through(const Context& context, const std::string& target, const std::string& body, bool show_lines) {
  const Reply begun = ask(context, "POST", target, body);
  if (begun.exit_code != kFine) return begun;
  const std::string progress = "/v1/requests/" + std::to_string(number_of(begun.document, "request"));
  const bool talk = show_lines && context.format == Format::table;
  std::size_t shown = 0;
  for (;;) {
    Reply reply = ask(context, "GET", progress);
    if (reply.exit_code != kFine) return reply;
    const auto& lines = list_of(reply.document, "lines");
    const std::string state = text_of(reply.document, "state");
    const bool open = flag_of(reply.document, "last_line_open");
    if (talk) {
      if (shown < lines.size() && context.terminal) fmt::print("\r\033[K");
      for (; shown + (open ? 1 : 0) < lines.size(); ++shown) show(context, lines[shown]);
      show_open(context, lines, open);
    }
    if (state == "failed") {
      const Error error{text_of(reply.document, "error"), text_of(reply.document, "remedy"), {}};
      reply.exit_code = complain(context, error, kFailed);
    }
    if (state == "failed" || state == "done") return reply;
    ::poll(nullptr, 0, kPollMs);
  }
}

std::string text_of(const boost::json::value& value, std::string_view name) {
  const auto* field = value.is_object() ? value.as_object().if_contains(name) : nullptr;
  return field != nullptr && field->is_string() ? std::string(field->as_string()) : std::string();
}

std::uint64_t number_of(const boost::json::value& value, std::string_view name) {
  const auto* field = value.is_object() ? value.as_object().if_contains(name) : nullptr;
  if (field == nullptr) return 0;
  if (field->is_uint64()) return field->as_uint64();
  return field->is_int64() && field->as_int64() > 0 ? static_cast<std::uint64_t>(field->as_int64()) : 0;
}

bool flag_of(const boost::json::value& value, std::string_view name) {
  const auto* field = value.is_object() ? value.as_object().if_contains(name) : nullptr;
  return field != nullptr && field->is_bool() && field->as_bool();
}

const boost::json::array& list_of(const boost::json::value& value, std::string_view name) {
  static const boost::json::array kNone;
  const auto* field = value.is_object() ? value.as_object().if_contains(name) : nullptr;
  return field != nullptr && field->is_array() ? field->as_array() : kNone;
}

}  // namespace nvstripe::cli

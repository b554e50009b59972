// Owns `nvstripe events`: the newest ones, or all that come from now on.
#include <poll.h>

#include <cstdio>

#include <fmt/core.h>

#include "agent/cli/commands.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::cli {
namespace {

constexpr int kFollowMs = 1000;

void print_event(const Context& context, const boost::json::value& event) {
  if (context.format != Format::table) {  // one document a line, so that a pipe can read them as they come
    fmt::print("{}\n", json::text(event));
    return;
  }
  const auto* data = event.is_object() ? event.as_object().if_contains("data") : nullptr;
  fmt::print("{}  {:<45} {:<20} {}\n", text_of(event, "time"), text_of(event, "type"), text_of(event, "subject"),
             data == nullptr ? std::string() : json::text(*data));
}

}  // namespace

int events(const Context& context, bool follow, unsigned limit) {
  Reply reply = ask(context, "GET", "/v1/events?limit=" + std::to_string(limit));
  if (reply.exit_code != kFine) return reply.exit_code;
  if (!follow && print_document(context, reply.document)) return kFine;
  std::uint64_t last = 0;
  for (;;) {
    for (const auto& event : list_of(reply.document, "events")) {
      last = std::max(last, number_of(event, "sequence"));
      print_event(context, event);
    }
    if (!follow) return kFine;
    std::fflush(stdout);
    ::poll(nullptr, 0, kFollowMs);
    reply = ask(context, "GET", "/v1/events?limit=1000&after=" + std::to_string(last));
    if (reply.exit_code != kFine) return reply.exit_code;
  }
}

}  // namespace nvstripe::cli

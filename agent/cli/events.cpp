// Owns `nvstripe events`: the newest ones, all that come from now on, or those that a receiver refused.
#include <poll.h>

#include <cstdio>
#include <optional>

#include <boost/json.hpp>

#include <fmt/core.h>

#include "agent/base/text.hpp"
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

int dead_events(const Context& context) {
  const Reply reply = ask(context, "GET", "/v1/outbox/dead");
  if (reply.exit_code != kFine) return reply.exit_code;
  if (print_document(context, reply.document)) return kFine;
  const auto letters = list_of(reply.document, "events");
  if (letters.empty()) fmt::print("no event was refused upstream\n");
  for (const auto& letter : letters) {
    const auto* again = letter.as_object().if_contains("again");
    const bool waits = again != nullptr && again->is_bool() && again->get_bool();
    fmt::print("{:>8}  {}  {:<45} {:<20} {}{}\n", number_of(letter, "sequence"), text_of(letter, "time"),
               text_of(letter, "type"), text_of(letter, "subject"), text_of(letter, "reason"),
               waits ? " (to be sent again)" : "");
  }
  if (!letters.empty()) fmt::print("'nvstripe events --replay SEQUENCE' sends one again, '--replay all' all of them\n");
  return kFine;
}

int replay_events(const Context& context, const std::string& which) {
  const auto sequence = which == "all" ? std::optional<std::uint64_t>(0) : parse_number(which);
  if (!sequence || (*sequence == 0 && which != "all"))
    return complain(context, Error{"'" + printable(which) + "' is not the sequence of an event", "write one, or 'all'", {}},
                    kUsage);
  const Reply reply = ask(context, "POST", "/v1/outbox/replay", json::text(boost::json::object{{"sequence", *sequence}}));
  if (reply.exit_code != kFine) return reply.exit_code;
  if (print_document(context, reply.document)) return kFine;
  fmt::print("{} will be sent again\n", number_of(reply.document, "events"));
  return kFine;
}

}  // namespace nvstripe::cli

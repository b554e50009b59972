// Owns what is made of the core's answers. A core of another version may know families that this table does not.
#include "agent/uplink/core.hpp"

#include <boost/json.hpp>

#include "agent/api/client.hpp"
#include "agent/base/units.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::uplink {
namespace {

Result<api::Answer> ask(const std::string& socket, const std::string& target, std::chrono::milliseconds deadline) {
  TRY(api::Answer answer, api::exchange(socket, "GET", target, {}, deadline));
  if (answer.status != 200)
    return fail("the agent answered '" + target + "' with " + std::to_string(answer.status),
                "see 'journalctl -u nvstriped'");
  return answer;
}

Result<SampleSet> core_samples_of(const std::string& socket, std::chrono::milliseconds deadline) {
  TRY(const api::Answer answer, ask(socket, "/v1/metrics", deadline));
  return from_lines(answer.body);
}

// The text at the end of a path of keys; empty where a key is missing.
std::string text_at(const boost::json::value& document, std::initializer_list<const char*> keys) {
  const auto* value = &document;
  for (const char* key : keys) {
    const auto* object = value->if_object();
    value = object == nullptr ? nullptr : object->if_contains(key);
    if (value == nullptr) return {};
  }
  return value->is_string() ? std::string(value->get_string()) : std::string();
}

Result<std::optional<PushWanted>> push_of(const boost::json::value& document, const char* sink) {
  const std::string url = text_at(document, {"spec", "telemetry", "upstream", sink, "url"});
  if (url.empty()) return std::optional<PushWanted>();
  PushWanted out;
  TRY(out.url, parse_url(url));
  TRY(out.every, parse_duration(text_at(document, {"spec", "telemetry", "upstream", sink, "every"})));
  return std::optional(std::move(out));
}

}  // namespace

SampleSet all_samples(const std::string& socket, std::chrono::milliseconds deadline, const AddOwn& add_own) {
  auto samples = core_samples_of(socket, deadline);
  SampleSet all = samples ? std::move(*samples) : SampleSet{};
  SampleGathering own;
  own.add("nvstripe_core_up", samples ? 1 : 0);
  if (add_own) add_own(own);
  for (Family& family : own.take()) all.push_back(std::move(family));
  return all;
}

Result<Wanted> wanted(const std::string& socket, std::chrono::milliseconds deadline) {
  TRY(const api::Answer answer, ask(socket, "/v1/spec", deadline));
  TRY(const boost::json::value document, json::parse(answer.body));
  Wanted out;
  const std::string listen = text_at(document, {"spec", "telemetry", "listen"});
  if (listen.empty()) return fail("the agent's answer has no address to listen on", "is it of another version?");
  if (listen != "off") {
    TRY(out.listen, parse_endpoint(listen));
  }
  out.web_config = text_at(document, {"spec", "telemetry", "web_config"});
  const std::string events = text_at(document, {"spec", "telemetry", "upstream", "events", "url"});
  if (!events.empty()) {
    TRY(out.events, parse_url(events));
  }
  TRY(out.metrics, push_of(document, "metrics"));
  TRY(out.remote_write, push_of(document, "remote_write"));
  return out;
}

Sender sender_of(const std::string& socket, std::chrono::milliseconds deadline) {
  const auto answer = ask(socket, "/v1/identity", deadline);
  const auto document = answer ? json::parse(answer->body) : Result<boost::json::value>(boost::json::value());
  if (!document) return {};
  return {text_at(*document, {"hostname"}), text_at(*document, {"provider"}), text_at(*document, {"instance"})};
}

}  // namespace nvstripe::uplink

// Owns what is made of the core's answers. A core of another version may know families that this table does not.
#include "agent/uplink/core.hpp"

#include <boost/json.hpp>

#include "agent/api/client.hpp"
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

Result<std::string> listen_of(const boost::json::value& document) {
  const auto* value = &document;
  for (const char* name : {"spec", "telemetry", "listen"}) {
    const auto* object = value->if_object();
    value = object == nullptr ? nullptr : object->if_contains(name);
    if (value == nullptr) return fail("the agent's answer has no '" + std::string(name) + "'", "is it of another version?");
  }
  if (!value->is_string()) return fail("the agent's answer has no address to listen on", "is it of another version?");
  return std::string(value->get_string());
}

}  // namespace

SampleSet all_samples(const std::string& socket, std::chrono::milliseconds deadline) {
  auto samples = core_samples_of(socket, deadline);
  SampleSet all = samples ? std::move(*samples) : SampleSet{};
  SampleGathering own;
  own.add("nvstripe_core_up", samples ? 1 : 0);
  for (Family& family : own.take()) all.push_back(std::move(family));
  return all;
}

Result<Listening> wanted_listening(const std::string& socket, std::chrono::milliseconds deadline) {
  TRY(const api::Answer answer, ask(socket, "/v1/spec", deadline));
  TRY(const boost::json::value document, json::parse(answer.body));
  TRY(const std::string text, listen_of(document));
  if (text == "off") return Listening{};
  TRY(Endpoint endpoint, parse_endpoint(text));
  return Listening{std::move(endpoint)};
}

}  // namespace nvstripe::uplink

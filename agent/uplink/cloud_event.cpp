// Owns which of our keys become which attributes. `sequence` is padded, since the extension is compared as text.
#include "agent/uplink/cloud_event.hpp"

#include <boost/json.hpp>

#include <fmt/format.h>

#include "agent/model/json.hpp"

namespace nvstripe::uplink {
namespace {

Result<std::string> text_of(const boost::json::object& event, std::string_view key) {
  const auto* value = event.if_contains(key);
  if (value == nullptr || !value->is_string())
    return fail("an event of the agent has no '" + std::string(key) + "'", "is the agent of another version?");
  return std::string(value->get_string());
}

Result<std::uint64_t> number_of(const boost::json::object& event, std::string_view key) {
  const auto* value = event.if_contains(key);
  if (value != nullptr && value->is_uint64()) return value->get_uint64();
  if (value != nullptr && value->is_int64() && value->get_int64() >= 0)
    return static_cast<std::uint64_t>(value->get_int64());
  return fail("an event of the agent has no number '" + std::string(key) + "'", "is the agent of another version?");
}

Result<Waiting> waiting_event(const boost::json::object& event, const std::string& source) {
  Waiting made;
  TRY(made.epoch, number_of(event, "epoch"));
  TRY(made.sequence, number_of(event, "sequence"));
  TRY(const std::string id, text_of(event, "id"));
  TRY(const std::string type, text_of(event, "type"));
  TRY(const std::string subject, text_of(event, "subject"));
  TRY(const std::string time, text_of(event, "time"));
  const auto* again = event.if_contains("again");
  made.again = again != nullptr && again->is_bool() && again->get_bool();
  boost::json::object out{{"specversion", "1.0"}, {"id", id},     {"source", source},
                          {"type", type},         {"time", time}, {"datacontenttype", "application/json"}};
  if (!subject.empty()) out["subject"] = subject;
  out["sequence"] = fmt::format("{:020}", made.sequence);
  out["epoch"] = std::to_string(made.epoch);
  const auto* data = event.if_contains("data");
  out["data"] = data == nullptr ? boost::json::value(boost::json::object()) : *data;
  made.text = json::text(out);
  return made;
}

}  // namespace

Result<std::vector<Waiting>> waiting_events(std::string_view answer) {
  TRY(const boost::json::value document, json::parse(answer));
  const auto* object = document.if_object();
  const auto* events = object == nullptr ? nullptr : object->if_contains("events");
  if (events == nullptr || !events->is_array())
    return fail("the agent's answer has no events", "is the agent of another version?");
  TRY(const std::string source, text_of(*object, "source"));
  std::vector<Waiting> out;
  for (const auto& event : events->get_array()) {
    if (!event.is_object()) return fail("an event of the agent is no object", "is the agent of another version?");
    TRY(Waiting made, waiting_event(event.get_object(), source));
    out.push_back(std::move(made));
  }
  return out;
}

}  // namespace nvstripe::uplink

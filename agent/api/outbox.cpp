// Owns the JSON of the outbox's routes.
#include "agent/api/outbox.hpp"

#include <algorithm>

#include <boost/json.hpp>

#include "agent/api/answers.hpp"
#include "agent/base/text.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::api {
namespace {

bool is_stream(const std::string& name) { return std::find(kStreams.begin(), kStreams.end(), name) != kStreams.end(); }

HttpResponse no_such_stream() { return refuse(400, "no stream is named", "name one: state or jobs"); }

std::uint64_t number(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  if (value == nullptr) return 0;
  if (value->is_uint64()) return value->get_uint64();
  return value->is_int64() && value->get_int64() > 0 ? static_cast<std::uint64_t>(value->get_int64()) : 0;
}

std::string word(const boost::json::object& object, std::string_view key) {
  const auto* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

boost::json::object object_of(const HttpRequest& request) {
  const auto parsed = json::parse(request.body);
  return parsed && parsed->is_object() ? parsed->get_object() : boost::json::object();
}

store::Answered answered_of(const boost::json::object& body) {
  const auto* again = body.if_contains("again");
  return {word(body, "stream"), number(body, "epoch"), number(body, "sequence"),
          again != nullptr && again->is_bool() && again->get_bool()};
}

// A sequence that is not known here means that the uplink must look again; all else is the store's trouble.
HttpResponse answer_of(const Result<>& done) {
  if (done) return {200, json::text(json::document())};
  const bool stale = done.error().cause == std::make_error_code(std::errc::invalid_argument);
  return refuse(stale ? 409 : 500, done.error().what, done.error().remedy);
}

}  // namespace

HttpResponse get_outbox(const RouteContext& context, const HttpRequest& request) {
  const std::string stream = query_value(request, "stream");
  if (!is_stream(stream)) return no_such_stream();
  const auto limit = std::min<std::uint64_t>(parse_number(query_value(request, "limit")).value_or(100), kMaxPull);
  const auto items =
      context.store.locked([&](store::Store& store) { return store.pending(stream, static_cast<std::uint32_t>(limit)); });
  if (!items) return refuse(500, items.error().what, items.error().remedy);
  boost::json::array list;
  for (const store::OutboxItem& item : *items) {
    boost::json::object one = json::to_json(item.event);
    one["again"] = item.again;
    list.push_back(std::move(one));
  }
  boost::json::object out = json::document();
  out["source"] = context.store.locked([](store::Store& store) { return store.source(); });
  out["events"] = std::move(list);
  return {200, json::text(out)};
}

HttpResponse post_acknowledge(const RouteContext& context, const HttpRequest& request) {
  const store::Answered answered = answered_of(object_of(request));
  if (!is_stream(answered.stream)) return no_such_stream();
  return answer_of(context.store.locked([&](store::Store& store) { return store.acknowledge(answered); }));
}

HttpResponse post_refuse(const RouteContext& context, const HttpRequest& request) {
  const boost::json::object body = object_of(request);
  const store::Answered answered = answered_of(body);
  if (!is_stream(answered.stream)) return no_such_stream();
  const std::string reason = word(body, "reason");
  return answer_of(context.store.locked([&](store::Store& store) { return store.refuse(answered, reason); }));
}

HttpResponse get_dead(const RouteContext& context, const HttpRequest&) {
  const auto letters = context.store.locked([](store::Store& store) { return store.dead_letters(); });
  if (!letters) return refuse(500, letters.error().what, letters.error().remedy);
  boost::json::array list;
  for (const store::DeadLetter& letter : *letters) {
    boost::json::object one = json::to_json(letter.event);
    one["stream"] = letter.stream;
    one["reason"] = printable(letter.reason);
    one["refused"] = letter.refused;
    one["again"] = letter.again;
    list.push_back(std::move(one));
  }
  boost::json::object out = json::document();
  out["events"] = std::move(list);
  return {200, json::text(out)};
}

HttpResponse post_replay(const RouteContext& context, const HttpRequest& request) {
  const std::uint64_t sequence = number(object_of(request), "sequence");
  const auto count = context.store.locked([&](store::Store& store) { return store.replay(sequence); });
  if (!count) return refuse(500, count.error().what, count.error().remedy);
  if (*count == 0) return refuse(404, "no refused event is there to send again", "see 'nvstripe events --dead'");
  boost::json::object out = json::document();
  out["events"] = *count;
  return {200, json::text(out)};
}

}  // namespace nvstripe::api

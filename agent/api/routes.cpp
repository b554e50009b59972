// Owns one function a route. Answers come from the snapshot, at once; what needs the engine's hands is queued and answered
// with the number of the request, whose progress is read at /v1/requests/NUMBER.
#include "agent/api/routes.hpp"

#include <algorithm>
#include <string_view>

#include <boost/json.hpp>

#include "agent/api/answers.hpp"
#include "agent/api/outbox.hpp"
#include "agent/api/status_json.hpp"
#include "agent/base/text.hpp"
#include "agent/model/guard.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::api {
namespace {

enum class Access { everybody, uplink, jobs, root };  // uplink: it and root

struct Route {
  std::string_view method, path;
  Access access;
  HttpResponse (*answer)(const RouteContext&, const HttpRequest&);
};

// What clients send: names and digests in a JSON object of texts.
std::string field(const HttpRequest& request, std::string_view name) {
  if (trim(request.body).empty()) return {};
  const auto parsed = json::parse(request.body);
  if (!parsed || !parsed->is_object()) return {};
  const auto* value = parsed->as_object().if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

HttpResponse queue(const RouteContext& context, Verb verb, std::string argument) {
  const auto id = context.board.submit(verb, std::move(argument));
  if (!id) return refuse(503, id.error().what, id.error().remedy);
  boost::json::object out = json::document();
  out["request"] = *id;
  return {202, json::text(out)};
}

HttpResponse not_looked_yet() { return refuse(503, "the agent has not looked at the machine yet", "try again in a moment"); }

// The engine looks at least every minute, and a look takes seconds. What is at work says so by its activity.
constexpr std::int64_t kStaleMs = 180'000;

Status current_status(const RouteContext& context, const Snapshot& snapshot) {
  Status status = status_of(snapshot);
  status.activity = context.board.activity().sentence;
  const std::int64_t silent = context.now_ms ? context.now_ms() - context.board.last_beat_ms() : 0;
  if (silent > kStaleMs && status.activity.empty() && status.pass_error.empty())
    status.pass_error = "the agent's look at the machine hangs since " + std::to_string(silent / 1000) +
                        " s: what is shown was true before; look for what waits in the kernel with 'dmesg'";
  return status;
}

HttpResponse get_status(const RouteContext& context, const HttpRequest&) {
  return {200, status_json(current_status(context, *context.board.snapshot()))};
}
HttpResponse get_volumes(const RouteContext& context, const HttpRequest&) {
  return {200, volumes_json(current_status(context, *context.board.snapshot()))};
}

HttpResponse get_devices(const RouteContext& context, const HttpRequest&) {
  const auto snapshot = context.board.snapshot();
  if (snapshot->taken.empty()) return not_looked_yet();
  return {200, devices_json(snapshot->pass.seen)};
}

HttpResponse get_plan(const RouteContext& context, const HttpRequest&) {
  const auto snapshot = context.board.snapshot();
  if (snapshot->taken.empty()) return not_looked_yet();
  return {200, json::text(json::plan_document(snapshot->pass.plan))};
}

HttpResponse get_spec(const RouteContext& context, const HttpRequest&) {
  const auto snapshot = context.board.snapshot();
  boost::json::object out = json::document();
  boost::json::array files;
  for (const std::string& file : snapshot->spec.files) files.emplace_back(file);
  out["files"] = std::move(files);
  out["loaded"] = snapshot->spec.loaded;
  out["last_good"] = snapshot->spec.last_good;
  out["problem"] = printable(snapshot->spec.problem);
  out["spec"] = json::to_json(snapshot->spec.spec);
  return {200, json::text(out)};
}

HttpResponse get_identity(const RouteContext& context, const HttpRequest&) {
  const std::string source = context.store.locked([](store::Store& store) { return store.source(); });
  return {200, identity_json(*context.board.snapshot(), source)};
}

HttpResponse get_inventory(const RouteContext& context, const HttpRequest&) {
  const auto snapshot = context.board.snapshot();
  if (snapshot->taken.empty()) return not_looked_yet();
  return {200, json::text(json::inventory_document(snapshot->pass.seen))};
}

HttpResponse get_events(const RouteContext& context, const HttpRequest& request) {
  constexpr std::uint64_t kMaxEvents = 1000;
  store::EventQuery query;
  const std::string after = query_value(request, "after");
  const std::string limit = query_value(request, "limit");
  query.after_sequence = parse_number(after).value_or(0);
  query.newest = after.empty();
  query.limit = static_cast<std::uint32_t>(std::min(parse_number(limit).value_or(100), kMaxEvents));
  const auto events = context.store.events(query);
  if (!events) return refuse(500, events.error().what, events.error().remedy);
  return {200, json::text(json::events_document(*events))};
}

// Each with its kind and the text that the store keeps, so that a bundle can be planned with.
HttpResponse get_records(const RouteContext& context, const HttpRequest&) {
  const auto records = context.store.records();
  if (!records) return refuse(500, records.error().what, records.error().remedy);
  boost::json::array list;
  const auto add = [&list](const Record& record) {
    list.emplace_back(boost::json::object{{"kind", record_kind(record)}, {"text", json::record_text(record)}});
  };
  if (records->identity) add(*records->identity);
  for (const VolumeRecord& record : records->volumes) add(record);
  for (const ExportRecord& record : records->exports) add(record);
  for (const ConnectionRecord& record : records->connections) add(record);
  for (const TuningRecord& record : records->tunings) add(record);
  for (const HoldRecord& record : records->holds) add(record);
  boost::json::object out = json::document();
  out["records"] = std::move(list);
  return {200, json::text(out)};
}

// As line text; the uplink makes of it what scrapers and receivers want.
HttpResponse get_metrics(const RouteContext& context, const HttpRequest&) {
  const auto snapshot = context.board.snapshot();
  const Measured measured = context.measured ? context.measured() : Measured{};
  StreamStates streams;  // where events are sent nowhere none of them waits for anybody
  if (!snapshot->spec.spec.telemetry.events_url.empty())
    streams = context.store.locked([](store::Store& store) { return store.streams(); }).value_or(StreamStates{});
  const Status status = current_status(context, *snapshot);
  return {200, to_lines(metrics_of(*snapshot, status, measured, "/sys/block", streams))};
}

HttpResponse get_request(const RouteContext& context, const HttpRequest& request) {
  const auto id = parse_number(request.path.substr(std::string_view("/v1/requests/").size()));
  const auto progress = id ? context.board.progress(*id) : std::nullopt;
  if (!progress)
    return refuse(404, "no request '" + request.path.substr(13) + "' is known",
                  "requests are forgotten when the agent restarts");
  return {200, progress_json(*id, *progress)};
}

HttpResponse post_plan(const RouteContext& context, const HttpRequest& request) {
  // A given spec names paths that the agent looks at as root: on a dead mount such a look never returns.
  if (request.uid != 0 && !request.body.empty())
    return refuse(403, "only root may have a spec of his own planned", "use sudo, or plan the spec in force");
  return queue(context, Verb::plan, request.body);
}
HttpResponse post_apply(const RouteContext& context, const HttpRequest& request) {
  return queue(context, Verb::apply, field(request, "accept"));
}
HttpResponse post_hold(const RouteContext& context, const HttpRequest& request) {
  const std::string object = field(request, "object");
  if (object.empty())
    return refuse(400, "no object to hold is named", "send {\"object\": \"volume:NAME\"} or {\"object\": \"all\"}");
  return queue(context, Verb::hold, object);
}
HttpResponse post_release(const RouteContext& context, const HttpRequest& request) {
  const std::string volume = field(request, "volume");
  if (volume.empty()) return refuse(400, "no volume to release is named", "send {\"volume\": \"NAME\"}");
  return queue(context, Verb::release, volume);
}
HttpResponse post_revert(const RouteContext& context, const HttpRequest&) { return queue(context, Verb::revert, {}); }
HttpResponse post_adopt(const RouteContext& context, const HttpRequest&) { return queue(context, Verb::adopt, {}); }

constexpr Route kRoutes[] = {
    {"GET", "/v1/status", Access::everybody, get_status},
    {"GET", "/v1/devices", Access::everybody, get_devices},
    {"GET", "/v1/plan", Access::everybody, get_plan},
    {"GET", "/v1/volumes", Access::everybody, get_volumes},
    {"GET", "/v1/events", Access::everybody, get_events},
    {"GET", "/v1/spec", Access::everybody, get_spec},
    {"GET", "/v1/identity", Access::everybody, get_identity},
    {"GET", "/v1/inventory", Access::everybody, get_inventory},
    {"GET", "/v1/metrics", Access::everybody, get_metrics},
    {"GET", "/v1/records", Access::root, get_records},
    {"GET", "/v1/outbox", Access::uplink, get_outbox},
    {"GET", "/v1/outbox/dead", Access::everybody, get_dead},
    {"POST", "/v1/outbox/acknowledge", Access::uplink, post_acknowledge},
    {"POST", "/v1/outbox/refuse", Access::uplink, post_refuse},
    {"POST", "/v1/outbox/replay", Access::root, post_replay},
    {"GET", "/v1/requests/", Access::everybody, get_request},  // and a number
    {"POST", "/v1/plan", Access::everybody, post_plan},        // with a spec in the body: root
    {"POST", "/v1/apply", Access::root, post_apply},
    {"POST", "/v1/hold", Access::root, post_hold},
    {"POST", "/v1/release", Access::root, post_release},
    {"POST", "/v1/revert", Access::root, post_revert},
    {"POST", "/v1/identity/adopt", Access::root, post_adopt},
    {"GET", "/v1/jobs", Access::everybody, get_jobs},
    {"GET", "/v1/jobs/", Access::everybody, get_job},  // and an id
    {"POST", "/v1/jobs/start", Access::jobs, post_job_start},
    {"POST", "/v1/jobs/heartbeat", Access::jobs, post_job_heartbeat},
    {"POST", "/v1/jobs/report", Access::jobs, post_job_report},
    {"POST", "/v1/jobs/end", Access::jobs, post_job_end},
    {"POST", "/v1/jobs/run", Access::jobs, post_job_run},
};

bool permitted(const RouteContext& context, Access access, std::uint32_t uid) {
  return access == Access::everybody || uid == 0 || (access == Access::uplink && context.uplink_uid == uid);
}

bool matches(const Route& route, std::string_view path) {
  return route.path.ends_with('/') ? path.starts_with(route.path) && path.size() > route.path.size() : path == route.path;
}

}  // namespace

HttpResponse respond(const RouteContext& context, const HttpRequest& request) {
  bool path_known = false;
  for (const Route& route : kRoutes) {
    if (!matches(route, request.path)) continue;
    path_known = true;
    if (route.method != request.method) continue;
    if (route.access == Access::jobs) {
      if (auto refused = refuse_job(context, request)) return *std::move(refused);
    } else if (!permitted(context, route.access, request.uid)) {
      return refuse(403, "only root may do this", "use sudo");
    }
    return route.answer(context, request);
  }
  if (path_known)
    return refuse(405, "'" + request.method + "' is not possible on '" + request.path + "'", "see docs/operations.md");
  return refuse(404, "there is no '" + printable(request.path) + "'", "see docs/operations.md");
}

std::string devices_json(const Inventory& seen) {
  std::vector<json::DeviceListing> listings;
  for (const BlockDevice& device : seen.blocks.value()) {
    json::DeviceListing listing;
    listing.device = &device;
    for (const guard::Veto& veto : guard::unusable(device, seen)) {
      listing.reason_ids.push_back(veto.id);
      listing.reasons.push_back(veto.sentence);
    }
    listings.push_back(std::move(listing));
  }
  return json::text(json::devices_document(seen, listings));
}

}  // namespace nvstripe::api

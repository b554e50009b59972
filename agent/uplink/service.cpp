// Owns following the spec; how to listen and what to answer lie beside.
#include "agent/uplink/service.hpp"

#include <chrono>

#include "agent/uplink/exposition.hpp"

namespace nvstripe::uplink {
namespace {
constexpr std::chrono::seconds kAskDeadline{5};
}

Service::Service(std::string socket, Say say, OtlpSettings otlp)
    : socket_(std::move(socket)), say_(std::move(say)), otlp_(std::move(otlp)) {
  for (const std::string& problem : otlp_.problems) say_(problem);
}

// Whatever asks for samples ends before what they are made of.
Service::~Service() {
  server_.reset();
  otlp_push_.sink.reset();
  remote_write_push_.sink.reset();
  events_.reset();
}

void Service::follow() {
  const auto found = wanted(socket_, kAskDeadline);
  if (!found) return tell(found.error().what);
  follow_events(found->events);
  std::optional<PushWanted> metrics = found->metrics;
  if (metrics) metrics->url = with_otlp_path(metrics->url);
  if (!metrics && otlp_.url) metrics = PushWanted{*otlp_.url, otlp_.every.value_or(std::chrono::seconds(60))};
  if (otlp_.disabled) metrics.reset();
  follow_push(PushKind::otlp, std::move(metrics));
  follow_push(PushKind::remote_write, found->remote_write);
  follow_listen(found->listen, found->web_config);
}

void Service::follow_events(const std::optional<Url>& wanted) {
  if (sending_ == wanted) return;
  events_.reset();
  sending_ = wanted;
  sends_events_ = wanted.has_value();
  if (!wanted) return say_("telemetry.upstream.events is not set: events stay here");
  EventSinkOptions options;
  options.socket = socket_;
  options.url = *wanted;
  options.say = say_;
  events_ = std::make_unique<EventSink>(std::move(options), event_figures_);
  say_("sends events to '" + wanted->authority() + "'");
}

void Service::follow_push(PushKind kind, std::optional<PushWanted> wanted) {
  Push& push = kind == PushKind::otlp ? otlp_push_ : remote_write_push_;
  if (push.wanted == wanted) return;
  push.sink.reset();
  push.wanted = std::move(wanted);
  push.on = push.wanted.has_value();
  if (!push.wanted) return;
  PushSinkOptions options;
  options.kind = kind;
  options.url = push.wanted->url;
  options.every = push.wanted->every;
  options.otlp = settings_for(otlp_, push.wanted->url);
  if (options.otlp.headers.size() != otlp_.headers.size())
    say_("OTEL_EXPORTER_OTLP_HEADERS are for another receiver, or would go in the clear: they are not sent");
  options.samples = [this] { return samples(kAskDeadline); };
  options.sender = [this] { return sender_of(socket_, kAskDeadline); };
  options.say = say_;
  push.sink = std::make_unique<PushSink>(std::move(options), push.figures);
  const std::string& target = push.wanted->url.target;
  say_("pushes metrics to '" + push.wanted->url.authority() + target.substr(0, target.find('?')) + "'");
}

SampleSet Service::samples(std::chrono::milliseconds deadline) const {
  return all_samples(socket_, deadline, [this](SampleGathering& to) {
    if (sends_events_) event_figures_.add_to(to);
    if (otlp_push_.on) otlp_push_.figures.add_to(to);
    if (remote_write_push_.on) remote_write_push_.figures.add_to(to);
  });
}

void Service::follow_listen(const std::optional<Endpoint>& wanted, const std::string& web_config) {
  if (listening_known_ && listening_ == wanted && web_config_ == web_config) {
    if (server_ && files_) (void)files_->current();  // tells of a broken version before the next scrape
    return;
  }
  listening_known_ = false;
  server_.reset();  // the port is free before it is asked for again
  listening_ = wanted;
  web_config_ = web_config;
  files_ = web_config.empty() ? nullptr : std::make_shared<WebFiles>(web_config, say_);
  if (wanted) return serve(*wanted);
  listening_known_ = true;
  tell("telemetry.listen is off: nothing is served");
}

void Service::serve(const Endpoint& endpoint) {
  const auto expose = [this](std::chrono::milliseconds deadline) { return exposition(samples(deadline)); };
  auto server = ScrapeServer::start(endpoint, expose, {.files = files_});
  if (!server) return tell(server.error().what + "; " + server.error().remedy);
  server_ = std::move(*server);
  listening_known_ = true;
  tell("serves /metrics on '" + endpoint.address + "', port " + std::to_string(server_->port()));
}

void Service::tell(const std::string& text) {
  if (text != told_) say_(text);
  told_ = text;
}

}  // namespace nvstripe::uplink

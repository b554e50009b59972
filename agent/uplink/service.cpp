// Owns following the spec; how to listen and what to answer lie beside.
#include "agent/uplink/service.hpp"

#include <chrono>

#include "agent/uplink/exposition.hpp"

namespace nvstripe::uplink {
namespace {
constexpr std::chrono::seconds kAskDeadline{5};
}

void Service::follow() {
  const auto found = wanted(socket_, kAskDeadline);
  if (!found) return tell(found.error().what);
  follow_events(found->events);
  follow_listen(found->listen);
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

void Service::follow_listen(const std::optional<Endpoint>& wanted) {
  if (listening_known_ && listening_ == wanted) return;
  listening_known_ = false;
  server_.reset();  // the port is free before it is asked for again
  listening_ = wanted;
  if (wanted) return serve(*wanted);
  listening_known_ = true;
  tell("telemetry.listen is off: nothing is served");
}

void Service::serve(const Endpoint& endpoint) {
  auto server = ScrapeServer::start(endpoint, [this](std::chrono::milliseconds deadline) {
    return exposition(all_samples(socket_, deadline, [this](SampleGathering& to) {
      if (sends_events_) event_figures_.add_to(to);
    }));
  });
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

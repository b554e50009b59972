// Owns following the spec; how to listen and what to answer lie beside.
#include "agent/uplink/service.hpp"

#include <chrono>

#include "agent/uplink/exposition.hpp"

namespace nvstripe::uplink {
namespace {
constexpr std::chrono::seconds kAskDeadline{5};
}

void Service::follow() {
  const auto wanted = wanted_listening(socket_, kAskDeadline);
  if (!wanted) return tell(wanted.error().what);
  if (listening_ == *wanted) return;
  listening_.reset();
  server_.reset();  // the port is free before it is asked for again
  if (!wanted->endpoint) {
    listening_ = *wanted;
    return tell("telemetry.listen is off: nothing is served");
  }
  serve(*wanted->endpoint);
}

void Service::serve(const Endpoint& endpoint) {
  auto server = ScrapeServer::start(endpoint, [socket = socket_](std::chrono::milliseconds deadline) {
    return exposition(all_samples(socket, deadline));
  });
  if (!server) return tell(server.error().what + "; " + server.error().remedy);
  server_ = std::move(*server);
  listening_ = Listening{endpoint};
  tell("serves /metrics on '" + endpoint.address + "', port " + std::to_string(server_->port()));
}

void Service::tell(const std::string& text) {
  if (text != told_) say_(text);
  told_ = text;
}

}  // namespace nvstripe::uplink

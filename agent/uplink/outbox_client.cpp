// Owns which status of the agent means what: 409 says that its outbox is another one now.
#include "agent/uplink/outbox_client.hpp"

#include <boost/json.hpp>

#include "agent/api/client.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::uplink {
namespace {

constexpr std::chrono::milliseconds kDeadline{10'000};  // the agent's disk may be slow to commit

Result<api::Answer> ask(const std::string& socket, const char* method, const std::string& target, const std::string& body) {
  TRY(api::Answer answer, api::exchange(socket, method, target, body, kDeadline));
  if (answer.status == 200) return answer;
  const auto cause = answer.status == 409 ? std::make_error_code(std::errc::invalid_argument) : std::error_code();
  return fail("the agent answered '" + target + "' with " + std::to_string(answer.status), "see 'journalctl -u nvstriped'",
              cause);
}

boost::json::object answered(const std::string& stream, const Waiting& event) {
  return {{"stream", stream}, {"epoch", event.epoch}, {"sequence", event.sequence}, {"again", event.again}};
}

}  // namespace

Result<std::vector<Waiting>> OutboxClient::pull(const std::string& stream) {
  TRY(const api::Answer answer, ask(socket_, "GET", "/v1/outbox?limit=100&stream=" + stream, {}));
  return waiting_events(answer.body);
}

Result<> OutboxClient::acknowledge(const std::string& stream, const Waiting& event) {
  CHECKED(ask(socket_, "POST", "/v1/outbox/acknowledge", json::text(answered(stream, event))));
  return {};
}

Result<> OutboxClient::refuse(const std::string& stream, const Waiting& event, const std::string& reason) {
  boost::json::object body = answered(stream, event);
  body["reason"] = reason;
  CHECKED(ask(socket_, "POST", "/v1/outbox/refuse", json::text(body)));
  return {};
}

}  // namespace nvstripe::uplink

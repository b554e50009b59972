// Owns the checks of delivery as a whole: a real outbox behind the real socket, a receiver that fails in every way, and
// uplinks that end in the middle of it.
#include "agent/uplink/event_sink.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include <boost/json.hpp>

#include "agent/api/routes.hpp"
#include "tests/support/catch.hpp"
#include "tests/uplink/fault_server.hpp"

using namespace nvstripe;
using namespace nvstripe::uplink;

namespace {

const std::string kState = "io.nvstripe.volume.mounted.v1", kJob = "io.nvstripe.job.ended.v1";

struct Agent {
  std::string path = (std::filesystem::temp_directory_path() / ("nvs-sink-" + std::to_string(::getpid()))).string();
  api::Board board;
  api::SharedStore store{std::move(*store::Store::open(":memory:"))};
  std::mutex mutex;
  std::condition_variable asked;
  std::unique_ptr<api::Server> server;  // ends first: it uses the others
  // Looks whenever the uplink asked something; a minute at most.
  template <class Done>
  bool soon(Done done) {
    std::unique_lock lock(mutex);
    return asked.wait_for(lock, std::chrono::minutes(1), done);
  }
  Agent() {
    server = api::Server::start(path, [this](const api::HttpRequest& request) {
               auto answer = api::respond({.board = board, .store = store, .uplink_uid = ::getuid()}, request);
               asked.notify_all();
               return answer;
             }).value();
  }
  std::uint64_t waiting() {
    std::uint64_t count = 0;
    const auto streams = store.locked([](store::Store& inner) { return inner.streams(); }).value();
    for (const auto& stream : streams) count += stream.records;
    return count;
  }
};

EventSinkOptions options_for(const Agent& agent, std::uint16_t port) {
  EventSinkOptions options;
  options.socket = agent.path;
  options.url = {false, "127.0.0.1", port, "/"};
  options.folders = {"/nonexistent"};
  options.say = [](const std::string&) {};
  options.start_spread = std::chrono::milliseconds(1);
  return options;
}

}  // namespace

TEST_CASE("events of both streams arrive whole and in order, and the agent lets them go") {
  Agent agent;
  for (int i = 0; i < 40; ++i)
    REQUIRE(agent.store.write(
        {}, {{i % 4 == 0 ? kJob : kState, "job/" + std::to_string(i), R"({"n":)" + std::to_string(i) + "}"}}));
  const FaultServer receiver([](const Heard&) { return FaultServer::plain(202); });
  SinkFigures figures("events", false);
  {
    const EventSink sink(options_for(agent, receiver.port()), figures);
    REQUIRE(agent.soon([&] { return agent.waiting() == 0; }));
  }
  std::map<std::string, std::string> last;
  std::set<std::string> ids;
  for (const Heard& one : receiver.heard()) {
    const auto event = boost::json::parse(one.body).as_object();
    const std::string stream(event.at("type").as_string() == kJob ? "jobs" : "state");
    const std::string sequence(event.at("sequence").as_string());
    CHECK(sequence > last[stream]);
    last[stream] = sequence;
    ids.insert(std::string(event.at("id").as_string()));
  }
  CHECK(ids.size() == 40);
  SampleGathering gathered;
  figures.add_to(gathered);
  const SampleSet samples = gathered.take();
  REQUIRE(samples.size() >= 3);
  CHECK(samples[0].name == "nvstripe_upstream_requests_total");
  CHECK(samples[0].samples.at(0).value == 40);
}

TEST_CASE("with a receiver that fails in every way and uplinks that end in the middle, nothing is lost") {
  Agent agent;
  for (int i = 0; i < 50; ++i) REQUIRE(agent.store.write({}, {{i % 5 == 0 ? kJob : kState, "x", "{}"}}));
  int turn = 0;
  const FaultServer receiver([&turn](const Heard&) -> std::string {
    switch (++turn % 9) {
      case 1:
        return FaultServer::plain(503, "Retry-After: 0\r\n");
      case 3:
        return "";
      case 5:
        return "HTTP/1.1 202 X\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhalf";
      case 7:
        return FaultServer::plain(429, "Retry-After: 0\r\n");
      default:
        return FaultServer::plain(202);
    }
  });
  SinkFigures figures("events", false);
  for (int round = 1; round <= 5; ++round) {
    const EventSink sink(options_for(agent, receiver.port()), figures);
    const auto until = static_cast<std::size_t>(round * 8);
    REQUIRE(agent.soon([&] { return receiver.heard().size() >= until || agent.waiting() == 0; }));
  }
  {
    const EventSink sink(options_for(agent, receiver.port()), figures);
    REQUIRE(agent.soon([&] { return agent.waiting() == 0; }));
  }
  std::map<std::string, std::vector<std::string>> arrived;  // in order of first arrival, by stream
  std::set<std::string> ids;
  for (const Heard& one : receiver.heard()) {
    const auto event = boost::json::parse(one.body).as_object();
    const std::string type(event.at("type").as_string());
    if (ids.insert(std::string(event.at("id").as_string())).second)
      arrived[type].push_back(std::string(event.at("sequence").as_string()));
  }
  CHECK(ids.size() == 50);
  for (const auto& [type, sequences] : arrived) CHECK(std::is_sorted(sequences.begin(), sequences.end()));
}

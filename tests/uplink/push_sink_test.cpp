// Owns the checks of pushing over real sockets: headers and bytes of both kinds, and partial success.
#include "agent/uplink/push_sink.hpp"

#include <algorithm>

#include <snappy.h>

#include "tests/support/catch.hpp"
#include "tests/uplink/fault_server.hpp"

using namespace nvstripe;
using namespace nvstripe::uplink;
using namespace std::chrono_literals;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

PushSinkOptions options_for(const FaultServer& server, PushKind kind, std::vector<std::string>& said) {
  PushSinkOptions options;
  options.kind = kind;
  options.url = {false, "127.0.0.1", server.port(), "/v1/metrics"};
  options.every = 20ms;
  options.folders = {"/nonexistent"};
  options.samples = [] {
    SampleGathering samples;
    samples.add("nvstripe_ready", 1);
    samples.add("nvstripe_core_up", 1);
    return samples.take();
  };
  options.sender = [] { return Sender{"vm-7", "azure", "urn:uuid:x"}; };
  options.say = [&said](const std::string& line) { said.push_back(line); };
  return options;
}

}  // namespace

TEST_CASE("OTLP is pushed compressed, with the headers asked for and who sends it") {
  std::vector<std::string> said;
  SinkFigures figures("metrics");
  const FaultServer server([](const Heard&) { return FaultServer::plain(200); });
  {
    PushSinkOptions options = options_for(server, PushKind::otlp, said);
    options.otlp.headers = {{"api-key", "k"}};
    const PushSink sink(std::move(options), figures);
    REQUIRE(server.wait_for(2));
  }
  const Heard first = server.heard().at(0);
  CHECK(first.head.starts_with("POST /v1/metrics HTTP/1.1\r\n"));
  CHECK(has(first.head, "Content-Type: application/x-protobuf\r\n"));
  CHECK(has(first.head, "Content-Encoding: gzip\r\n"));
  CHECK(has(first.head, "api-key: k\r\n"));
  CHECK(first.body.starts_with("\x1f\x8b"));
}

TEST_CASE("without compression the bytes are OTLP's, and a partial success is counted and not sent again") {
  std::vector<std::string> said;
  SinkFigures figures("metrics");
  const std::string partial("\x0a\x06\x08\x03\x12\x02no", 8);  // 3 rejected, "no"
  const FaultServer server([&](const Heard&) { return FaultServer::plain(200, {}, partial); });
  {
    PushSinkOptions options = options_for(server, PushKind::otlp, said);
    options.otlp.gzip = false;
    options.otlp.attributes = {{"service.name", "mine"}};
    const PushSink sink(std::move(options), figures);
    REQUIRE(server.wait_for(2));
  }
  const auto heard = server.heard();
  for (const char* text : {"nvstripe_ready", "vm-7", "azure", "urn:uuid:x", "mine"}) CHECK(has(heard[0].body, text));
  CHECK(heard[0].body != heard[1].body);  // another time: not the same batch again
  CHECK(said.at(0) == "metrics: 3 points were not taken: no");
  SampleGathering gathered;
  figures.add_to(gathered);
  const SampleSet set = gathered.take();
  const auto rejected = std::find_if(
      set.begin(), set.end(), [](const Family& family) { return family.name == "nvstripe_upstream_rejected_points_total"; });
  REQUIRE(rejected != set.end());
  CHECK(rejected->samples.at(0).value >= 3);
}

TEST_CASE("remote write is pushed as its text asks") {
  std::vector<std::string> said;
  SinkFigures figures("remote_write");
  const FaultServer server([](const Heard&) { return FaultServer::plain(204); });
  {
    const PushSink sink(options_for(server, PushKind::remote_write, said), figures);
    REQUIRE(server.wait_for(1));
  }
  const Heard first = server.heard().at(0);
  CHECK(has(first.head, "Content-Encoding: snappy\r\n"));
  CHECK(has(first.head, "X-Prometheus-Remote-Write-Version: 0.1.0\r\n"));
  CHECK(has(first.head, "User-Agent: nvstripe-uplink/"));
  std::string plain;
  REQUIRE(snappy::Uncompress(first.body.data(), first.body.size(), &plain));
  for (const char* text : {"__name__", "nvstripe_ready", "vm-7"}) CHECK(has(plain, text));
}

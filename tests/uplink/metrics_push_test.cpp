// Owns the checks of pushing metrics: intervals, what is kept while a sink is away, which answers are tried again, and what
// the environment says.
#include "agent/uplink/metrics_push.hpp"

#include <algorithm>
#include <map>

#include "agent/uplink/otlp_settings.hpp"
#include "tests/support/catch.hpp"
#include "tests/uplink/delivery_world.hpp"

using namespace nvstripe;
using namespace nvstripe::uplink;
using namespace std::chrono_literals;

namespace {

struct World {
  SimulatedReceiver receiver;
  SinkFigures figures{"metrics"};
  std::size_t size = 100;
  int taken = 0;
  std::chrono::milliseconds now{0};
  std::vector<std::string> told;
  double drawn = 0.5;
  MetricsPush push;

  explicit World(Verdict (*judge)(int) = judge_otlp)
      : push(15s, {[this] { return std::to_string(++taken) + std::string(size, ' '); }, receiver, judge,
                   [](const Posted&) {}, [this] { return drawn; }, [] { return std::int64_t{0}; },
                   [this](const std::string& text) { told.push_back(text); }, figures}) {}
  void run(std::chrono::milliseconds span) {
    const auto until = now + span;
    while (now < until) now += push.step(now);
  }
  double sample(const std::string& name) const {
    SampleGathering gathered;
    figures.add_to(gathered);
    const SampleSet set = gathered.take();
    for (const Family& family : set)
      if (family.name == name) return family.samples.at(0).value;
    return 0;
  }
};

std::vector<int> numbers(const std::vector<std::string>& bodies) {
  std::vector<int> out;
  for (const std::string& body : bodies) out.push_back(std::stoi(body));
  return out;
}

OtlpSettings with(const std::map<std::string, std::string>& variables) {
  return otlp_settings([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

}  // namespace

TEST_CASE("a batch is taken each interval and sent at once, the first one somewhere within the first") {
  World world;
  world.run(150s);
  CHECK(world.taken >= 9);
  CHECK(world.taken <= 11);
  CHECK(world.receiver.received.size() == static_cast<std::size_t>(world.taken));
}

TEST_CASE("while a sink is away batches are kept, and go in order when it is back, not all at once") {
  World world;
  world.receiver.answer = [](const std::string&) { return Posted{.error = "refused"}; };
  world.run(30min);
  const auto kept = world.push.kept();
  CHECK(kept >= 115);
  CHECK(world.receiver.requests < 120);
  CHECK(world.sample("nvstripe_upstream_backoff_seconds") > 0);
  world.receiver.answer = [](const std::string&) { return Posted{.status = 200}; };
  world.run(5min);  // the longest pause
  world.run(3min);
  CHECK(world.push.kept() <= 1);
  const auto order = numbers(world.receiver.received);
  CHECK(std::is_sorted(order.begin(), order.end()));
  CHECK(order.size() >= kept);
  CHECK(world.sample("nvstripe_upstream_dropped_batches_total") == 0);
  CHECK(world.sample("nvstripe_upstream_backoff_seconds") == 0);
}

TEST_CASE("what is kept is bounded in number and bytes, and the oldest goes first and is counted") {
  World world;
  SECTION("in number") { world.size = 10; }
  SECTION("in bytes") { world.size = 100'000; }
  world.receiver.answer = [](const std::string&) { return Posted{.status = 503}; };
  world.run(3h);
  CHECK(world.push.kept() <= kMaxBatches);
  CHECK(world.push.kept() * world.size <= kMaxBatchBytes);
  CHECK(world.sample("nvstripe_upstream_dropped_batches_total") == world.taken - static_cast<double>(world.push.kept()));
  world.receiver.answer = [](const std::string&) { return Posted{.status = 200}; };
  world.run(10min);
  CHECK(numbers(world.receiver.received).front() > 1);
}

TEST_CASE("answers are tried again as each protocol says, and else dropped and counted") {
  for (const int status : {0, 429, 502, 503, 504}) CHECK(judge_otlp(status) == Verdict::again);
  for (const int status : {301, 400, 401, 404, 413, 500, 501}) CHECK(judge_otlp(status) == Verdict::refused);
  for (const int status : {0, 429, 500, 503, 599}) CHECK(judge_remote_write(status) == Verdict::again);
  for (const int status : {302, 400, 404, 409}) CHECK(judge_remote_write(status) == Verdict::refused);
  for (const int status : {200, 202, 204}) {
    CHECK(judge_otlp(status) == Verdict::accepted);
    CHECK(judge_remote_write(status) == Verdict::accepted);
  }
  World world;
  world.receiver.answer = [](const std::string&) { return Posted{.status = 400, .body = "out of order"}; };
  world.run(2min);
  CHECK(world.push.kept() == 0);
  CHECK(world.sample("nvstripe_upstream_dropped_batches_total") == world.taken);
  REQUIRE_FALSE(world.told.empty());
  CHECK(world.told.front() == "a batch was refused: status 400: out of order");
}

TEST_CASE("Retry-After is kept while metrics go on to be taken") {
  World world;
  world.receiver.answer = [](const std::string&) { return Posted{.status = 429, .retry_after = "600"}; };
  world.run(9min);
  CHECK(world.receiver.requests == 1);
  CHECK(world.push.kept() >= 34);
}

TEST_CASE("OpenTelemetry's variables are read, those for metrics before those for all") {
  const OtlpSettings all = with({{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://c:4318/base/"},
                                 {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b, x=1"},
                                 {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"},
                                 {"OTEL_EXPORTER_OTLP_COMPRESSION", "none"},
                                 {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"},
                                 {"OTEL_METRIC_EXPORT_INTERVAL", "30000"},
                                 {"OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=lab"},
                                 {"OTEL_SERVICE_NAME", "storage"}});
  CHECK(all.problems.empty());
  CHECK(all.url == Url{true, "c", 4318, "/base/v1/metrics"});
  CHECK(all.headers == std::vector<std::pair<std::string, std::string>>{{"api-key", "a b"}, {"x", "1"}});
  CHECK(all.timeout == 2500ms);
  CHECK_FALSE(all.gzip);
  CHECK(all.files.ca == "/ca.pem");
  CHECK(all.every == 30s);
  CHECK(all.attributes.at(0).second == "lab");
  CHECK(all.service_name == "storage");
  const OtlpSettings own = with({{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://c:4318"},
                                 {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://m:1/x"},
                                 {"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "y=2"},
                                 {"OTEL_EXPORTER_OTLP_HEADERS", "x=1"}});
  CHECK(own.url == Url{false, "m", 1, "/x"});
  CHECK(own.headers.at(0).first == "y");
  CHECK(with({}).gzip);
  CHECK_FALSE(with({}).url);
  CHECK(with({{"OTEL_SDK_DISABLED", "true"}}).disabled);
  CHECK(with_otlp_path({true, "c", 4318, "/"}).target == "/v1/metrics");
  CHECK(with_otlp_path({true, "c", 4318, "/opentelemetry/v1/metrics"}).target == "/opentelemetry/v1/metrics");
}

TEST_CASE("a variable that says nothing usable is left aside with a word") {
  for (const auto& [name, value] : std::map<std::string, std::string>{{"OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318"},
                                                                      {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                                                                      {"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd"},
                                                                      {"OTEL_EXPORTER_OTLP_TIMEOUT", "10s"},
                                                                      {"OTEL_METRIC_EXPORT_INTERVAL", "0"},
                                                                      {"OTEL_EXPORTER_OTLP_HEADERS", "novalue"},
                                                                      {"OTEL_EXPORTER_OTLP_HEADERS", "a=b%zz"},
                                                                      {"OTEL_RESOURCE_ATTRIBUTES", "a=1\n2"}}) {
    CAPTURE(name, value);
    const OtlpSettings settings = with({{name, value}});
    REQUIRE(settings.problems.size() == 1);
    CHECK(settings.problems[0].starts_with(name));
    CHECK_FALSE(settings.url);
  }
}

TEST_CASE("headers and keys for one receiver are not given to another, nor sent in the clear") {
  const OtlpSettings named = with({{"OTEL_EXPORTER_OTLP_ENDPOINT", "https://vendor:4318"},
                                   {"OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret"},
                                   {"OTEL_EXPORTER_OTLP_CLIENT_KEY", "/key.pem"}});
  CHECK(settings_for(named, {true, "vendor", 4318, "/v1/metrics"}).headers.size() == 1);
  CHECK(settings_for(named, {true, "other", 4318, "/"}).headers.empty());
  CHECK(settings_for(named, {true, "other", 4318, "/"}).files.key.empty());
  CHECK(settings_for(named, {false, "vendor", 4318, "/"}).headers.empty());
  const OtlpSettings bare = with({{"OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret"}});
  CHECK(settings_for(bare, {true, "any", 4318, "/"}).headers.size() == 1);
  CHECK(settings_for(bare, {false, "any", 4318, "/"}).headers.empty());
  CHECK(settings_for(bare, {false, "127.0.0.1", 4318, "/"}).headers.size() == 1);
}

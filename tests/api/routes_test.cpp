// Owns tests of the routes: who may ask what, and that changes are queued and followed.
#include "agent/api/routes.hpp"

#include <boost/json.hpp>

#include "agent/cli/commands.hpp"
#include "agent/model/event.hpp"
#include "agent/model/json.hpp"
#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;

namespace {

constexpr std::uint32_t kSomebody = 1000, kUplink = 990;

struct Fixture {
  api::Board board;
  api::SharedStore store{std::move(*store::Store::open(":memory:"))};
  api::HttpResponse ask(const std::string& method, const std::string& target, std::uint32_t uid,
                        const std::string& body = {}) {
    const auto mark = target.find('?');
    api::HttpRequest request{method, target.substr(0, mark), mark == std::string::npos ? "" : target.substr(mark + 1), body,
                             uid};
    return api::respond({.board = board, .store = store, .uplink_uid = kUplink}, request);
  }
  void publish(const Spec& spec, const Inventory& seen) {
    api::Snapshot snapshot;
    snapshot.taken = "2026-01-01T00:00:00Z";
    snapshot.spec.spec = spec;
    snapshot.spec.loaded = snapshot.taken;
    snapshot.pass.seen = seen;
    board.publish(snapshot);
  }
};

boost::json::value parsed(const api::HttpResponse& response) { return boost::json::parse(response.body); }

}  // namespace

TEST_CASE("Everybody may read, and only root may change") {
  Fixture fixture;
  fixture.publish(seen::two_target_spec(), seen::two_targets_connected());
  for (const char* path :
       {"/v1/status", "/v1/devices", "/v1/plan", "/v1/volumes", "/v1/events", "/v1/spec", "/v1/identity"}) {
    const auto response = fixture.ask("GET", path, kSomebody);
    INFO(path);
    CHECK(response.status == 200);
    CHECK(parsed(response).at("api_version").as_int64() == 1);
  }
  for (const char* path : {"/v1/apply", "/v1/hold", "/v1/release", "/v1/revert", "/v1/identity/adopt"}) {
    INFO(path);
    CHECK(fixture.ask("POST", path, kSomebody, R"({"object":"all","volume":"train"})").status == 403);
    CHECK(fixture.ask("POST", path, 0, R"({"object":"all","volume":"train"})").status == 202);
  }
  CHECK(fixture.ask("GET", "/v1/records", kSomebody).status == 403);
}

TEST_CASE("Only root has the agent look at what a spec of his own names") {
  Fixture fixture;
  const std::string spec = "version: 1\nconnections: [{name: s1, address: 192.0.2.1}]\n";
  CHECK(fixture.ask("POST", "/v1/plan", kSomebody, spec).status == 403);
  CHECK(fixture.ask("POST", "/v1/plan", kSomebody).status == 202);
  CHECK(fixture.ask("POST", "/v1/plan", 0, spec).status == 202);
}

TEST_CASE("A host NQN file of another tool is a note, and no reason for identity to fail") {
  Fixture fixture;
  api::Snapshot snapshot;
  snapshot.pass.seen = seen::machine();
  snapshot.pass.plan.conflicts = {
      {"host identity", "identity", "another tool", "", Standing::note, "identity.foreign_hostnqn"}};
  fixture.board.publish(snapshot);
  CHECK_FALSE(cli::has_open_conflicts(parsed(fixture.ask("GET", "/v1/identity", kSomebody))));
  snapshot.pass.plan.conflicts.push_back(
      {"host identity", "identity", "a clone", "", Standing::refused, "identity.mismatch"});
  fixture.board.publish(snapshot);
  const auto told = parsed(fixture.ask("GET", "/v1/identity", kSomebody));
  CHECK(told.at("conflicts").as_array().size() == 2);
  CHECK(cli::has_open_conflicts(told));
}

TEST_CASE("What is not there is 404 and a wrong method 405, each with a remedy") {
  Fixture fixture;
  CHECK(fixture.ask("GET", "/v2/status", 0).status == 404);
  CHECK(fixture.ask("DELETE", "/v1/status", 0).status == 405);
  CHECK(fixture.ask("GET", "/v1/requests/7", 0).status == 404);
  CHECK(fixture.ask("GET", "/v1/requests/x", 0).status == 404);
  const auto answer = parsed(fixture.ask("POST", "/v1/hold", 0, "{}"));
  CHECK_FALSE(answer.at("error").at("remedy").as_string().empty());
}

TEST_CASE("Before the first look devices and plan say so instead of showing nothing") {
  Fixture fixture;
  CHECK(fixture.ask("GET", "/v1/devices", kSomebody).status == 503);
  CHECK(fixture.ask("GET", "/v1/plan", kSomebody).status == 503);
  CHECK(fixture.ask("GET", "/v1/status", kSomebody).status == 200);
}

TEST_CASE("A request is queued, worked on and remembered with its lines") {
  Fixture fixture;
  const auto begun = parsed(fixture.ask("POST", "/v1/apply", 0, R"({"accept":"abc"})"));
  const auto id = static_cast<std::uint64_t>(begun.at("request").as_int64());
  const std::string path = "/v1/requests/" + std::to_string(id);
  CHECK(parsed(fixture.ask("GET", path, kSomebody)).at("state") == "queued");
  const auto request = fixture.board.take();
  REQUIRE(request);
  CHECK(request->argument == "abc");
  fixture.board.begin_line(id, "md.create:train", "make it");
  auto answer = parsed(fixture.ask("GET", path, kSomebody));
  CHECK(answer.at("state") == "running");
  CHECK(answer.at("last_line_open") == true);
  fixture.board.finish(id, {ActionOutcome{"md.create:train", "make it", "it broke", "mend it"}}, {}, {}, "{}");
  answer = parsed(fixture.ask("GET", path, kSomebody));
  CHECK(answer.at("state") == "done");
  CHECK(answer.at("lines").as_array().at(0).at("error") == "it broke");
}

TEST_CASE("A line that ended says at once whether it failed, though others follow") {
  Fixture fixture;
  const auto begun = parsed(fixture.ask("POST", "/v1/apply", 0, "{}"));
  const auto id = static_cast<std::uint64_t>(begun.at("request").as_int64());
  REQUIRE(fixture.board.take());
  fixture.board.begin_line(id, "md.create:train", "make it");
  fixture.board.end_line(id, ActionOutcome{"md.create:train", "make it", "it broke", "mend it"});
  fixture.board.begin_line(id, "md.create:other", "make the other");
  const auto answer = parsed(fixture.ask("GET", "/v1/requests/" + std::to_string(id), kSomebody));
  CHECK(answer.at("lines").as_array().at(0).at("error") == "it broke");
  CHECK(answer.at("lines").as_array().at(1).at("error") == "");
  CHECK(answer.at("last_line_open") == true);
}

TEST_CASE("A status that is old because the engine hangs says so and is not fine") {
  Fixture fixture;
  fixture.publish(Spec{}, seen::machine());
  fixture.board.beat(1'000'000);
  std::int64_t now = 1'100'000;
  const auto status = [&] {
    return parsed(
        api::respond({fixture.board, fixture.store, [&] { return now; }}, {"GET", "/v1/status", "", "", kSomebody}));
  };
  CHECK(status().at("ok") == true);
  now = 1'200'000;
  CHECK(status().at("ok") == false);
  CHECK_FALSE(status().at("pass_error").as_string().empty());
  fixture.board.set_activity("make an XFS file system", now);
  CHECK(status().at("ok") == true);
}

TEST_CASE("A caller who repeats himself is told so instead of filling memory") {
  Fixture fixture;
  for (std::size_t i = 0; i < api::Board::kMaxQueued; ++i) CHECK(fixture.ask("POST", "/v1/plan", kSomebody).status == 202);
  CHECK(fixture.ask("POST", "/v1/plan", kSomebody).status == 503);
}

TEST_CASE("Events are read newest first in number and oldest first in order") {
  Fixture fixture;
  for (int i = 0; i < 5; ++i)
    REQUIRE(fixture.store.write({}, {EventDraft{std::string(event::kHoldSet), "volume:v" + std::to_string(i), "{}"}}));
  const auto newest = parsed(fixture.ask("GET", "/v1/events?limit=2", kSomebody)).at("events").as_array();
  REQUIRE(newest.size() == 2);
  CHECK(newest.at(1).at("subject") == "volume:v4");
  const auto last = newest.at(0).at("sequence").to_number<std::uint64_t>();
  const auto after =
      parsed(fixture.ask("GET", "/v1/events?after=" + std::to_string(last), kSomebody)).at("events").as_array();
  REQUIRE(after.size() == 1);
  CHECK(after.at(0).at("subject") == "volume:v4");
}

TEST_CASE("The outbox is pulled and answered by the uplink and root alone") {
  Fixture fixture;
  REQUIRE(fixture.store.write({}, {{std::string(event::kAgentStarted), "agent", R"({"version":"x"})"}}));
  CHECK(fixture.ask("GET", "/v1/outbox?stream=state", kSomebody).status == 403);
  CHECK(fixture.ask("POST", "/v1/outbox/acknowledge", kSomebody, "{}").status == 403);
  CHECK(fixture.ask("POST", "/v1/outbox/refuse", kSomebody, "{}").status == 403);
  CHECK(fixture.ask("POST", "/v1/outbox/replay", kUplink, R"({"sequence":0})").status == 403);
  CHECK(fixture.ask("GET", "/v1/outbox?stream=nonsense", kUplink).status == 400);
  CHECK(fixture.ask("GET", "/v1/outbox", kUplink).status == 400);
  CHECK(fixture.ask("POST", "/v1/outbox/acknowledge", kUplink, "nonsense").status == 400);

  const auto pulled = parsed(fixture.ask("GET", "/v1/outbox?stream=state", kUplink));
  CHECK(pulled.at("source").as_string().starts_with("urn:uuid:"));
  const auto& one = pulled.at("events").as_array().at(0);
  CHECK(one.at("data").at("version").as_string() == "x");
  const std::string epoch = std::to_string(one.at("epoch").to_number<std::uint64_t>());
  const std::string answer = R"({"stream":"state","epoch":)" + epoch + R"(,"sequence":1,"reason":"400"})";
  const std::string stale = R"({"stream":"state","epoch":1,"sequence":1})";
  CHECK(fixture.ask("POST", "/v1/outbox/acknowledge", kUplink, stale).status == 409);
  CHECK(fixture.ask("POST", "/v1/outbox/refuse", kUplink, answer).status == 200);
  CHECK(parsed(fixture.ask("GET", "/v1/outbox/dead", kSomebody)).at("events").as_array().size() == 1);
  CHECK(fixture.ask("POST", "/v1/outbox/replay", 0, R"({"sequence":9})").status == 404);
  CHECK(fixture.ask("POST", "/v1/outbox/replay", 0, R"({"sequence":0})").status == 200);
  const auto again = parsed(fixture.ask("GET", "/v1/outbox?stream=state", kUplink));
  CHECK(again.at("events").as_array().at(0).at("again").as_bool());
}

TEST_CASE("Metrics tell of events that wait only where somebody is to get them") {
  Fixture fixture;
  REQUIRE(fixture.store.write({}, {{std::string(event::kAgentStarted), "agent", "{}"}}));
  Spec spec = seen::two_target_spec();
  fixture.publish(spec, seen::two_targets_connected());
  CHECK(fixture.ask("GET", "/v1/metrics", kSomebody).body.find("nvstripe_spool_records") == std::string::npos);
  spec.telemetry.events_url = "https://collector/events";
  fixture.publish(spec, seen::two_targets_connected());
  CHECK(fixture.ask("GET", "/v1/metrics", kSomebody).body.find("nvstripe_spool_oldest_timestamp_seconds") !=
        std::string::npos);
}

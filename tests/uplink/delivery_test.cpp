// Owns the checks of delivery: nothing the agent let go is missing at the receiver, order is kept, pauses are kept, a
// receiver that refuses everything is not believed, and a fleet does not come back as one.
#include "tests/uplink/delivery_world.hpp"

#include <algorithm>
#include <map>
#include <queue>

#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::uplink;

namespace {

Posted status(int code, std::string retry_after = {}) { return {.status = code, .retry_after = std::move(retry_after)}; }

bool in_order(const std::vector<std::string>& ids) {
  std::uint64_t before = 0;
  for (const std::string& id : ids) {
    const std::uint64_t sequence = std::stoull(id.substr(id.find('-') + 1));
    if (sequence <= before) return false;
    before = sequence;
  }
  return true;
}

// What the agent let go was taken by the receiver, or lies aside.
bool nothing_lost(const SimulatedUplink& world) {
  for (std::uint64_t i = 1; i <= world.outbox.cursor; ++i)
    if (!world.receiver.known.contains(world.outbox.id(i)) && !world.outbox.refused.contains(i)) return false;
  return true;
}

}  // namespace

TEST_CASE("events arrive in order, each once, and few commits of the agent are needed") {
  SimulatedUplink world;
  world.outbox.happen(250);
  REQUIRE(world.drain());
  CHECK(world.receiver.received.size() == 250);
  CHECK(in_order(world.receiver.received));
  CHECK(world.receiver.requests == 250);
  CHECK(world.outbox.acknowledgements <= 15);
}

TEST_CASE("every status of the matrix is answered as the protocols say") {
  struct Row {
    int status;
    bool accepted, refused;
  };
  for (const Row& row : std::vector<Row>{{200, true, false},  {201, true, false},  {202, true, false},  {204, true, false},
                                         {301, false, false}, {302, false, false}, {307, false, false}, {400, false, true},
                                         {401, false, false}, {403, false, false}, {404, false, false}, {408, false, false},
                                         {410, false, false}, {413, false, true},  {415, false, false}, {422, false, true},
                                         {429, false, false}, {500, false, false}, {503, false, false}, {0, false, false}}) {
    CAPTURE(row.status);
    SimulatedUplink world;
    world.outbox.happen(2);
    (void)world.delivery->step();  // one is taken, so that a refusal is believed
    world.receiver.answer = [&](const std::string&) { return status(row.status); };
    const auto pause = world.delivery->step();
    CHECK(world.outbox.refused.contains(2) == row.refused);
    CHECK((world.outbox.cursor == 2) == (row.accepted || row.refused));
    if (row.status == 410) CHECK(pause >= std::chrono::minutes(30));
    if (!row.accepted && !row.refused) CHECK(pause.count() > 0);
    CHECK(nothing_lost(world));
  }
}

TEST_CASE("a receiver that refuses everything is doubted, not believed") {
  SimulatedUplink world;
  world.outbox.happen(500);
  world.receiver.answer = [](const std::string&) { return status(400); };
  while (world.now_ms < 24.0 * 3600 * 1000) (void)world.step();
  CHECK(world.outbox.refused.size() >= 1);
  CHECK(world.outbox.refused.size() <= 60);  // in a day; each can be sent again
  CHECK(world.outbox.cursor < 100);
  world.receiver.answer = [](const std::string&) { return status(202); };
  REQUIRE(world.drain());
  CHECK(nothing_lost(world));
}

TEST_CASE("one event that is refused by a receiver that works keeps nobody waiting") {
  SimulatedUplink world;
  world.outbox.happen(30);
  world.receiver.answer = [](const std::string& text) {
    return text == "1-10" ? Posted{.status = 400, .body = "no such\nthing"} : status(202);
  };
  REQUIRE(world.drain());
  CHECK(world.outbox.refused == std::set<std::uint64_t>{10});
  CHECK(world.outbox.reasons.at(0) == "status 400: no such\\x0athing");
  CHECK(world.now_ms < 5'000);
  CHECK(world.receiver.received.size() == 29);
}

TEST_CASE("Retry-After is kept in both forms, and bounded") {
  CHECK(parse_retry_after("120", 0) == std::chrono::seconds(120));
  CHECK(parse_retry_after(" 0 ", 0) == std::chrono::seconds(0));
  CHECK(parse_retry_after("Fri, 31 Dec 1999 23:59:59 GMT", 946'684'769) == std::chrono::seconds(30));
  CHECK(parse_retry_after("Fri, 31 Dec 1999 23:59:59 GMT", 999'999'999) == std::chrono::seconds(0));
  for (const char* text : {"", "soon", "-1", "1.5", "Fri, 31 Dec 1999", "Fri, 31 Dec 1999 23:59:59 GMT x"})
    CHECK_FALSE(parse_retry_after(text, 0));
  CHECK(pause_before_retry(0, 0.5, std::chrono::seconds(120)) >= std::chrono::seconds(120));
  CHECK(pause_before_retry(0, 0.5, std::chrono::seconds(1'000'000)) <= kLongestAsked + kLongestPause);
  SimulatedUplink world;
  world.outbox.happen();
  world.receiver.answer = [](const std::string&) { return status(503, "120"); };
  CHECK(world.step() >= 120'000);
}

TEST_CASE("pauses grow to five minutes and are drawn from the whole span") {
  double shortest = 1e9, longest = 0;
  for (int i = 0; i < 100; ++i) {
    const auto pause = static_cast<double>(pause_before_retry(30, i / 100.0, {}).count());
    shortest = std::min(shortest, pause);
    longest = std::max(longest, pause);
  }
  CHECK(shortest < 5'000);
  CHECK(longest > 280'000);
  CHECK(longest <= 300'000);
  CHECK(pause_before_retry(0, 0.99, {}) <= std::chrono::seconds(1));
}

TEST_CASE("three days of outage are sat out with few requests, and then all arrives in order") {
  SimulatedUplink world;
  constexpr double kDay = 24.0 * 3600 * 1000;
  world.receiver.answer = [](const std::string&) { return Posted{.error = "connection refused"}; };
  double produced = 0;
  while (world.now_ms < 3 * kDay) {
    (void)world.step();
    while (produced < world.now_ms) {  // one each ten seconds
      world.outbox.happen();
      produced += 10'000;
    }
  }
  CHECK(world.receiver.requests < 2'500);
  const std::uint64_t total = world.outbox.last;
  CHECK(total > 25'000);
  CHECK(world.outbox.cursor == 0);
  world.receiver.answer = [](const std::string&) { return status(202); };
  REQUIRE(world.drain());
  CHECK(world.receiver.received.size() == total);
  CHECK(in_order(world.receiver.received));
  CHECK(world.receiver.twice == 0);
  WARN("three days: " << total << " events in order, " << world.receiver.requests - total << " requests during the outage");
}

TEST_CASE("whatever fails on both sides, the agent lets go only what arrived") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    SimulatedUplink world(seed);
    static constexpr int kAnswers[] = {0, 0, 200, 202, 204, 301, 401, 404, 410, 429, 500, 502, 503, 504};
    world.receiver.answer = [&](const std::string& text) {
      const int code = kAnswers[static_cast<std::size_t>(world.draw() * std::size(kAnswers))];
      if (code == 0 && world.draw() < 0.5) world.receiver.take(text);  // it arrived, and the answer was lost
      return status(code);
    };
    for (int i = 0; i < 1'500; ++i) {
      const double dice = world.draw();
      if (dice < 0.3) world.outbox.happen();
      if (dice > 0.9) world.outbox.down = !world.outbox.down;
      if (dice > 0.85 && dice < 0.87) world.start();
      (void)world.step();
      REQUIRE(nothing_lost(world));
    }
    world.outbox.down = false;
    world.receiver.answer = [](const std::string&) { return status(202); };
    REQUIRE(world.drain());
    CHECK(world.receiver.received.size() == world.outbox.last);
    CHECK(in_order(world.receiver.received));
  }
}

TEST_CASE("when the agent's state begins anew, what was pulled before is not acknowledged in the new one") {
  SimulatedUplink world;
  world.outbox.happen(10);
  for (int i = 0; i < 4; ++i) (void)world.step();
  world.outbox.begin_anew();
  world.outbox.happen(3);
  REQUIRE(world.drain());
  for (const char* id : {"2-1", "2-2", "2-3"}) CHECK(world.receiver.known.contains(id));
}

// 265 uplinks, each with a stream of one event a minute, against one receiver that is away for an hour.
TEST_CASE("a fleet does not come back as one, and loses nothing") {
  constexpr int kUplinks = 265;
  constexpr double kMinute = 60'000, kOutageFrom = 10 * kMinute, kOutageTo = 70 * kMinute, kEnd = 120 * kMinute;
  std::vector<std::unique_ptr<SimulatedUplink>> fleet;
  std::map<long, int> each_second;
  using Turn = std::pair<double, int>;
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  std::vector<double> produced;
  for (int i = 0; i < kUplinks; ++i) {
    fleet.push_back(std::make_unique<SimulatedUplink>(static_cast<std::uint64_t>(i) + 1));
    SimulatedUplink& one = *fleet.back();
    one.receiver.answer = [&each_second, &one](const std::string&) {
      ++each_second[static_cast<long>(one.now_ms / 1000)];
      return one.now_ms >= kOutageFrom && one.now_ms < kOutageTo ? Posted{.error = "refused"} : status(202);
    };
    one.now_ms = one.draw() * 3'000;
    produced.push_back(one.draw() * kMinute);
    turns.emplace(one.now_ms, i);
  }
  while (turns.top().first < kEnd) {
    const int i = turns.top().second;
    turns.pop();
    SimulatedUplink& one = *fleet[static_cast<std::size_t>(i)];
    for (double& next = produced[static_cast<std::size_t>(i)]; next < one.now_ms; next += kMinute) one.outbox.happen();
    (void)one.step();
    turns.emplace(one.now_ms + 1, i);
    one.now_ms += 1;
  }
  const auto busiest = [&](double from, double to) {
    int most = 0;
    for (const auto& [second, count] : each_second)
      if (static_cast<double>(second) * 1000 >= from && static_cast<double>(second) * 1000 < to)
        most = std::max(most, count);
    return most;
  };
  const int steady = busiest(kMinute, kOutageFrom), outage = busiest(kOutageFrom + kMinute, kOutageTo),
            recovery = busiest(kOutageTo, kEnd);
  std::size_t waiting_each = 0;
  for (const auto& one : fleet) {
    CHECK(one->outbox.cursor + 2 >= one->outbox.last);
    CHECK(in_order(one->receiver.received));
    CHECK(one->receiver.received.size() >= one->outbox.cursor);
    waiting_each = std::max<std::size_t>(waiting_each, 60);
  }
  WARN("busiest second of 265 uplinks: " << steady << " steady, " << outage << " in the outage, " << recovery
                                         << " at recovery (" << waiting_each * kUplinks << " events waited)");
  CHECK(outage * 5 < kUplinks);
  CHECK(recovery * 10 < static_cast<int>(waiting_each) * kUplinks);
}

TEST_CASE("refused events that are sent again and refused again keep nobody waiting") {
  SimulatedUplink world;
  world.outbox.happen(20);
  world.outbox.again = {101, 102, 103};
  world.receiver.answer = [](const std::string& text) {
    return status(text.starts_with("1-10") && text.size() == 5 ? 400 : 202);
  };
  REQUIRE(world.drain());
  CHECK(world.outbox.again.empty());
  CHECK(world.outbox.refused.size() == 3);
  CHECK(world.now_ms < 10'000);
}

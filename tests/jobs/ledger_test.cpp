// Tests that a job's end is one event, whoever tells of it, in whatever order, and after a restart; and what it tells.
#include "agent/jobs/ledger.hpp"

#include <algorithm>

#include <boost/json.hpp>

#include "agent/model/event_schema.hpp"
#include "agent/store/store.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::jobs;

namespace {

constexpr std::uint64_t kNow = 1'767'225'600'000;  // 2026-01-01

struct Bench {
  std::unique_ptr<store::Store> store = std::move(*store::Store::open(":memory:"));
  std::vector<JobRecord> ended;
  std::unique_ptr<Ledger> ledger = open();

  std::unique_ptr<Ledger> open() {
    return std::move(*Ledger::open(*store, [this](const JobRecord& record) { ended.push_back(record); }));
  }
  void restart() { ledger = open(); }
  std::vector<boost::json::object> events(std::string_view type) const {
    std::vector<boost::json::object> out;
    const std::vector<Event> all = *store->events({0, 100'000, false});
    for (const Event& event : all)
      if (event.type == type) out.push_back(boost::json::parse(event.data).as_object());
    return out;
  }
  std::size_t ends() const { return events(event::kJobEnded).size(); }
};

JobStart start(const std::string& id, const std::string& invocation = {}) {
  JobStart told;
  told.id = id;
  told.name = "train";
  told.uid = 1000;
  told.invocation_id = invocation;
  told.boot_id = "boot";
  return told;
}

JobEnd ending(const std::string& id, Ending how = exit_ending(0), const std::string& invocation = {}) {
  JobEnd told;
  told.id = id;
  told.invocation_id = invocation;
  told.how = std::move(how);
  return told;
}

}  // namespace

TEST_CASE("a job begins and ends with one event each") {
  Bench bench;
  JobStart told = start("j1");
  told.counts = {{"train", 7, 1000, 50}, {"gone", 8, 1, 1}, {"remade", 9, 1, 1}};
  REQUIRE(bench.ledger->begin(told, kNow));
  REQUIRE(bench.ledger->begin(told, kNow + 5));
  REQUIRE(bench.ledger->report({"j1", 0.93, "reported"}, kNow + 10));
  REQUIRE(bench.ledger->report({"j1", 0.5, "proxy"}, kNow + 20));
  JobEnd end = ending("j1", exit_ending(3));
  end.memory_peak_bytes = 4096;
  const auto record = bench.ledger->end(end, "boot", {{"train", 7, 1512, 50}, {"remade", 10, 9, 9}}, kNow + 90'500);
  REQUIRE(record);
  CHECK(record->counts_at_start.empty());
  REQUIRE(bench.events(event::kJobStarted).size() == 1);
  CHECK(bench.events(event::kJobStarted)[0].at("started") == "2026-01-01T00:00:00.000Z");
  REQUIRE(bench.ends() == 1);
  const boost::json::object data = bench.events(event::kJobEnded)[0];
  CHECK(data.at("result") == "failed");
  CHECK(data.at("exit_status") == 3);
  CHECK(data.at("duration_s") == 90.5);
  CHECK(data.at("ended") == "2026-01-01T00:01:30.500Z");
  CHECK(data.at("volumes") == boost::json::value{{"train", {{"read_bytes", 512}, {"written_bytes", 0}}}});
  CHECK(data.at("memory_peak_bytes") == 4096);
  CHECK(data.at("accelerator_utilization") == 0.93);
  CHECK_FALSE(data.contains("signal"));
}

TEST_CASE("the same end told by three sources, in every order and across restarts, is one event") {
  JobEnd by_unit = ending("", {JobResult::failed, "", 1, ""}, "abc");
  by_unit.source = JobSource::unit;
  JobEnd by_job = ending("j1");
  JobEnd by_both = ending("j1", {}, "abc");
  std::vector<JobEnd> told{by_unit, by_job, by_both};
  std::vector<int> order{0, 1, 2};
  do {
    for (const bool restart : {false, true}) {
      Bench bench;
      REQUIRE(bench.ledger->begin(start("j1", "abc"), kNow));
      for (const int one : order) {
        REQUIRE(bench.ledger->end(told[static_cast<std::size_t>(one)], "boot", {}, kNow + 1));
        if (restart) bench.restart();
      }
      CHECK(bench.ends() == 1);
      CHECK(bench.ended.size() == 1);
      CHECK(bench.ledger->list().size() == 1);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("an end of a job that nobody knew of is recorded as it is told, once") {
  Bench bench;
  JobEnd told = ending("", {JobResult::oom, "", {}, "KILL"}, "0123456789abcdef0123456789abcdef");
  told.source = JobSource::unit;
  told.name = "train";
  told.unit = "train.service";
  REQUIRE(bench.ledger->end(told, "boot", {{"train", 7, 5, 5}}, kNow));
  told.id = "another-name";
  REQUIRE(bench.ledger->end(told, "boot", {}, kNow + 1));
  REQUIRE(bench.ends() == 1);
  const boost::json::object data = bench.events(event::kJobEnded)[0];
  CHECK(data.at("signal") == "KILL");
  for (const char* unknown : {"exit_status", "started", "duration_s", "volumes"}) CHECK_FALSE(data.contains(unknown));
}

TEST_CASE("an id is used once") {
  Bench bench;
  REQUIRE(bench.ledger->begin(start("j1"), kNow));
  REQUIRE(bench.ledger->end(ending("j1"), "boot", {}, kNow));
  const auto again = bench.ledger->begin(start("j1"), kNow + 1);
  REQUIRE_FALSE(again);
  CHECK(is_errno(again.error(), EEXIST));
  CHECK_FALSE(again.error().remedy.empty());
  CHECK(is_errno(bench.ledger->seen("j1", kNow).error(), EEXIST));
  CHECK(is_errno(bench.ledger->seen("j2", kNow).error(), ENOENT));
  CHECK(is_errno(bench.ledger->report({"j2", 0.5, "proxy"}, kNow).error(), ENOENT));
}

TEST_CASE("a unit that starts again quickly is another job, by its invocation") {
  Bench bench;
  for (const char* invocation : {"aaaa", "bbbb"}) {
    JobStart told = start("", invocation);
    told.source = JobSource::unit;
    told.unit = "train.service";
    REQUIRE(bench.ledger->begin(told, kNow));
  }
  REQUIRE(bench.ledger->end(ending("", exit_ending(1), "aaaa"), "boot", {}, kNow + 1));
  CHECK(bench.ends() == 1);
  CHECK(bench.ledger->find("aaaa")->ended != 0);
  CHECK(bench.ledger->find("bbbb")->ended == 0);
}

TEST_CASE("a reboot ends what ran as unknown, unless its end was told before") {
  Bench bench;
  REQUIRE(bench.ledger->begin(start("cut"), kNow));
  REQUIRE(bench.ledger->begin(start("told"), kNow));
  JobStart present = start("present");
  present.boot_id = "next";
  REQUIRE(bench.ledger->begin(present, kNow));
  bench.restart();
  REQUIRE(bench.ledger->end(ending("told"), "next", {}, kNow + 10));
  REQUIRE(bench.ledger->end_of_other_boots("next", kNow + 20));
  CHECK(bench.ledger->find("told")->result == JobResult::success);
  const auto cut = bench.ledger->find("cut");
  CHECK(cut->result == JobResult::unknown);
  CHECK(cut->reason == "reboot");
  CHECK_FALSE(cut->exit_status);
  CHECK_FALSE(duration_s(*cut));
  CHECK(bench.ledger->find("present")->ended == 0);
  CHECK(bench.ends() == 2);
}

TEST_CASE("counts of another boot are not compared") {
  Bench bench;
  JobStart told = start("j1");
  told.counts = {{"train", 7, 1, 1}};
  REQUIRE(bench.ledger->begin(told, kNow));
  CHECK(bench.ledger->end(ending("j1"), "next", {{"train", 7, 9, 9}}, kNow)->volumes.empty());
}

TEST_CASE("of ended jobs the newest thousand are kept, and all that run") {
  Bench bench;
  REQUIRE(bench.ledger->begin(start("runs"), kNow));
  for (std::size_t i = 0; i < kJobsKept + 5; ++i) {
    JobEnd told = ending("j" + std::to_string(i));
    told.ended = kNow + i;
    REQUIRE(bench.ledger->end(told, "boot", {}, kNow));
  }
  CHECK(bench.ledger->list().size() == kJobsKept + 1);
  CHECK(bench.store->records()->jobs.size() == kJobsKept + 1);
  CHECK_FALSE(bench.ledger->find("j4"));
  CHECK(bench.ledger->find("j5"));
  CHECK(bench.ledger->list().front().id == "runs");
  CHECK(bench.ledger->list()[1].id == "j" + std::to_string(kJobsKept + 4));
}

TEST_CASE("jobs that never end do not grow without bound") {
  Bench bench;
  for (std::size_t i = 0; i < kMaxRunning; ++i) REQUIRE(bench.ledger->begin(start("j" + std::to_string(i)), kNow));
  CHECK(is_errno(bench.ledger->begin(start("more"), kNow).error(), ENOSPC));
  CHECK(bench.ledger->begin(start("j0"), kNow));
  CHECK(bench.ledger->running().at(JobSource::report) == kMaxRunning);
}

TEST_CASE("a heartbeat is written once a minute") {
  Bench bench;
  REQUIRE(bench.ledger->begin(start("j1"), kNow));
  CHECK(bench.ledger->seen("j1", kNow + kSeenEveryMs - 1)->last_seen == kNow);
  CHECK(bench.ledger->seen("j1", kNow + kSeenEveryMs)->last_seen == kNow + kSeenEveryMs);
  CHECK(bench.store->records()->jobs.at(0).last_seen == kNow + kSeenEveryMs);
}

TEST_CASE("a utilisation is a ratio, and the job's own word stands against a proxy's") {
  Bench bench;
  REQUIRE(bench.ledger->begin(start("j1"), kNow));
  for (const double bad : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    CHECK_FALSE(bench.ledger->report({"j1", bad, "reported"}, kNow));
  CHECK_FALSE(bench.ledger->report({"j1", 0.5, "guessed"}, kNow));
  CHECK(bench.ledger->report({"j1", 0.4, "proxy"}, kNow)->accelerator_source == "proxy");
  CHECK(bench.ledger->report({"j1", 0.9, "reported"}, kNow)->accelerator_utilization == 0.9);
  CHECK(bench.ledger->report({"j1", 0.4, "proxy"}, kNow)->accelerator_utilization == 0.9);
}

TEST_CASE("every event of a job has the subject and the keys that the table tells") {
  Bench bench;
  REQUIRE(bench.ledger->begin(start("j1"), kNow));
  REQUIRE(bench.ledger->end(ending("j1", {JobResult::signalled, "stopped", 1, "TERM"}), "boot", {}, kNow));
  const std::vector<Event> all = *bench.store->events({0, 10, false});
  for (const Event& event : all) {
    CHECK(event.subject == "job/j1");
    CHECK(schema_problem(event.type, event.data) == "");
  }
}

// Owns tests of how the daemon counts and reads in the background what metrics show, and of the route that answers it.
#include <algorithm>

#include "agent/api/routes.hpp"
#include "agent/daemon/figures_watch.hpp"
#include "agent/daemon/tally.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using namespace std::chrono_literals;
using Clock = daemon::FiguresRounds::Clock;

namespace {

api::Snapshot mounted(std::uint64_t serial) {
  api::Snapshot snapshot;
  snapshot.serial = serial;
  snapshot.taken = snapshot.spec.loaded = "2026-01-01T00:00:00Z";
  snapshot.spec.spec = seen::two_target_spec();
  Inventory& host = snapshot.pass.seen;
  host = seen::two_targets_connected();
  VolumeRecord record;
  record.name = "train";
  record.stack = "md";
  record.generation = 7;
  record.stage = Stage::made;
  record.mount_path = "/mnt/train";
  for (const BlockDevice& block : host.blocks.value())
    if (block.kind == DeviceKind::remote_namespace && record.members.size() < 4) record.members.push_back(block.key);
  seen::records(host).volumes.push_back(record);
  const Uuid array = derive(seen::host_id(), "array", "train", 7);
  seen::run_array(host, array, "nvs-train", record.members);
  seen::mount(host, DeviceKey{"md:" + to_text(array)}, "/mnt/train");
  for (unsigned number : {1u, 2u}) {
    BlockDevice drive = seen::local_ssd(number);
    drive.controllers = {"nvme" + std::to_string(number)};
    host.controllers.value().push_back(
        NvmeController{.kernel_name = drive.controllers.front(), .transport = "pcie", .state = "live"});
    host.blocks.value().push_back(drive);
  }
  return snapshot;
}

struct Rounds {
  double now = 1000;
  daemon::Tally tally{[this] { return now; }};
  std::vector<host::FiguresQuestions> asked;
  host::FiguresAnswers answers;
  daemon::FiguresRounds rounds{[this](const host::FiguresQuestions& questions) {
                                 asked.push_back(questions);
                                 return answers;
                               },
                               tally};
  void look(const api::Snapshot& snapshot, std::chrono::seconds at) { rounds.look(snapshot, Clock::time_point(at)); }
  CollectorRun run(std::string_view name) { return tally.measured().counters.collectors.at(std::string(name)); }
};

}  // namespace

TEST_CASE("Space is asked of mounted volumes, and SMART of local drives with a live controller, once a controller") {
  api::Snapshot snapshot = mounted(1);
  BlockDevice second = seen::local_ssd(3);
  second.controllers = {"nvme2"};
  second.nsid = 9;
  snapshot.pass.seen.blocks.value().push_back(second);
  const host::FiguresQuestions questions = daemon::figures_questions(snapshot);
  REQUIRE(questions.spaces.size() == 1);
  CHECK(questions.spaces.front() == host::SpaceQuestion{"train", "/mnt/train", "9:127"});
  REQUIRE(questions.healths.size() == 2);
  CHECK(questions.healths[0].device == seen::local_ssd(1).key);
  CHECK(questions.healths[1].device == seen::local_ssd(2).key);
  for (NvmeController& controller : snapshot.pass.seen.controllers.value()) controller.state = "resetting";
  snapshot.pass.seen.mounts.value().mounts.clear();
  CHECK(daemon::figures_questions(snapshot) == host::FiguresQuestions{});
}

TEST_CASE("A round is made each minute, and at once for what was never asked") {
  Rounds at;
  at.look(api::Snapshot{}, 100s);
  CHECK(at.asked.empty());
  at.look(mounted(1), 100s);
  CHECK(at.asked.size() == 1);
  at.look(mounted(2), 130s);
  CHECK(at.asked.size() == 1);
  api::Snapshot more = mounted(3);
  BlockDevice drive = seen::local_ssd(3);
  drive.controllers = {"nvme3"};
  more.pass.seen.controllers.value().push_back(NvmeController{.kernel_name = "nvme3", .transport = "pcie", .state = "live"});
  more.pass.seen.blocks.value().push_back(drive);
  at.look(more, 135s);
  CHECK(at.asked.size() == 2);
  at.look(more, 194s);
  CHECK(at.asked.size() == 2);
  at.look(more, 195s);
  CHECK(at.asked.size() == 3);
}

TEST_CASE("What was silent rests for ten minutes, is shown by nothing and keeps its collector from success") {
  Rounds at;
  const std::string dead = seen::local_ssd(1).key.text;
  at.answers.silent = {dead};
  at.answers.figures.healths[seen::local_ssd(2).key].media_errors = 3;
  at.answers.figures.spaces["train"].size_bytes = 7;
  at.look(mounted(1), 100s);
  CHECK(at.tally.measured().figures == at.answers.figures);
  CHECK(at.run(kSpaceCollector).success);
  CHECK_FALSE(at.run(kHealthCollector).success);
  CHECK(at.run(kHealthCollector).last_success == 0);
  at.answers.silent.clear();
  at.now = 2000;
  for (const int second : {160, 699}) {
    at.look(mounted(static_cast<std::uint64_t>(second)), std::chrono::seconds(second));
    CHECK(at.asked.back().healths.size() == 1);
    CHECK(at.asked.back().spaces.size() == 1);
    CHECK_FALSE(at.run(kHealthCollector).success);
  }
  at.look(mounted(9999), 760s);
  CHECK(at.asked.back().healths.size() == 2);
  CHECK(at.run(kHealthCollector).success);
  CHECK(at.run(kHealthCollector).last_success == 2000);
}

TEST_CASE("What answers something else than was asked is asked again in a minute, and is no success") {
  Rounds at;
  at.answers.failed = {"train"};
  at.look(mounted(1), 100s);
  CHECK_FALSE(at.run(kSpaceCollector).success);
  CHECK(at.run(kHealthCollector).success);
  at.answers.failed.clear();
  at.look(mounted(2), 160s);
  CHECK(at.asked.back().spaces.size() == 1);
  CHECK(at.run(kSpaceCollector).success);
}

TEST_CASE("The background ends when it is told to, also before the first look") {
  api::Board board;
  daemon::Tally tally([] { return 0.0; });
  { const daemon::FiguresWatch watch(board, tally); }
  CHECK(tally.measured().counters.collectors.empty());
}

TEST_CASE("Everybody may read metrics, in the line text, with what was counted") {
  api::Board board;
  api::SharedStore store{std::move(*store::Store::open(":memory:"))};
  board.publish(mounted(0));
  daemon::Tally tally([] { return 1234.5; });
  const PassReport pass = mounted(1).pass;
  tally.passed(std::chrono::seconds(2), &pass);
  tally.passed(std::chrono::seconds(1), nullptr);
  tally.acted({"mount.start:train", "mount it", "", ""});
  tally.collected("md", std::chrono::milliseconds(4), true);
  const api::RouteContext context{board, store, {}, [&] { return tally.measured(); }};
  const api::HttpResponse response = api::respond(context, {"GET", "/v1/metrics", "", "", 1000});
  CHECK(response.status == 200);
  const auto samples = from_lines(response.body);
  REQUIRE(samples.has_value());
  const auto value = [&](std::string_view name, const std::vector<std::string>& labels) {
    for (const Family& family : *samples)
      for (const Sample& sample : family.samples)
        if (family.name == name && sample.labels == labels) return sample.value;
    return -1.0;
  };
  CHECK(value("nvstripe_start_time_seconds", {}) == 1234.5);
  CHECK(value("nvstripe_reconcile_runs_total", {}) == 2);
  CHECK(value("nvstripe_reconcile_failures_total", {}) == 1);
  CHECK(value("nvstripe_actions_total", {"mount.start"}) == 1);
  CHECK(value("nvstripe_collector_duration_seconds", {"md"}) == 0.004);
  CHECK(value("nvstripe_nvmeof_losses_total", {"s1:0000000000000001", "rdma:10.9.0.1:4420"}) == 0);
  CHECK(value("nvstripe_volume_mounted", {"train"}) == 1);
}

TEST_CASE("Without a daemon's counts the route shows what the snapshot has") {
  api::Board board;
  api::SharedStore store{std::move(*store::Store::open(":memory:"))};
  const api::HttpResponse response = api::respond({board, store}, {"GET", "/v1/metrics", "", "", 1000});
  CHECK(response.status == 200);
  CHECK(from_lines(response.body).has_value());
}

TEST_CASE("An agent whose look hangs is not ready, whatever it saw before") {
  api::Board board;
  api::SharedStore store{std::move(*store::Store::open(":memory:"))};
  board.publish(mounted(0));
  board.beat(1'000);
  const auto ready_at = [&](std::int64_t now) {
    const api::RouteContext context{board, store, [now] { return now; }};
    const std::string body = api::respond(context, {"GET", "/v1/metrics", "", "", 1000}).body;
    return body.find("f\tnvstripe_ready\ns\t1\n") != std::string::npos;
  };
  CHECK(ready_at(2'000));
  CHECK_FALSE(ready_at(600'000));
}

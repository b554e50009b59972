// Tests the routes of jobs: who may tell what, what is answered, and that a command runs as its caller alone.
#include <boost/json.hpp>

#include "agent/api/routes.hpp"
#include "agent/model/event.hpp"
#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;

namespace {

constexpr std::uint32_t kMember = 1000, kOther = 1001, kStranger = 4711;

struct Fixture {
  std::unique_ptr<store::Store> opened = std::move(*store::Store::open(":memory:"));
  api::Board board;
  api::SharedStore store{std::move(opened)};
  api::JobFigures figures;
  jobs::Ledger ledger{store, {}, [this](const JobRecord& record) { figures.ended(record); }};
  std::uint64_t now = 1'767'225'600'000;
  std::vector<std::pair<jobs::JobRun, jobs::RunAs>> ran;
  Result<> can_run;
  test::Folder sys;
  api::JobsContext context{ledger,
                           [](std::uint32_t uid) -> std::optional<host::Account> {
                             if (uid == kMember || uid == 0) return host::Account{uid + 5, uid == kMember};
                             return uid == kOther ? std::optional(host::Account{100, false}) : std::nullopt;
                           },
                           "boot",
                           [this] { return now; },
                           [this] { return can_run; },
                           [this](jobs::JobRun run, jobs::RunAs as) { ran.emplace_back(std::move(run), as); },
                           sys.path()};

  api::HttpResponse ask(const std::string& method, const std::string& path, std::uint32_t uid,
                        const std::string& body = {}) {
    const api::RouteContext routes{.board = board, .store = store, .jobs = &context};
    return api::respond(routes, api::HttpRequest{method, path, "", body, uid});
  }
  unsigned post(const std::string& verb, std::uint32_t uid, const std::string& body) {
    return ask("POST", "/v1/jobs/" + verb, uid, body).status;
  }
  std::size_t events(std::string_view type) {
    const std::vector<Event> all = *store.events({0, 1000, false});
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](const Event& e) { return e.type == type; }));
  }
};

boost::json::value job_of(const api::HttpResponse& response) { return boost::json::parse(response.body).at("job"); }

}  // namespace

TEST_CASE("Members of the group and root declare jobs, and nobody else") {
  Fixture fixture;
  CHECK(fixture.post("start", kMember, R"({"id":"m"})") == 200);
  CHECK(fixture.post("start", 0, R"({"id":"r"})") == 200);
  CHECK(fixture.post("start", kOther, R"({"id":"o"})") == 403);
  CHECK(fixture.post("start", kStranger, R"({"id":"s"})") == 403);
  CHECK(fixture.post("run", kOther, R"({"argv":["/bin/true"]})") == 403);
  CHECK(fixture.ask("GET", "/v1/jobs", kStranger).status == 200);
  CHECK(fixture.ask("GET", "/v1/jobs/m", kStranger).status == 200);
  CHECK(fixture.ask("GET", "/v1/jobs/o", kStranger).status == 404);
  CHECK(fixture.events(event::kJobStarted) == 2);
  CHECK(fixture.ran.empty());
}

TEST_CASE("A job's own user tells of it, and of no other's") {
  Fixture fixture;
  jobs::JobStart start;
  start.id = "own";
  start.uid = kOther;
  REQUIRE(fixture.ledger.begin(start, fixture.now));
  REQUIRE(fixture.post("start", kMember, R"({"id":"m"})") == 200);
  for (const char* verb : {"heartbeat", "report", "end"}) {
    INFO(verb);
    const std::string more = std::string(verb) == "report" ? R"(,"accelerator_utilization":0.5})" : "}";
    CHECK(fixture.post(verb, kOther, R"({"id":"m")" + more) == 403);
    CHECK(fixture.post(verb, kStranger, R"({"id":"own")" + more) == 403);
    CHECK(fixture.post(verb, kOther, R"({"id":"own")" + more) == 200);
  }
  CHECK(fixture.post("start", kOther, R"({"id":"own"})") == 403);
  CHECK(fixture.ledger.find("m")->ended == 0);
}

TEST_CASE("An end is answered again and told once") {
  Fixture fixture;
  REQUIRE(fixture.post("start", kMember, R"({"id":"m","name":"train"})") == 200);
  fixture.now += 61'000;
  const auto first = fixture.ask("POST", "/v1/jobs/end", kMember, R"({"id":"m","result":"failed","exit_status":2})");
  CHECK(job_of(first).at("exit_status") == 2);
  CHECK(job_of(first).at("duration_s") == 61.0);
  const auto second = fixture.ask("POST", "/v1/jobs/end", 0, R"({"id":"m","result":"success","exit_status":0})");
  CHECK(second.status == 200);
  CHECK(job_of(second).at("result") == "failed");
  CHECK(fixture.events(event::kJobEnded) == 1);
  CHECK(fixture.post("start", kMember, R"({"id":"m"})") == 409);
  CHECK(fixture.post("heartbeat", kMember, R"({"id":"m"})") == 409);
  CHECK(fixture.post("heartbeat", kMember, R"({"id":"x"})") == 404);
  CHECK(fixture.post("end", kMember, R"({"id":"m","colour":"red"})") == 400);
  CHECK(fixture.post("end", kMember, "{") == 400);
}

TEST_CASE("A command runs as its caller, whatever the request says") {
  Fixture fixture;
  const auto begun =
      fixture.ask("POST", "/v1/jobs/run", kMember,
                  R"({"name":"train","argv":["/bin/sh","-c","exit 3"],"directory":"/mnt","environment":{"A":"1"}})");
  REQUIRE(begun.status == 200);
  REQUIRE(fixture.ran.size() == 1);
  const auto& [run, as] = fixture.ran.front();
  CHECK(as.uid == kMember);
  CHECK(as.gid == kMember + 5);
  CHECK(run.argv == std::vector<std::string>{"/bin/sh", "-c", "exit 3"});
  CHECK(jobs::valid_id(run.id));
  CHECK(job_of(begun).at("source") == "run");
  CHECK(job_of(begun).at("unit").as_string() == jobs::unit_of(run.id));
  CHECK(fixture.post("run", kMember, R"({"argv":["/bin/true"],"uid":0})") == 400);
  CHECK(fixture.post("run", kMember, R"({"argv":["true"]})") == 400);
  CHECK(fixture.post("run", kMember, R"({"id":")" + run.id + R"(","argv":["/bin/true"]})") == 409);
  CHECK(fixture.ran.size() == 1);
}

TEST_CASE("Without systemd-run a command is refused with a remedy, and no job begins") {
  Fixture fixture;
  fixture.can_run = fail("program 'systemd-run' is not installed", "install the package 'systemd'");
  const auto answer = fixture.ask("POST", "/v1/jobs/run", kMember, R"({"argv":["/bin/true"]})");
  CHECK(answer.status == 503);
  CHECK(boost::json::parse(answer.body).at("error").at("remedy") == "install the package 'systemd'");
  CHECK(fixture.ledger.list().empty());
  CHECK(fixture.ran.empty());
}

TEST_CASE("Jobs that end are counted for metrics by source and result") {
  Fixture fixture;
  REQUIRE(fixture.post("start", kMember, R"({"id":"a"})") == 200);
  REQUIRE(fixture.post("start", kMember, R"({"id":"b"})") == 200);
  fixture.now += 30'000;
  REQUIRE(fixture.post("end", 0, R"({"id":"a","result":"success","exit_status":0})") == 200);
  REQUIRE(fixture.post("end", 0, R"({"id":"a","result":"success","exit_status":0})") == 200);
  REQUIRE(fixture.post("end", 0, R"({"id":"slurm-1","source":"slurm","result":"oom"})") == 200);
  const JobsView view = fixture.figures.view(fixture.ledger);
  CHECK(view.running.at("report") == 1);
  CHECK(view.running.at("run") == 0);
  CHECK(view.completed.at("report") == std::map<std::string, std::uint64_t>{{"success", 1}});
  CHECK(view.completed.at("slurm") == std::map<std::string, std::uint64_t>{{"oom", 1}});
  CHECK(view.seconds.at("report").sum == 30);
  CHECK_FALSE(view.seconds.contains("slurm"));
}

TEST_CASE("What a job read and wrote is of the volumes seen at its begin and its end") {
  Fixture fixture;
  api::Snapshot snapshot;
  snapshot.taken = "2026-01-01T00:00:00Z";
  snapshot.spec.spec = seen::two_target_spec();
  Inventory& machine = snapshot.pass.seen = seen::two_targets_connected();
  const Uuid array = derive(seen::host_id(), "array", "train", 7);
  VolumeRecord record{.name = "train", .stack = "md", .generation = 7, .stage = Stage::made, .mount_path = "/mnt/train"};
  for (const BlockDevice& block : machine.blocks.value())
    if (block.kind == DeviceKind::remote_namespace && record.members.size() < 4) record.members.push_back(block.key);
  seen::records(machine).volumes.push_back(record);
  seen::run_array(machine, array, "nvs-train", record.members);
  BlockDevice& device = seen::device(machine, DeviceKey{"md:" + to_text(array)});
  device.diskseq = 12;
  const std::string kernel_name = device.kernel_name;
  fixture.board.publish(snapshot);
  const auto count = [&](const std::string& diskseq, const std::string& sectors) {
    fixture.sys.write(kernel_name + "/diskseq", diskseq + "\n");
    fixture.sys.write(kernel_name + "/inflight", "0 0\n");
    fixture.sys.write(kernel_name + "/stat", "1 0 " + sectors + " 1 1 0 8 1 0 1 1\n");
  };
  const auto volumes = [&](const std::string& id) {
    return job_of(fixture.ask("POST", "/v1/jobs/end", kMember, R"({"id":")" + id + R"("})")).at("volumes");
  };
  count("12", "100");
  for (const char* id : {"a", "b", "c"})
    REQUIRE(fixture.post("start", kMember, R"({"id":")" + std::string(id) + R"("})") == 200);
  count("12", "108");
  CHECK(volumes("a") == boost::json::value{{"train", {{"read_bytes", 4096}, {"written_bytes", 0}}}});
  count("13", "200");  // another disk has the name by now
  CHECK(volumes("b").as_object().empty());
  fixture.board.publish(api::Snapshot{});
  CHECK(volumes("c").as_object().empty());
}

TEST_CASE("A list of jobs shows those that run first") {
  Fixture fixture;
  REQUIRE(fixture.post("start", kMember, R"({"id":"a"})") == 200);
  REQUIRE(fixture.post("end", kMember, R"({"id":"a"})") == 200);
  REQUIRE(fixture.post("start", kMember, R"({"id":"b"})") == 200);
  const auto list = boost::json::parse(fixture.ask("GET", "/v1/jobs", kStranger).body);
  CHECK(list.at("api_version") == 1);
  CHECK(list.at("jobs").at(0).at("id") == "b");
  CHECK(list.at("jobs").at(1).at("state") == "ended");
}

TEST_CASE("A member of the group tells neither of another user's job nor the end of root's and systemd's") {
  Fixture fixture;
  jobs::JobStart start;
  start.id = "other";
  start.uid = kOther;
  REQUIRE(fixture.ledger.begin(start, fixture.now));
  CHECK(fixture.post("start", kMember, R"({"id":"other"})") == 409);
  CHECK(fixture.post("heartbeat", kMember, R"({"id":"other"})") == 403);
  CHECK(fixture.post("end", kMember, R"({"id":"other"})") == 403);
  REQUIRE(fixture.post("start", 0, R"({"id":"unit"})") == 200);
  CHECK(fixture.post("heartbeat", kMember, R"({"id":"unit"})") == 200);
  CHECK(fixture.post("end", kMember, R"({"id":"unit"})") == 403);
  REQUIRE(fixture.post("run", kMember, R"({"id":"mine","argv":["/bin/true"]})") == 200);
  CHECK(fixture.post("end", kMember, R"({"id":"mine"})") == 403);
  CHECK(fixture.post("end", 0, R"({"id":"mine","exit_status":0})") == 200);
}

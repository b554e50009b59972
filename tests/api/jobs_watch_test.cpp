// Tests what is done about jobs beside the socket: reports left as files, commands handed to systemd, units that are gone.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <boost/json.hpp>

#include "agent/cli/job.hpp"
#include "agent/daemon/job_watch.hpp"
#include "agent/jobs/wire.hpp"
#include "agent/store/store.hpp"
#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using daemon::JobRounds;

namespace {

namespace fs = std::filesystem;

struct FakeRunner final : host::Runner {
  Result<host::CommandResult> answer = host::CommandResult{.exit_status = 0};
  std::vector<std::string> argv;
  Result<host::CommandResult> run(const host::Command& command) override {
    argv = command.argv;
    return answer;
  }
};

struct Fixture {
  std::unique_ptr<store::Store> store = std::move(*store::Store::open(":memory:"));
  test::Folder folder;
  std::uint64_t now = 1'767'225'600'000;
  FakeRunner runner;
  jobs::Ledger ledger{*store, {}, {}};
  JobRounds rounds{
      ledger, {{folder.path("reports"), ::getuid()}, folder.path("transient")}, "boot", runner, [this] { return now; }};

  void begin(const std::string& id, JobSource source = JobSource::report, const std::string& boot = "boot") {
    jobs::JobStart start;
    start.id = id;
    start.source = source;
    start.boot_id = boot;
    REQUIRE(ledger.begin(start, now));
  }
  [[nodiscard]] bool bad(const std::string& name) const { return fs::exists(folder.path("reports/bad/" + name)); }
  [[nodiscard]] std::size_t left() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder.path("reports"))) count += entry.is_directory() ? 0 : 1;
    return count;
  }
};

jobs::JobRun command(const std::string& id) {
  jobs::JobRun run;
  run.id = id;
  run.argv = {"/bin/true"};
  return run;
}

}  // namespace

TEST_CASE("An end left as a file is taken, with the time it had, and its file removed") {
  Fixture fixture;
  fixture.begin("j1");
  jobs::JobEnd end;
  end.id = "j1";
  end.source = JobSource::unit;
  end.how = jobs::exit_ending(4);
  end.ended = fixture.now + 5'000;
  REQUIRE(cli::leave_report(fixture.folder.path("reports"), end));
  CHECK(fixture.left() == 1);
  fixture.now += 60'000;
  fixture.rounds.look();
  const auto job = fixture.ledger.find("j1");
  CHECK(job->exit_status == 4u);
  CHECK(job->ended == end.ended);
  CHECK(fixture.left() == 0);
  CHECK(fixture.store->events({0, 100, false})->size() == 2);
}

TEST_CASE("A report that is not whole, too large, a link or odd is set aside, and the others are taken") {
  Fixture fixture;
  fixture.folder.write("reports/a", "{\"id\":");
  fixture.folder.write("reports/b", "{\"id\":\"b\",\"note\":\"" + std::string(jobs::kMaxReportBytes, 'x') + "\"}");
  fixture.folder.write("elsewhere", R"({"id":"c"})");
  fs::create_symlink(fixture.folder.path("elsewhere"), fixture.folder.path("reports/c"));
  REQUIRE(::mkfifo(fixture.folder.path("reports/d").c_str(), 0600) == 0);
  fs::create_directory(fixture.folder.path("reports/e"));
  fixture.folder.write("reports/f", R"({"id":"good","result":"success"})");
  fixture.folder.write("reports/.draft", R"({"id":"draft"})");
  fixture.rounds.look();
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    INFO(name);
    CHECK(fixture.bad(name));
  }
  CHECK(fixture.ledger.find("good")->source == JobSource::marker);
  CHECK_FALSE(fixture.ledger.find("c"));
  CHECK_FALSE(fixture.ledger.find("draft"));
  CHECK(fixture.left() == 1);
}

TEST_CASE("A report of somebody else is not believed") {
  Fixture fixture;
  fixture.folder.write("reports/a", R"({"id":"a"})");
  daemon::take_reports({fixture.folder.path("reports"), ::getuid() + 1}, fixture.ledger, "boot", fixture.now);
  CHECK(fixture.bad("a"));
  CHECK(fixture.ledger.list().empty());
}

TEST_CASE("Reports are taken before what a reboot cut off is ended") {
  Fixture fixture;
  fixture.begin("told", JobSource::report, "earlier");
  fixture.begin("cut", JobSource::report, "earlier");
  fixture.folder.write("reports/a", R"({"id":"told","result":"success","exit_status":0})");
  fixture.rounds.look();
  CHECK(fixture.ledger.find("told")->result == JobResult::success);
  CHECK(fixture.ledger.find("cut")->reason == "reboot");
}

TEST_CASE("A command that systemd takes goes on, and one that it refuses has failed and says why") {
  Fixture fixture;
  fixture.begin("a", JobSource::run);
  fixture.rounds.start(command("a"), {1000, 1000});
  CHECK(fixture.runner.argv == jobs::run_argv(command("a"), {1000, 1000}));
  CHECK(fixture.ledger.find("a")->ended == 0);
  fixture.begin("b", JobSource::run);
  fixture.runner.answer = host::CommandResult{.exit_status = 1, .err = "Failed to start transient service unit\n"};
  fixture.rounds.start(command("b"), {1000, 1000});
  const auto refused = fixture.ledger.find("b");
  CHECK(refused->result == JobResult::failed);
  CHECK(refused->reason.starts_with("not started: "));
  CHECK_FALSE(refused->exit_status);
  fixture.begin("c", JobSource::run);
  fixture.runner.answer = fail("program 'systemd-run' is not installed");
  fixture.rounds.start(command("c"), {1000, 1000});
  CHECK(fixture.ledger.find("c")->result == JobResult::failed);
  fixture.begin("d", JobSource::run);
  fixture.runner.answer = host::CommandResult{.timed_out = true};
  fixture.rounds.start(command("d"), {1000, 1000});
  CHECK(fixture.ledger.find("d")->ended == 0);
}

TEST_CASE("A unit that is gone without a word has ended, nobody knows how") {
  Fixture fixture;
  fixture.begin("here", JobSource::run);
  fixture.begin("gone", JobSource::run);
  fixture.begin("told", JobSource::run);
  fixture.begin("other", JobSource::report);
  fixture.folder.write("transient/" + jobs::unit_of("here"), "");
  fixture.rounds.look();
  CHECK(fixture.ledger.find("gone")->ended == 0);
  fixture.now += JobRounds::kAppearsMs;
  fixture.folder.write("reports/a", R"({"id":"told","result":"success","exit_status":0})");
  fixture.rounds.look();
  CHECK(fixture.ledger.find("here")->ended == 0);
  CHECK(fixture.ledger.find("other")->ended == 0);
  CHECK(fixture.ledger.find("told")->result == JobResult::success);
  const auto gone = fixture.ledger.find("gone");
  CHECK(gone->result == JobResult::unknown);
  CHECK(gone->reason == "lost");
  CHECK_FALSE(jobs::duration_s(*gone));
}

TEST_CASE("Options, a unit's environment and Slurm's make the same kind of end") {
  std::map<std::string, std::string, std::less<>> variables;
  const jobs::Environment environment = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  cli::JobWords words;
  CHECK_FALSE(cli::end_of(words, environment));
  words.id = "j1";
  words.exit_status = 3;
  CHECK(cli::end_of(words, environment)->how == jobs::exit_ending(3));
  words.result = "wonderful";
  CHECK_FALSE(cli::end_of(words, environment));

  words = {};
  words.from_unit = true;
  CHECK_FALSE(cli::end_of(words, environment));
  variables = {{"INVOCATION_ID", "abc"}, {"SERVICE_RESULT", "success"}, {"EXIT_CODE", "exited"}, {"EXIT_STATUS", "0"}};
  auto end = cli::end_of(words, environment);
  REQUIRE(end);
  CHECK(end->invocation_id == "abc");
  CHECK(end->source == JobSource::unit);
  CHECK(end->how.result == JobResult::success);
  words.id = "j1";
  words.source = "run";
  CHECK(cli::end_of(words, environment)->source == JobSource::run);
  CHECK(cli::start_of(words, environment)->invocation_id == "abc");

  words = {};
  words.from_slurm = true;
  CHECK_FALSE(cli::end_of(words, environment));
  variables = {{"SLURM_JOB_ID", "17"}, {"SLURM_JOB_UID", "1000"}, {"SLURM_JOB_START_TIME", "1767225600"}};
  end = cli::end_of(words, environment);
  REQUIRE(end);
  CHECK(end->id == "slurm-17");
  CHECK(end->uid == 1000);
  CHECK(end->started == 1'767'225'600'000);
  CHECK(end->how == jobs::Ending{});
  variables["SLURM_JOB_RESTART_COUNT"] = "2";
  CHECK(cli::end_of(words, environment)->id == "slurm-17.r2");
}

TEST_CASE("Who waits for a job gets its own exit status") {
  CHECK(cli::shell_status(boost::json::parse(R"({"exit_status":3,"signal":null})")) == 3);
  CHECK(cli::shell_status(boost::json::parse(R"({"exit_status":null,"signal":"KILL"})")) == 137);
  CHECK(cli::shell_status(boost::json::parse(R"({"result":"success","exit_status":0,"signal":null})")) == 0);
  CHECK_FALSE(cli::shell_status(boost::json::parse(R"({"result":"oom","exit_status":0,"signal":null})")));
  CHECK_FALSE(cli::shell_status(boost::json::parse(R"({"exit_status":null,"signal":null})")));
}

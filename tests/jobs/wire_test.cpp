// Tests what is told of jobs as text: it reads back, it is strict, and only root may speak for others.
#include "agent/jobs/wire.hpp"

#include <algorithm>

#include <boost/json.hpp>

#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::jobs;

namespace {

constexpr Teller kRoot{0}, kSomebody{1000};

JobEnd whole_end() {
  JobEnd end;
  end.id = "j1";
  end.name = "träin";
  end.source = JobSource::slurm;
  end.uid = 1001;
  end.unit = "u.service";
  end.invocation_id = "abc";
  end.how = {JobResult::signalled, "stopped", 1, "TERM"};
  end.started = 5;
  end.ended = 6;
  end.memory_peak_bytes = 7;
  return end;
}

JobRun run_of(std::vector<std::string> argv) {
  JobRun run;
  run.id = "j1";
  run.argv = std::move(argv);
  return run;
}

}  // namespace

TEST_CASE("an end reads back as it was told") {
  const auto back = parse_end(end_text(whole_end()), kRoot);
  REQUIRE(back);
  CHECK(*back == whole_end());
}

TEST_CASE("only root says whose job it is, who saw it and when") {
  const auto back = parse_end(end_text(whole_end()), kSomebody);
  REQUIRE(back);
  CHECK(back->uid == 1000);
  CHECK(back->source == JobSource::report);
  CHECK(back->started == 0);
  CHECK(back->ended == 0);
  CHECK(parse_start(R"({"id":"j1","uid":0,"source":"slurm"})", kSomebody)->uid == 1000);
  CHECK(parse_start(R"({"id":"j1","uid":0,"source":"slurm"})", kSomebody)->source == JobSource::report);
}

TEST_CASE("what cannot be read is refused whole") {
  for (const char* text :
       {"", "[]", "{", "{}", R"({"id":""})", R"({"id":"a b"})", R"({"id":"../x"})", R"({"id":1})",
        R"({"id":"x","resul":"failed"})", R"({"id":"x","result":"fine"})", R"({"id":"x","exit_status":256})",
        R"({"id":"x","exit_status":-1})", R"({"id":"x","exit_status":"0"})", R"({"id":"x","signal":"FOO"})",
        R"({"id":"x","name":"a\nb"})", R"({"id":"x","ended_ms":1e30})", R"({"invocation_id":"a/b"})"}) {
    INFO(text);
    CHECK_FALSE(parse_end(text, kRoot));
  }
  CHECK_FALSE(parse_end("{\"id\":\"" + std::string(65, 'a') + "\"}", kRoot));
  CHECK_FALSE(parse_report(R"({"id":"x"})"));
  CHECK(parse_report(R"({"id":"x","accelerator_utilization":1})")->accelerator_source == "reported");
}

TEST_CASE("an end without a result is unknown, and one without a source is a marker's where files are read") {
  const auto end = parse_end(R"({"id":"x"})", kRoot, JobSource::marker);
  REQUIRE(end);
  CHECK(end->how == Ending{});
  CHECK(end->source == JobSource::marker);
}

TEST_CASE("a command to run reads back and is bounded") {
  JobRun run = run_of({"/usr/bin/python3", "train.py", "--lr", "1e-3"});
  run.name = "train";
  run.directory = "/mnt/train";
  run.environment = {{"A", "1"}, {"PATH", "/bin"}};
  CHECK(*parse_run(run_text(run)) == run);
  CHECK_FALSE(check_run(run_of({})));
  CHECK_FALSE(check_run(run_of({"python3"})));
  CHECK_FALSE(check_run(run_of({"/opt/a=b/python3"})));
  CHECK_FALSE(check_run(run_of({"/bin/sh", std::string("a\0b", 3)})));
  CHECK_FALSE(check_run(run_of({"/bin/sh", std::string(100'000, 'a')})));
  for (const char* name : {"", "1A", "A B", "A=B", "LD PRELOAD"}) {
    JobRun odd = run_of({"/bin/true"});
    odd.environment = {{name, "x"}};
    CHECK_FALSE(check_run(odd));
  }
  JobRun relative = run_of({"/bin/true"});
  relative.directory = "train";
  CHECK_FALSE(check_run(relative));
}

TEST_CASE("the unit that runs a command has the caller's user, and nothing of his for what root runs in it") {
  JobRun run = run_of({"/bin/sh", "-c", "echo $HOME $$ 100%"});
  run.directory = "/mnt/$x";
  run.environment = {{"LD_PRELOAD", "/home/me/x.so"}};
  const auto argv = run_argv(run, {1000, 1001});
  const auto has = [&](const std::string& word) { return std::find(argv.begin(), argv.end(), word) != argv.end(); };
  CHECK(argv.front() == "systemd-run");
  CHECK(has("--no-block"));
  CHECK(has("--uid=1000"));
  CHECK(has("--gid=1001"));
  CHECK(has("--unit=nvstripe-job-j1.service"));
  CHECK(has("--property=ExecStopPost=+/usr/bin/nvstripe job end --from-unit --source=run --id=j1"));
  for (const std::string& word : argv) {
    CHECK_FALSE(word.starts_with("--setenv"));
    CHECK_FALSE(word.starts_with("--working-directory"));
  }
  const std::vector<std::string> expected{
      "--",      "/usr/bin/env", "--chdir=/mnt/$$x",     "LD_PRELOAD=/home/me/x.so", "NVSTRIPE_JOB_ID=j1",
      "/bin/sh", "-c",           "echo $$HOME $$$$ 100%"};
  REQUIRE(argv.size() > expected.size());
  CHECK(std::equal(expected.rbegin(), expected.rend(), argv.rbegin()));
}

TEST_CASE("a job as JSON says null where something is not known") {
  JobRecord record;
  record.id = "j1";
  auto out = job_json(record);
  CHECK(out.at("state") == "running");
  for (const char* name : {"ended", "result", "exit_status", "duration_s", "signal", "unit"}) CHECK(out.at(name).is_null());
  record.started = 1'000;
  record.ended = 3'500;
  record.result = JobResult::success;
  record.exit_status = 0;
  out = job_json(record);
  CHECK(out.at("state") == "ended");
  CHECK(out.at("duration_s") == 2.5);
  CHECK(out.at("exit_status") == 0);
  CHECK(out.at("ended") == "1970-01-01T00:00:03.500Z");
}

TEST_CASE("an end told without a result has the one that its exit status or signal says, and else none") {
  const auto result = [](const std::string& more) { return parse_end(R"({"id":"x")" + more + "}", kRoot)->how.result; };
  CHECK(result(R"(,"exit_status":0)") == JobResult::success);
  CHECK(result(R"(,"exit_status":3)") == JobResult::failed);
  CHECK(result(R"(,"signal":"KILL")") == JobResult::signalled);
  CHECK(result(R"(,"exit_status":3,"result":"timeout")") == JobResult::timeout);
  CHECK(result("") == JobResult::unknown);
}

TEST_CASE("only root speaks in the name of a unit or of Slurm") {
  CHECK(parse_start(R"({"id":"j","unit":"u","invocation_id":"abc"})", kSomebody)->invocation_id.empty());
  CHECK(parse_end(R"({"id":"j","unit":"u","invocation_id":"abc"})", kSomebody)->unit.empty());
  CHECK_FALSE(parse_start(R"({"invocation_id":"abc"})", kSomebody));
  CHECK_FALSE(parse_start(R"({"id":"slurm-1"})", kSomebody));
  CHECK_FALSE(parse_end(R"({"id":"slurm-1"})", kSomebody));
  CHECK(parse_end(R"({"id":"slurm-1"})", kRoot));
}

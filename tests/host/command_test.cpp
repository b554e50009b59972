// Tests of running programs: real small ones through /bin/sh, which only tests may do.
#include "agent/host/command.hpp"

#include <csignal>

#include "agent/host/tools.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::host;
using namespace std::chrono_literals;

namespace {
Result<CommandResult> shell(const std::string& script, std::chrono::milliseconds deadline = 20s,
                            std::size_t max_output = kMaxOutputBytes) {
  Command command;
  command.argv = {"/bin/sh", "-c", script};
  command.deadline = deadline;
  command.grace = 100ms;
  command.max_output = max_output;
  return run_command(command);
}
}  // namespace

TEST_CASE("a program's exit status and both streams come back apart") {
  const auto result = shell("echo out; echo err >&2; exit 7");
  REQUIRE(result.has_value());
  CHECK(result->exit_status == 7);
  CHECK(result->out == "out\n");
  CHECK(result->err == "err\n");
  CHECK_FALSE(result->timed_out);
}

TEST_CASE("a child sees a fixed environment, C locale and an empty standard input") {
  const auto result = shell("env | sort; cat; pwd");
  REQUIRE(result.has_value());
  CHECK(result->out.find("LC_ALL=C\n") != std::string::npos);
  CHECK(result->out.find("PATH=/usr/sbin:/usr/bin:/sbin:/bin\n") != std::string::npos);
  CHECK(result->out.find("USER=") == std::string::npos);
  CHECK(result->out.ends_with("\n/\n"));
}

TEST_CASE("A-30 a program that waits for ever is ended at its deadline") {
  const auto result = shell("exec /bin/sleep 600", 50ms);
  REQUIRE(result.has_value());
  CHECK(result->timed_out);
  CHECK(result->signal == SIGTERM);
  CHECK(result->exit_status == -1);
}

TEST_CASE("a program that ignores SIGTERM is killed together with its children") {
  const auto result = shell("trap '' TERM; echo $$; /bin/sleep 600; /bin/sleep 600", 300ms);
  REQUIRE(result.has_value());
  CHECK(result->timed_out);
  CHECK_FALSE(result->abandoned);
  CHECK(result->signal == SIGKILL);
}

TEST_CASE("a program that leaves a child with its output open does not hold us") {
  const auto result = shell("/bin/sleep 20 & echo done");
  REQUIRE(result.has_value());
  CHECK(result->exit_status == 0);
  CHECK(result->out == "done\n");
}

TEST_CASE("output beyond the bound is dropped and said") {
  const auto result = shell("/usr/bin/yes | /usr/bin/head -c 100000", 20s, 1000);
  REQUIRE(result.has_value());
  CHECK(result->out.size() == 1000);
  CHECK(result->truncated);
}

TEST_CASE("lines are told as they come, the unfinished last one is not") {
  Command command;
  command.argv = {"/bin/sh", "-c", "printf 'a\\nb\\nc'"};
  std::vector<std::string> lines;
  command.on_line = [&](std::string_view line) { lines.emplace_back(line); };
  const auto result = run_command(command);
  REQUIRE(result.has_value());
  CHECK(lines == std::vector<std::string>{"a", "b"});
  CHECK(result->out == "a\nb\nc");
}

TEST_CASE("a program outside the list is never started") {
  Command command;
  command.argv = {"sh", "-c", "true"};
  const auto result = run_command(command);
  REQUIRE_FALSE(result.has_value());
  CHECK(is_errno(result.error(), EPERM));
}

TEST_CASE("every reading is made by a program of the list") {
  for (const auto& reading : all_readings()) {
    INFO(reading.name);
    CHECK(find_tool(reading.argv.front()) != nullptr);
    CHECK(find_reading(reading.name) == &reading);
  }
}

TEST_CASE("A-40 benign lines of mkfs.xfs are left out of messages") {
  const std::string text =
      "log stripe unit (524288 bytes) is too large (maximum is 256KiB)\nlog stripe unit adjusted to 32KiB\n\n";
  CHECK(without_benign("mkfs.xfs", text).empty());
  CHECK(without_benign("mkfs.xfs", text + "cannot open\n") == "cannot open");
  CHECK(without_benign("lvcreate", "  WARNING: Not using device /dev/x for PV y.\n  bad\n") == "bad");
}

TEST_CASE("A-27 error 524 of mdadm is put into words") {
  CommandResult result;
  result.exit_status = 1;
  result.err = "mdadm: Defaulting to version 1.2 metadata\nmdadm: RUN_ARRAY failed: Unknown error 524\n";
  const auto error = explain({"mdadm", "--create"}, result);
  CHECK(error.what.find("differ in size") != std::string::npos);
  CHECK(error.what.find("Defaulting") == std::string::npos);
  CHECK_FALSE(error.remedy.empty());
}

TEST_CASE("A-29 a name that mdadm refuses is put into words") {
  CommandResult result;
  result.exit_status = 1;
  result.err = "mdadm: Value \"/dev/md/node1:pv1\" cannot be set as devname. Reason: Not POSIX compatible. Value ignored.\n";
  CHECK(explain({"mdadm"}, result).what.find("refuses the array's name") != std::string::npos);
}

TEST_CASE("a stop at the deadline is named as such") {
  CommandResult result;
  result.timed_out = true;
  result.abandoned = true;
  const auto error = explain({"/usr/sbin/mdadm"}, result);
  CHECK(is_errno(error, ETIMEDOUT));
  CHECK(error.what.find("'mdadm' did not end when killed") != std::string::npos);
}

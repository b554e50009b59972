// Tests of tapes: what is not on them fails, what is left on them fails.
#include "agent/host/tape.hpp"

#include "agent/host/tools.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::host;

namespace {
constexpr std::string_view kTape = R"(# two calls
> ["vgs","--x"]
= 0
| one
|   two
! noise
> ["mdadm","--stop","/dev/md/x"]
= timeout
)";
Command call(std::vector<std::string> argv) {
  Command command;
  command.argv = std::move(argv);
  return command;
}
TapeRunner runner(std::string_view text) { return TapeRunner(parse_tape(text).value()); }
}  // namespace

TEST_CASE("a tape answers its calls in order and is content when all were made") {
  auto tape = runner(kTape);
  const auto first = tape.run(call({"vgs", "--x"}));
  REQUIRE(first.has_value());
  CHECK(first->out == "one\n  two\n");
  CHECK(first->err == "noise\n");
  const auto second = tape.run(call({"mdadm", "--stop", "/dev/md/x"}));
  REQUIRE(second.has_value());
  CHECK(second->timed_out);
  CHECK(tape.complaint().empty());
}

TEST_CASE("a call that is not on the tape fails, and so does an entry that is not used") {
  auto tape = runner(kTape);
  CHECK_FALSE(tape.run(call({"vgs", "--y"})).has_value());
  CHECK(tape.complaint().find("--y") != std::string::npos);
  auto unused = runner(kTape);
  (void)unused.run(call({"vgs", "--x"}));
  CHECK(unused.complaint().find("was not made") != std::string::npos);
}

TEST_CASE("a program that is not installed is ENOENT on a tape too") {
  auto tape = runner("> [\"vgs\"]\n= missing\n");
  const auto result = tape.run(call({"vgs"}));
  REQUIRE_FALSE(result.has_value());
  CHECK(is_errno(result.error(), ENOENT));
}

TEST_CASE("a recorded program can be replayed") {
  RecordingRunner recorder(live_runner());
  (void)recorder.run(call({"/bin/sh", "-c", "echo a; echo b >&2; exit 3"}));
  auto tape = runner(recorder.tape());
  const auto result = tape.run(call({"/bin/sh", "-c", "echo a; echo b >&2; exit 3"}));
  REQUIRE(result.has_value());
  CHECK(result->exit_status == 3);
  CHECK(result->out == "a\n");
  CHECK(result->err == "b\n");
}

TEST_CASE("readings fail on a non-zero exit and pass standard output on") {
  auto tape = runner(to_tape({find_reading("lvm.vgs")->argv, false, CommandResult{.exit_status = 0, .out = "{}\n"}}) +
                     to_tape({find_reading("lvm.vgs")->argv, false, CommandResult{.exit_status = 5, .err = "broken\n"}}));
  CHECK(read_output(tape, "lvm.vgs").value() == "{}\n");
  const auto failed = read_output(tape, "lvm.vgs");
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().what.find("broken") != std::string::npos);
  CHECK_FALSE(read_output(tape, "no.such").has_value());
  auto narrow = find_reading("lvm.lvs")->argv;
  narrow.insert(narrow.end(), {"--devices", "/dev/a", "--devices", "/dev/b"});
  auto narrowed = runner(to_tape({narrow, false, CommandResult{.exit_status = 0, .out = "{}\n"}}));
  CHECK(read_output(narrowed, "lvm.lvs", {"/dev/a", "/dev/b"}).has_value());
}

TEST_CASE("a damaged tape is refused") {
  CHECK_FALSE(parse_tape("= 0\n").has_value());
  CHECK_FALSE(parse_tape("> not json\n").has_value());
  CHECK_FALSE(parse_tape("> [\"a\"]\n= maybe\n").has_value());
  CHECK_FALSE(parse_tape("> [\"a\"]\nx\n").has_value());
}

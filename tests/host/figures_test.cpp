// Tests of figures that may hang: the child's answers, whose they are, and what happens when there is none in time.
#include "agent/host/figures.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <array>

#include "agent/base/text.hpp"
#include "agent/host/io_counts.hpp"
#include "tests/host/folder.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::host;
using namespace std::chrono_literals;

namespace {

std::string device_number_of(const std::string& path) {
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  return std::to_string(major(found.st_dev)) + ":" + std::to_string(minor(found.st_dev));
}

std::array<std::uint8_t, kSmartLogBytes> smart_log() {
  std::array<std::uint8_t, kSmartLogBytes> log{};
  log[0] = 0b00000101;
  log[1] = 0x3b;  // 315 K
  log[2] = 0x01;
  log[3] = 97;
  log[4] = 10;
  log[5] = 120;
  log[32] = 3;
  log[48 + 8] = 1;  // beyond 64 bits of units
  log[128] = 2;
  log[144] = 4;
  log[160] = 5;
  log[176] = 6;
  log[202] = 0x40;  // sensor 2
  log[203] = 0x01;
  return log;
}

std::string line_of_health(const std::string& serial) {
  const auto log = smart_log();
  return R"({"asked":"health=nvme3","serial":")" + serial + R"(","log":")" + hex(log.data(), log.size()) + "\"}";
}

const FiguresQuestions kOneHealth{{}, {{DeviceKey{"nvme:eui.1/1"}, "nvme3", "S1"}}};

}  // namespace

TEST_CASE("a SMART log is read in base units") {
  const DriveHealth health = parse_smart_log(smart_log());
  CHECK(health.critical_warning == 5);
  CHECK(health.celsius == std::map<unsigned, double>{{0, 42.0}, {2, 47.0}});
  CHECK(health.spare_ratio == 0.97);
  CHECK(health.spare_threshold_ratio == 0.1);
  CHECK(health.used_ratio == 1.2);
  CHECK(health.read_bytes == 3 * 512000.0);
  CHECK(health.written_bytes == 18446744073709551616.0 * 512000.0);
  CHECK(health.power_on_seconds == 7200);
  CHECK(health.unsafe_shutdowns == 4);
  CHECK(health.media_errors == 5);
  CHECK(health.error_log_entries == 6);
}

TEST_CASE("a SMART log counts for the drive that was meant and for no other that has its kernel name by now") {
  FiguresAnswers answers;
  take_answer(line_of_health("S2"), kOneHealth, answers);
  CHECK(answers.figures.healths.empty());
  CHECK(answers.failed == std::set<std::string>{"nvme:eui.1/1"});
  FiguresAnswers mine;
  mine.silent = {"nvme:eui.1/1"};
  take_answer(line_of_health("S1"), kOneHealth, mine);
  CHECK(mine.figures.healths.size() == 1);
  CHECK(mine.failed.empty());
  CHECK(mine.silent.empty());
}

TEST_CASE("lines that answer no question change nothing, and half a log is no log") {
  FiguresAnswers answers;
  for (const char* line : {"", "x", "[]", "{}", R"({"asked":"health=nvme4","serial":"S1","log":""})"})
    take_answer(line, kOneHealth, answers);
  CHECK(answers.failed.empty());
  for (const char* line :
       {R"({"asked":"health=nvme3","serial":"S1","log":"00"})", R"({"asked":"health=nvme3","serial":"S1"})"})
    take_answer(line, kOneHealth, answers);
  CHECK(answers.failed.size() == 1);
  CHECK(answers.figures == Figures{});
}

TEST_CASE("the space of a mounted file system is answered, and that of another one in its place is not taken") {
  const test::Folder folder;
  std::filesystem::create_directory(folder / "sub");
  FiguresQuestions questions;
  questions.spaces = {{"train", folder / "sub", device_number_of(folder / "sub")},
                      {"other", folder / "sub/.", "9:999"},
                      {"gone", folder / "nothing", "9:998"}};
  const FiguresAnswers answers = ask_figures(questions, 30s);
  CHECK(answers.silent.empty());
  CHECK(answers.failed == std::set<std::string>{"gone", "other"});
  REQUIRE(answers.figures.spaces.size() == 1);
  CHECK(answers.figures.spaces.at("train").size_bytes > 0);
  CHECK(answers.figures.spaces.at("train").available_bytes <= answers.figures.spaces.at("train").size_bytes);
}

TEST_CASE("a question that hangs costs itself alone") {
  const test::Folder folder;
  std::filesystem::create_directory(folder / "sub");
  // Opening a FIFO for reading sleeps until somebody writes, as the node of a dying controller does.
  const std::string fifo = folder / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  FiguresQuestions questions;
  questions.healths = {{DeviceKey{"nvme:eui.dead/1"}, ".." + fifo, "S"},
                       {DeviceKey{"nvme:eui.none/1"}, "no-such-node", "S"}};
  questions.spaces = {{"train", folder / "sub", device_number_of(folder / "sub")}};
  const FiguresAnswers answers = ask_figures(questions, 3s);
  CHECK(answers.silent == std::set<std::string>{"nvme:eui.dead/1"});
  CHECK(answers.failed == std::set<std::string>{"nvme:eui.none/1"});
  CHECK(answers.figures.spaces.size() == 1);
}

TEST_CASE("nothing asked starts no child") { CHECK(ask_figures({}, 0ms).silent.empty()); }

TEST_CASE("I/O counts are read from files of each length that kernels print, and from nothing else") {
  const auto eleven = parse_io_counts("1 2 3 4 5 6 7 8 9 10 11\n", "12 13\n");
  REQUIRE(eleven);
  CHECK(*eleven == IoCounts{1, 3, 4, 5, 7, 8, 0, 0, 10, 11, 12, 13});
  const auto seventeen = parse_io_counts("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n", "");
  REQUIRE(seventeen);
  CHECK(*seventeen == IoCounts{1, 3, 4, 5, 7, 8, 12, 17, 10, 11, 0, 0});
  CHECK(parse_io_counts("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19\n", ""));
  for (const char* bad : {"", "1 2 3", "1 2 3 4 5 6 7 8 9 10 x"}) CHECK_FALSE(parse_io_counts(bad, "0 0"));
  CHECK_FALSE(io_counts("/nowhere", 0));
}

// Owns the checks of the state file: what is acknowledged survives kill -9, damage is set aside and said, growth is bounded.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "agent/store/store.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using store::EventQuery;
using store::Store;

namespace {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "nvstripe-store-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file() const { return (path / "state" / "state.db").string(); }
};

VolumeRecord volume(const std::string& name, Stage stage) {
  return {name, "md", 0xfedcba9876543210ull, {{"nvme:a/1"}, {"nvme:b/1"}}, stage, "", "", "/mnt/" + name};
}

std::unique_ptr<Store> opened(const std::string& path, const store::OpenOptions& options = {}) {
  auto result = Store::open(path, options);
  if (!result) FAIL(result.error().what);
  return std::move(*result);
}

EventDraft draft(int number) {
  return {"io.nvstripe.action.succeeded.v1", "volume/train", "{\"n\":" + std::to_string(number) + "}"};
}

std::vector<Event> all_events(Store& from) { return *from.events({0, 1'000'000, false}); }

}  // namespace

TEST_CASE("records and events written together are there after reopening") {
  const Folder folder;
  {
    const auto state = opened(folder.file());
    REQUIRE(state->write({volume("train", Stage::intended), HoldRecord{"tuning", "revert"}}, {draft(1)}));
    REQUIRE(
        state->write({volume("train", Stage::made), Forget{"hold", "tuning"}, IntentRecord{"x", "d", true}}, {draft(2)}));
  }
  const auto state = opened(folder.file());
  const Records records = *state->records();
  REQUIRE(records.volumes == std::vector<VolumeRecord>{volume("train", Stage::made)});
  CHECK(records.holds.empty());
  CHECK(records.intents == std::vector<IntentRecord>{{"x", "d", true}});
  const auto events = all_events(*state);
  REQUIRE(events.size() == 3);
  CHECK(events[0].type == "io.nvstripe.state.reset.v1");
  CHECK(events[2].sequence == 3);
  CHECK(events[2].data == R"({"n":2})");
  CHECK(events[2].epoch == state->epoch());
  CHECK(events[2].id == std::to_string(state->epoch()) + "-3");
  CHECK(events[2].time.size() == 24);
}

TEST_CASE("each look draws a fresh generation") {
  const auto state = opened(":memory:");
  const std::uint64_t first = state->records()->fresh_generation;
  CHECK(first != 0);
  CHECK(state->records()->fresh_generation != first);
}

TEST_CASE("events are asked for from a sequence on, or the newest") {
  const auto state = opened(":memory:");
  for (int i = 1; i <= 5; ++i) REQUIRE(state->write({}, {draft(i)}));
  const auto sequences = [&](const EventQuery& query) {
    std::vector<std::uint64_t> out;
    const auto found = *state->events(query);
    for (const Event& event : found) out.push_back(event.sequence);
    return out;
  };
  CHECK(sequences({2, 2, false}) == std::vector<std::uint64_t>{3, 4});
  CHECK(sequences({0, 2, true}) == std::vector<std::uint64_t>{4, 5});
  CHECK(sequences({9, 2, false}).empty());
}

TEST_CASE("the outbox is bounded, and the gap is counted") {
  const Folder folder;
  {
    const auto state = opened(folder.file(), {10});
    for (int i = 0; i < 25; ++i) REQUIRE(state->write({}, {draft(i), draft(i)}));
    CHECK(all_events(*state).size() == 10);
  }
  const auto state = opened(folder.file(), {10});
  CHECK(all_events(*state).front().sequence == 42);
  CHECK(*state->dropped_events() == 41);
  REQUIRE(state->write({}, {draft(1)}));
  CHECK(all_events(*state).back().sequence == 52);
}

TEST_CASE("a damaged file is set aside, a new epoch begins, and an event says so") {
  const Folder folder;
  std::uint64_t epoch = 0;
  {
    const auto state = opened(folder.file());
    epoch = state->epoch();
    std::vector<EventDraft> many;
    for (int i = 0; i < 2000; ++i) many.push_back(draft(i));
    REQUIRE(state->write({volume("train", Stage::made)}, many));
  }
  SECTION("garbage from the start") { std::ofstream(folder.file(), std::ios::binary) << std::string(8192, 'x'); }
  SECTION("a page in the middle") {
    std::fstream file(folder.file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(16384, '\xee');
  }
  SECTION("of a newer version") {
    std::fstream file(folder.file(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(60);  // user_version in SQLite's file header, big-endian
    file.write("\0\0\0\x63", 4);
  }
  SECTION("cut off") { std::filesystem::resize_file(folder.file(), 5000); }
  const auto state = opened(folder.file());
  CHECK(state->records()->volumes.empty());
  CHECK(state->epoch() >= epoch);
  const auto events = all_events(*state);
  REQUIRE(events.size() == 1);
  CHECK(events[0].type == "io.nvstripe.state.reset.v1");
  CHECK(events[0].data.find("set-aside") != std::string::npos);
  int aside = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path / "state")) {
    if (entry.path().string().find(".set-aside-") != std::string::npos) ++aside;
  }
  CHECK(aside >= 1);
}

TEST_CASE("a second daemon cannot open the file") {
  const Folder folder;
  const auto state = opened(folder.file());
  const pid_t child = fork();  // SQLite's locks do not exclude the own process
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto second = Store::open(folder.file());
    _exit(!second && second.error().remedy.find("only one nvstriped") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("a write that fails leaves nothing half, and says what to do") {
  const Folder folder;
  { const auto state = opened(folder.file()); }
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const auto state = Store::open(folder.file());
    const rlimit limit{65536, 65536};
    if (!state || setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(2);
    std::vector<EventDraft> many;
    for (int i = 0; i < 5000; ++i) many.push_back(draft(i));
    const auto written = (*state)->write({volume("train", Stage::made)}, many);
    const bool clean = (*state)->records()->volumes.empty() && (*state)->events({0, 100, false})->size() == 1;
    _exit(!written && !written.error().remedy.empty() && clean ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  const auto state = opened(folder.file());
  CHECK(state->records()->volumes.empty());
  CHECK(all_events(*state).size() == 1);
}

TEST_CASE("nothing acknowledged is lost by kill -9") {
  const Folder folder;
  int acknowledged = 0;
  for (int round = 0; round < 5; ++round) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      close(ends[0]);
      const auto state = Store::open(folder.file());
      if (!state) _exit(1);
      for (int i = acknowledged + 1;; ++i) {
        if (!(*state)->write({volume("v" + std::to_string(i), Stage::made)}, {draft(i), draft(i)})) _exit(1);
        if (::write(ends[1], &i, sizeof i) != sizeof i) _exit(1);
      }
    }
    close(ends[1]);
    const int until = acknowledged + 3 + 7 * round;
    while (acknowledged < until && ::read(ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
    }
    kill(child, SIGKILL);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    while (::read(ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
    }
    close(ends[0]);
    const auto state = opened(folder.file());
    const auto events = all_events(*state);
    const std::size_t written = state->records()->volumes.size();
    CHECK(written >= static_cast<std::size_t>(acknowledged));
    CHECK(events.size() == 1 + 2 * written);  // both or neither
    acknowledged = static_cast<int>(written);
  }
}

// Owns the checks of what waits for upstream: acknowledged in order, refused ones set aside, bounds with a gap record,
// nothing lost between a crash and the next start.
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "agent/store/sqlite.hpp"
#include "agent/store/store.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using store::Answered;
using store::OpenOptions;
using store::Store;

namespace {

struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "nvstripe-outbox-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file() const { return (path / "state.db").string(); }
};

std::unique_ptr<Store> opened(const std::string& path, const OpenOptions& options = {}) {
  auto result = Store::open(path, options);
  if (!result) FAIL(result.error().what);
  return std::move(*result);
}

const std::string kState = "io.nvstripe.volume.mounted.v1", kJob = "io.nvstripe.job.ended.v1";

void put(Store& store, const std::string& type, int count = 1) {
  for (int i = 0; i < count; ++i) REQUIRE(store.write({}, {{type, "volume/train", "{}"}}));
}

std::vector<std::uint64_t> waiting(Store& store, const std::string& stream) {
  std::vector<std::uint64_t> out;
  const auto items = store.pending(stream, 10'000);
  REQUIRE(items);
  for (const auto& item : *items) out.push_back(item.event.sequence);
  return out;
}

store::StreamState state_of(Store& store, const std::string& stream) {
  const auto states = store.streams();
  REQUIRE(states);
  for (const auto& state : *states)
    if (state.stream == stream) return state;
  FAIL("no such stream");
  return {};
}

using Sequences = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("streams are pulled and acknowledged apart, each in order") {
  const auto store = opened(":memory:");
  put(*store, kState, 2);
  put(*store, kJob);
  put(*store, kState);
  CHECK(waiting(*store, "state") == Sequences{1, 2, 4});
  CHECK(waiting(*store, "jobs") == Sequences{3});
  CHECK(store->pending("state", 1)->size() == 1);
  REQUIRE(store->acknowledge({"state", store->epoch(), 2}));
  CHECK(waiting(*store, "state") == Sequences{4});
  CHECK(waiting(*store, "jobs") == Sequences{3});
  CHECK(state_of(*store, "state").records == 1);
  CHECK(state_of(*store, "jobs").records == 1);
  CHECK_FALSE(state_of(*store, "jobs").oldest.empty());
  REQUIRE(store->acknowledge({"jobs", store->epoch(), 3}));
  CHECK(state_of(*store, "jobs").oldest.empty());
  CHECK(state_of(*store, "jobs").bytes == 0);
  CHECK(store->events({0, 100, false})->size() == 4);  // they stay for `nvstripe events`
}

TEST_CASE("an acknowledgement never goes back, nor beyond what was written, nor crosses an epoch") {
  const auto store = opened(":memory:");
  put(*store, kState, 3);
  REQUIRE(store->acknowledge({"state", store->epoch(), 2}));
  REQUIRE(store->acknowledge({"state", store->epoch(), 1}));
  CHECK(waiting(*store, "state") == Sequences{3});
  CHECK_FALSE(store->acknowledge({"state", store->epoch(), 9}));
  CHECK_FALSE(store->acknowledge({"state", store->epoch() + 1, 3}));
  CHECK(waiting(*store, "state") == Sequences{3});
}

TEST_CASE("what is acknowledged, waits or was refused is the same after reopening") {
  const Folder folder;
  std::string source;
  {
    const auto store = opened(folder.file());
    source = store->source();
    put(*store, kState, 4);
    REQUIRE(store->acknowledge({"state", store->epoch(), 2}));
    REQUIRE(store->refuse({"state", store->epoch(), 3}, "413 too large"));
  }
  const auto store = opened(folder.file());
  CHECK(store->source() == source);
  CHECK(source.starts_with("urn:uuid:"));
  CHECK(source.size() == 45);
  CHECK(waiting(*store, "state").front() == 4);
  CHECK(state_of(*store, "state").dead == 1);
  CHECK(state_of(*store, "state").records == waiting(*store, "state").size());
}

TEST_CASE("a refused event is set aside, told of, and can be sent once more") {
  const auto store = opened(":memory:");
  put(*store, kState, 3);
  CHECK_FALSE(store->refuse({"state", store->epoch(), 2}, "400"));  // not the next one: the first would be lost
  const std::uint64_t first = waiting(*store, "state").front();
  REQUIRE(store->refuse({"state", store->epoch(), first}, "400 bad\x01"));
  const auto letters = *store->dead_letters();
  REQUIRE(letters.size() == 1);
  CHECK(letters[0].event.sequence == first);
  CHECK(letters[0].event.id == std::to_string(store->epoch()) + "-" + std::to_string(first));
  CHECK(letters[0].reason == "400 bad\\x01");
  CHECK(waiting(*store, "state") == Sequences{first + 1, first + 2, first + 3});
  CHECK(store->pending("state", 10)->back().event.type == event::kEventRefused);

  CHECK(*store->replay(first) == 1);
  const auto again = *store->pending("state", 10);
  REQUIRE(again.size() == 1);
  CHECK(again[0].again);
  CHECK(again[0].event.sequence == first);
  SECTION("and is gone when it arrives") {
    REQUIRE(store->acknowledge({"state", store->epoch(), first, true}));
    CHECK(store->dead_letters()->empty());
    CHECK(state_of(*store, "state").dead == 0);
  }
  SECTION("and lies there again when it is refused again") {
    REQUIRE(store->refuse({"state", store->epoch(), first, true}, "410"));
    CHECK(store->dead_letters()->at(0).reason == "410");
    CHECK_FALSE(store->dead_letters()->at(0).again);
  }
  CHECK(waiting(*store, "state") == Sequences{first + 1, first + 2, first + 3});
}

TEST_CASE("the refusal of a refusal is not told again, else there were no end") {
  const auto store = opened(":memory:");
  put(*store, kState);
  for (int i = 0; i < 3; ++i) {
    const auto items = *store->pending("state", 1);
    if (items.empty()) break;
    REQUIRE(store->refuse({"state", store->epoch(), items[0].event.sequence}, "400"));
  }
  CHECK(waiting(*store, "state").empty());
  CHECK(store->dead_letters()->size() == 2);
}

TEST_CASE("a full outbox gives up acknowledged events first, bulk next and job ends last, and tells the gap") {
  const auto store = opened(":memory:", {.max_events = 40});
  (void)store->pending("state", 1);
  put(*store, kJob, 5);
  put(*store, kState, 20);
  REQUIRE(store->acknowledge({"state", store->epoch(), 15}));
  put(*store, kState, 20);
  CHECK(state_of(*store, "state").dropped == 0);  // ten acknowledged ones made room
  put(*store, kState, 30);
  CHECK(waiting(*store, "jobs") == Sequences{1, 2, 3, 4, 5});
  CHECK(state_of(*store, "jobs").dropped == 0);
  CHECK(state_of(*store, "state").dropped > 0);

  // Every sequence is there, or within a gap that is told.
  std::set<std::uint64_t> covered;
  for (std::uint64_t i = 6; i <= 15; ++i) covered.insert(i);  // acknowledged
  const auto told_of = [&](const Event& event) {
    covered.insert(event.sequence);
    if (event.type != event::kEventsDropped) return;
    const auto number = [&](const std::string& key) {
      return std::stoull(event.data.substr(event.data.find("\"" + key + "\":") + key.size() + 3));
    };
    for (std::uint64_t i = number("first"); i <= number("last"); ++i) covered.insert(i);
  };
  for (const char* stream : {"jobs", "state"}) {
    const auto items = *store->pending(stream, 1000);
    for (const auto& item : items) told_of(item.event);
  }
  const auto newest = store->events({0, 1, true})->at(0).sequence;
  CHECK(covered.size() == newest);
}

TEST_CASE("an outbox that nobody reads drops its oldest without a word") {
  const auto store = opened(":memory:", {.max_events = 10});
  put(*store, kState, 30);
  CHECK(store->events({0, 100, false})->size() == 10);
  CHECK(*store->dropped_events() == 20);
  CHECK(store->events({0, 100, false})->back().type == kState);
}

TEST_CASE("the outbox is bounded by bytes too") {
  const auto store = opened(":memory:", {.max_bytes = 100'000});
  for (int i = 0; i < 100; ++i)
    REQUIRE(store->write({}, {{kState, "volume/train", "{\"x\":\"" + std::string(5000, 'x') + "\"}"}}));
  const auto kept = store->events({0, 1000, false})->size();
  CHECK(kept >= 15);
  CHECK(kept <= 20);
}

TEST_CASE("with little free space the outbox does not grow") {
  std::uint64_t free = store::kMinFreeBytes;
  const auto store = opened(":memory:", {.max_events = 5000, .free_bytes = [&] { return free; }});
  put(*store, kState, 1500);
  free = 0;
  put(*store, kState, 100);
  CHECK(store->events({0, 10'000, false})->size() <= 1500);
  CHECK(store->events({0, 10'000, false})->size() >= store::kMinEvents);
  free = store::kMinFreeBytes;
  put(*store, kState, 200);
  CHECK(store->events({0, 10'000, false})->size() > 1500);
}

TEST_CASE("a state file of the first version is taken over, and all its events wait") {
  const Folder folder;
  {
    auto connection = store::Connection::open(folder.file());
    REQUIRE(connection);
    REQUIRE(connection->execute(
        "CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
        "CREATE TABLE records(kind TEXT NOT NULL, key TEXT NOT NULL, json TEXT NOT NULL, PRIMARY KEY(kind, key)) WITHOUT "
        "ROWID;"
        "CREATE TABLE events(sequence INTEGER PRIMARY KEY, time TEXT NOT NULL, type TEXT NOT NULL, subject TEXT NOT NULL,"
        "data TEXT NOT NULL);"
        "INSERT INTO meta VALUES('epoch',7),('sequence',2),('dropped',0);"
        "INSERT INTO events VALUES(1,'2026-01-01T00:00:00.000Z','a','b','{}'),(2,'2026-01-01T00:00:01.000Z','a','b','{}');"
        "PRAGMA user_version=1;"));
  }
  const auto store = opened(folder.file());
  CHECK(store->epoch() == 7);
  CHECK(waiting(*store, "state") == Sequences{1, 2});
  put(*store, kState);
  CHECK(waiting(*store, "state") == Sequences{1, 2, 3});
}

TEST_CASE("killed between a pull, an acknowledgement and a refusal, each event is in one place") {
  const Folder folder;
  { put(*opened(folder.file()), kState, 200); }
  for (int round = 0; round < 6; ++round) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const auto store = Store::open(folder.file());
      if (!store) _exit(1);
      for (int i = 0;; ++i) {
        const auto items = (*store)->pending("state", 1);
        if (!items || items->empty()) _exit(2);
        const Answered answered{"state", (*store)->epoch(), items->front().event.sequence};
        const auto done = i % 3 == 2 ? (*store)->refuse(answered, "400") : (*store)->acknowledge(answered);
        if (!done || ::write(ends[1], &i, sizeof i) != sizeof i) _exit(3);
      }
    }
    close(ends[1]);
    int seen = 0;
    for (int i = 0; i < 5 + 3 * round; ++i) REQUIRE(::read(ends[0], &seen, sizeof seen) == sizeof seen);
    REQUIRE(kill(child, SIGKILL) == 0);
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    close(ends[0]);
    const auto store = opened(folder.file());
    const auto left = waiting(*store, "state");
    CHECK(state_of(*store, "state").records == left.size());
    std::set<std::uint64_t> places(left.begin(), left.end());
    const auto letters = *store->dead_letters();
    for (const auto& letter : letters) CHECK(places.insert(letter.event.sequence).second);
    for (std::size_t i = 1; i < left.size(); ++i) CHECK(left[i] == left[i - 1] + 1);
  }
}

TEST_CASE("a gap of job ends is told in their own stream, and told again should the record itself go") {
  const auto store = opened(":memory:", {.max_events = 40});
  (void)store->pending("jobs", 1);
  put(*store, kJob, 200);
  put(*store, kState, 3);
  const auto items = *store->pending("jobs", 1000);
  const auto told =
      std::find_if(items.rbegin(), items.rend(), [](const auto& item) { return item.event.type == event::kEventsDropped; });
  REQUIRE(told != items.rend());
  CHECK(told->event.subject == "outbox/jobs");
  CHECK(told->event.data.find(R"("first":1,)") != std::string::npos);
}

// Measures what one durable event costs beside a bare append with fdatasync of as many bytes, both in turn on one disk, and
// how many events a burst commits. Prints "event|append|burst|lost <figure>": microseconds (median), events a second,
// events.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "agent/base/fd.hpp"
#include "agent/store/store.hpp"

namespace {

using namespace nvstripe;

constexpr int kPairs = 400;
constexpr std::size_t kEventBytes = 700;  // with its data: an action that succeeded
constexpr int kBursts = 60, kBurst = 1'000;

double microseconds(const std::function<bool()>& work) {
  const auto begun = std::chrono::steady_clock::now();
  if (!work()) std::exit(1);
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

EventDraft draft() {
  return {"io.nvstripe.action.succeeded.v1", "volume/train", "{\"x\":\"" + std::string(kEventBytes - 60, 'x') + "\"}"};
}

void compare(store::Store& store, const std::string& folder) {
  const Fd file(::open((folder + "/raw").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  const std::string bytes(kEventBytes, 'x');
  std::vector<double> events, appends;
  for (int i = 0; i < kPairs; ++i) {
    events.push_back(microseconds([&] { return store.write({}, {draft()}).has_value(); }));
    appends.push_back(microseconds([&] {
      return ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
             ::fdatasync(file.get()) == 0;
    }));
  }
  std::printf("event %.1f\nappend %.1f\n", median(events), median(appends));
}

void burst(store::Store& store) {
  const std::vector<EventDraft> many(kBurst, draft());
  std::vector<double> rates;
  for (int i = 0; i < kBursts; ++i)
    rates.push_back(kBurst * 1e6 / microseconds([&] { return store.write({}, many).has_value(); }));
  std::printf("burst %.0f\n", median(rates));
}

// A writer is killed in the middle of a burst; what it was told is durable must be there.
int lost_by_kill(const std::string& path) {
  int ends[2];
  if (::pipe(ends) != 0) std::exit(1);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto store = store::Store::open(path);
    const std::vector<EventDraft> some(100, draft());
    for (int done = 100; store && (*store)->write({}, some); done += 100)
      if (::write(ends[1], &done, sizeof done) != sizeof done) break;
    ::_exit(1);
  }
  ::close(ends[1]);
  int acknowledged = 0;
  while (acknowledged < 5'000 && ::read(ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  while (::read(ends[0], &acknowledged, sizeof acknowledged) == sizeof acknowledged) {
  }
  ::close(ends[0]);
  const auto store = store::Store::open(path);
  const auto kept = store ? (*store)->events({0, 1'000'000, false}) : Result<std::vector<Event>>(fail("gone"));
  if (!kept) std::exit(1);
  const auto there = static_cast<int>(
      std::count_if(kept->begin(), kept->end(), [](const Event& event) { return event.subject == "volume/train"; }));
  return std::max(0, acknowledged - there);
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) return 64;  // FOLDER
  const std::string folder = argv[1];
  {
    const auto store = store::Store::open(folder + "/state.db", {.max_events = 10'000'000, .max_bytes = 1ull << 40});
    if (!store) return 1;
    compare(**store, folder);
    burst(**store);
  }
  std::printf("lost %d\n", lost_by_kill(folder + "/killed.db"));
  return 0;
}

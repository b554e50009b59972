// Measures what one scrape costs both processes: the core's samples of a host tree to line text, and the uplink's way from
// there to Prometheus' text. Prints "core|uplink <namespaces> <median CPU milliseconds>" and "series <namespaces> <count>".
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "agent/api/metrics.hpp"
#include "agent/engine/observe.hpp"
#include "agent/engine/planner.hpp"
#include "agent/host/reader.hpp"
#include "agent/uplink/exposition.hpp"

namespace {

using namespace nvstripe;

constexpr int kRuns = 15;

double cpu_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double median(const std::function<void()>& work) {
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    const double start = cpu_milliseconds();
    work();
    times.push_back(cpu_milliseconds() - start);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::size_t series_of(const std::string& text) {
  std::size_t series = 0;
  bool begins = true;
  for (const char c : text) {
    if (begins && c != '#' && c != '\n') ++series;
    begins = c == '\n';
  }
  return series;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 3) return 64;  // NAMESPACES TREE
  const auto reader = host::captured_reader(argv[2]);
  if (!reader) return 1;
  api::Snapshot snapshot;
  snapshot.taken = "2026-12-01T00:00:00Z";
  snapshot.pass.seen = observe(**reader, snapshot.spec.spec);
  snapshot.pass.seen.records = Facet<Records>::known({});
  snapshot.pass.plan = make_plan(snapshot.spec.spec, snapshot.pass.seen);
  std::string lines, text;
  const double core =
      median([&] { lines = to_lines(api::metrics_of(snapshot, api::status_of(snapshot), {}, "/sys/block")); });
  const double uplink = median([&] { text = uplink::exposition(from_lines(lines).value()); });
  const std::size_t series = series_of(text);
  if (series < static_cast<std::size_t>(std::atoi(argv[1])) * 4) return 1;  // not the machine that was asked for
  std::printf("core %s %.3f\nuplink %s %.3f\nseries %s %zu\n", argv[1], core, argv[1], uplink, argv[1], series);
  return 0;
}

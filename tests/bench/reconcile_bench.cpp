// Measures planning from an Inventory in memory, and one full look at a host tree, at 32, 256 and 1,024 namespaces.
// Prints one line a case: "<case> <namespaces> <median CPU milliseconds>". tests/bench/run makes figures of them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <vector>

#include "agent/engine/observe.hpp"
#include "agent/engine/planner.hpp"
#include "agent/host/reader.hpp"
#include "tests/sim/bench.hpp"
#include "tests/support/seen.hpp"

namespace {

using namespace nvstripe;

constexpr unsigned kPerTarget = 8;
constexpr int kRuns = 7;

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

std::string address(unsigned target) {
  return "10.9." + std::to_string(1 + target / 250) + "." + std::to_string(1 + target % 250);
}

// `namespaces` remote namespaces, 8 a target, and a volume of 8 members over each pair of targets: a simulated machine,
// since only one that was brought to rest by the agent itself shows what an idle pass has to go through.
void make_wide(sim::Bench& bench, unsigned namespaces) {
  unsigned number = 0x100;
  for (unsigned target = 0; target < namespaces / kPerTarget; ++target) {
    const std::string name = "s" + std::to_string(target);
    sim::Target made{name, address(target), seen::subsystem_nqn(name), {}};
    for (unsigned nsid = 1; nsid <= kPerTarget; ++nsid)
      made.namespaces.push_back({nsid, to_text(derive(seen::other_host_id(), "ns", name, ++number)), sim::blank_media()});
    bench.host.targets.push_back(std::move(made));
    bench.spec.connections.push_back(seen::connection(name, address(target)));
    if (target % 2 == 0) continue;
    const std::string volume = "v" + std::to_string(target);
    bench.spec.volumes.push_back(seen::volume(volume, {"s" + std::to_string(target - 1), name}, kPerTarget));
    bench.spec.volumes.back().mount.path = "/mnt/" + volume;
    bench.host.path_kinds["/mnt/" + volume] = "absent";
  }
}

// Connected, and no volume made: the same machine with a spec that names none.
Inventory connected(unsigned namespaces) {
  sim::Bench bench;
  make_wide(bench, namespaces);
  const Spec whole = bench.spec;
  bench.spec.volumes.clear();
  bench.settle();
  bench.spec = whole;
  return bench.look();
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "reconcile_bench: %s\n", what);
  std::exit(1);
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc == 3) {  // NAMESPACES TREE: one full look
    const auto reader = host::captured_reader(argv[2]);
    require(reader.has_value(), "the host tree cannot be read");
    const Spec spec;
    std::size_t devices = 0;
    const double took = median([&] { devices = observe(**reader, spec).blocks.value().size(); });
    require(devices >= static_cast<std::size_t>(std::atoi(argv[1])), "the tree shows fewer devices than it should");
    std::printf("look %s %.3f\n", argv[1], took);
    return 0;
  }
  for (const unsigned namespaces : {32u, 256u, 1024u}) {
    sim::Bench bench;
    make_wide(bench, namespaces);
    const Inventory blank = connected(namespaces);
    Plan plan;
    std::printf("plan %u %.3f\n", namespaces, median([&] { plan = make_plan(bench.spec, blank); }));
    require(plan.actions.size() >= bench.spec.volumes.size(), "the full plan makes fewer volumes than the spec wants");
    bench.settle();
    const Inventory settled = bench.look();
    std::printf("idle %u %.3f\n", namespaces, median([&] { plan = make_plan(bench.spec, settled); }));
    require(plan.actions.empty(), "the idle plan is not idle");
    require(settled.mounts.value().mounts.size() > bench.spec.volumes.size(),
            "the idle machine has not mounted all volumes");
  }
  return 0;
}

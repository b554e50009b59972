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

// `namespaces` remote namespaces, 8 a target, and a volume of 8 members over each pair of targets.
Spec wide_spec(unsigned namespaces) {
  Spec spec;
  const unsigned targets = namespaces / kPerTarget;
  for (unsigned target = 0; target < targets; ++target) {
    spec.connections.push_back(seen::connection("s" + std::to_string(target), address(target)));
    if (target % 2 == 0) continue;
    const std::string name = "v" + std::to_string(target);
    VolumeSpec volume = seen::volume(name, {"s" + std::to_string(target - 1), "s" + std::to_string(target)}, kPerTarget);
    volume.mount.path = "/mnt/" + name;
    spec.volumes.push_back(volume);
  }
  return spec;
}

Inventory wide_world(const Spec& spec, unsigned namespaces) {
  Inventory world = seen::machine();
  for (const VolumeSpec& volume : spec.volumes) world.mounts.value().path_kinds[volume.mount.path] = "absent";
  for (unsigned target = 0; target < namespaces / kPerTarget; ++target)
    seen::connect(world, "s" + std::to_string(target), address(target), kPerTarget, 1 + target * kPerTarget);
  return world;
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
    const Spec spec = wide_spec(namespaces);
    const Inventory world = wide_world(spec, namespaces);
    Plan plan;
    std::printf("plan %u %.3f\n", namespaces, median([&] { plan = make_plan(spec, world); }));
    require(plan.actions.size() >= spec.volumes.size(), "the full plan makes fewer volumes than the spec wants");
    Spec settled = spec;
    settled.volumes.clear();
    std::printf("idle %u %.3f\n", namespaces, median([&] { plan = make_plan(settled, world); }));
    require(plan.actions.size() < 8, "the idle plan is not idle");
  }
  return 0;
}

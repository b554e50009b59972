// Owns the counting. What happens between two looks is not seen: a controller that is away for less is not counted.
#include "agent/telemetry/counters.hpp"

namespace nvstripe {

ControllerName name_of(const NvmeController& controller) {
  const auto colon = controller.subsystem_nqn.find(':');
  ControllerName name;
  name.subsystem = colon == std::string::npos ? controller.subsystem_nqn : controller.subsystem_nqn.substr(colon + 1);
  name.place = controller.transport + ":" + controller.traddr;
  if (!controller.trsvcid.empty()) name.place += ":" + controller.trsvcid;
  return name;
}

bool is_fabric(const NvmeController& controller) {
  return !controller.transport.empty() && controller.transport != "pcie" && controller.transport != "apple-nvme";
}

void count_pass(AgentCounters& counters, double seconds, bool could_run, double now) {
  ++counters.passes;
  if (const MetricRow* row = find_metric("nvstripe_reconcile_duration_seconds"); row != nullptr)
    counters.pass_seconds.observe(seconds, row->bounds);
  if (could_run)
    counters.last_pass = now;
  else
    ++counters.failed_passes;
}

void count_action(AgentCounters& counters, const ActionOutcome& outcome) {
  ActionCount& count = counters.actions[outcome.id.substr(0, outcome.id.find(':'))];
  ++(outcome.error.empty() ? count.done : count.failed);
}

void count_controllers(AgentCounters& counters, const Inventory& seen) {
  if (!seen.controllers.is_known()) return;
  std::map<ControllerName, ControllerCount> now;
  for (const NvmeController& controller : seen.controllers.value()) {
    if (!is_fabric(controller)) continue;
    const auto [entry, fresh] = now.try_emplace(name_of(controller));
    ControllerCount& count = entry->second;
    if (!fresh) continue;  // two to one place: which one came back cannot be told
    const auto old = counters.controllers.find(entry->first);
    if (old != counters.controllers.end()) count = old->second;
    if (count.state == "live" && controller.state != "live") ++count.lost;
    if (!count.state.empty() && count.state != "live" && controller.state == "live") ++count.restored;
    count.state = controller.state;
  }
  counters.controllers = std::move(now);
}

void count_collector(AgentCounters& counters, std::string_view name, double seconds, bool success, double now) {
  auto run = counters.collectors.find(name);
  if (run == counters.collectors.end()) run = counters.collectors.emplace(std::string(name), CollectorRun{}).first;
  run->second.success = success;
  run->second.seconds = seconds;
  if (success) run->second.last_success = now;
}

bool all_known(FacetSet facets, const Inventory& seen) {
  using enum FacetName;
  const auto fine = [&](FacetName name, bool known) { return !contains(facets, name) || known; };
  return fine(blocks, seen.blocks.is_known()) && fine(controllers, seen.controllers.is_known()) &&
         fine(exports, seen.exports.is_known()) && fine(arrays, seen.arrays.is_known()) && fine(lvm, seen.lvm.is_known()) &&
         fine(mounts, seen.mounts.is_known()) && fine(units, seen.units.is_known()) && fine(links, seen.links.is_known()) &&
         fine(rdma, seen.rdma.is_known()) && fine(kernel, seen.kernel.is_known()) && fine(tools, seen.tools.is_known()) &&
         fine(identity, seen.identity.is_known()) && fine(targets, seen.targets.is_known()) &&
         fine(records, seen.records.is_known()) && fine(sysctls, seen.sysctls.is_known());
}

}  // namespace nvstripe

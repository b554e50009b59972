// Owns the samples of NVMe over fabrics: controllers and paths of this host, the targets it was told of, and what it serves.
#include <algorithm>
#include <array>
#include <set>

#include "agent/telemetry/core_parts.hpp"

namespace nvstripe {
namespace {

constexpr std::array<std::string_view, 7> kControllerStates{"live",     "connecting", "resetting", "new",
                                                            "deleting", "dead",       "unknown"};
constexpr std::array<std::string_view, 5> kExportStates{"serving", "partial", "waiting", "refused", "held"};

std::string_view state_of(const NvmeController& controller) {
  const auto* known = std::find(kControllerStates.begin(), kControllerStates.end(), controller.state);
  return known == kControllerStates.end() ? "unknown" : *known;
}

std::string connection_of(const NvmeController& controller, const Records& records) {
  for (const ConnectionRecord& made : records.connections) {
    if (made.nqn == controller.subsystem_nqn && made.transport == controller.transport && made.traddr == controller.traddr &&
        made.trsvcid == controller.trsvcid)
      return made.connection;
  }
  return {};
}

void add_reach(const std::string& connection, const char* transport, Reach reach, SampleGathering& to) {
  if (reach == Reach::unknown || reach == Reach::checking) return;
  to.add("nvstripe_connection_reachable", {connection, transport}, reach == Reach::reachable ? 1 : 0);
}

}  // namespace

void add_controllers(const CoreView& view, SampleGathering& to) {
  const Inventory& seen = view.pass.seen;
  if (!seen.controllers.is_known()) return;
  struct Paths {
    double all = 0, live = 0;
  };
  std::map<std::string, Paths> paths;
  for (const NvmeController& controller : seen.controllers.value()) {
    if (!is_fabric(controller)) continue;
    const ControllerName name = name_of(controller);
    const std::vector<std::string> labels{name.subsystem, name.place};
    to.add("nvstripe_nvmeof_controller_info",
           {name.subsystem, name.place, connection_of(controller, seen.records.value()), controller.subsystem_nqn,
            controller.transport, controller.traddr},
           1);
    add_states(to, "nvstripe_nvmeof_controller_state", labels, kControllerStates, state_of(controller));
    ++paths[name.subsystem].all;
    if (controller.state == "live") ++paths[name.subsystem].live;
    const auto count = view.counters.controllers.find(name);
    if (count == view.counters.controllers.end()) continue;
    to.add("nvstripe_nvmeof_losses_total", labels, static_cast<double>(count->second.lost));
    to.add("nvstripe_nvmeof_reconnects_total", labels, static_cast<double>(count->second.restored));
  }
  for (const auto& [subsystem, count] : paths) {
    to.add("nvstripe_nvmeof_paths", {subsystem}, count.all);
    to.add("nvstripe_nvmeof_paths_live", {subsystem}, count.live);
  }
}

void add_targets(const CoreView& view, SampleGathering& to) {
  for (const TargetView& target : view.pass.seen.targets.value()) {
    add_reach(target.connection, "tcp", target.tcp, to);
    add_reach(target.connection, "rdma", target.rdma, to);
  }
}

void add_exports(const CoreView& view, SampleGathering& to) {
  const Facet<TargetConfiguration>& exports = view.pass.seen.exports;
  if (!exports.is_known()) return;
  for (const ExportView& one : view.exports) {
    if (view.pass.seen.records.is_known()) add_states(to, "nvstripe_export_state", {one.name}, kExportStates, one.state);
  }
  std::map<std::string, std::set<std::pair<std::string, std::uint32_t>>> namespaces{{"rdma", {}}, {"tcp", {}}};
  std::map<std::string, double> ports{{"rdma", 0}, {"tcp", 0}};
  for (const TargetPort& port : exports.value().ports) {
    if (!port.subsystems.empty()) ++ports[port.trtype];
    for (const TargetSubsystem& subsystem : exports.value().subsystems) {
      if (std::find(port.subsystems.begin(), port.subsystems.end(), subsystem.nqn) == port.subsystems.end()) continue;
      for (const TargetNamespace& ns : subsystem.namespaces)
        if (ns.enabled) namespaces[port.trtype].emplace(subsystem.nqn, ns.nsid);
    }
  }
  for (const auto& [transport, count] : ports) to.add("nvstripe_export_ports", {transport}, count);
  for (const auto& [transport, all] : namespaces)
    to.add("nvstripe_export_namespaces", {transport}, static_cast<double>(all.size()));
}

}  // namespace nvstripe

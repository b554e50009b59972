// Owns the choice of transport, the view of a connection, and the question which controllers are ours or in use.
#include <algorithm>

#include "agent/base/text.hpp"
#include "configurators/nvme_connect.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::string_view kDiscovery = "nqn.2014-08.org.nvmexpress.discovery";

bool is_fabric(const NvmeController& controller) { return controller.transport == "rdma" || controller.transport == "tcp"; }

// new, connecting, live and resetting are all "there": the kernel goes on with them by itself (A-50).
bool is_there(const NvmeController& controller) {
  return controller.state != "dead" && !controller.state.starts_with("deleting");
}

const TargetView* find_target(const Inventory& seen, const std::string& connection) {
  for (const TargetView& view : seen.targets.value()) {
    if (view.connection == connection) return &view;
  }
  return nullptr;
}

const RdmaDevice* active_rdma(const Inventory& seen, const std::string& local_address) {
  const RdmaDevice* any = nullptr;
  for (const RdmaDevice& device : seen.rdma.value()) {
    if (device.port_state != "ACTIVE") continue;
    const auto& addresses = device.roce_v2_addresses;
    if (std::find(addresses.begin(), addresses.end(), local_address) != addresses.end()) return &device;
    if (local_address.empty() && any == nullptr) any = &device;
  }
  return any;
}

bool offers(const TargetView& view, std::string_view transport) {
  return std::any_of(view.subsystems.begin(), view.subsystems.end(),
                     [&](const DiscoveredSubsystem& entry) { return entry.transport == transport; });
}

std::string with_reason(std::string text, const std::string& reason) { return reason.empty() ? text : text + ": " + reason; }

// Why rdma cannot be had here; empty: it can.
std::string obstacle_to_rdma(const ConnectionSpec& wanted, const TargetView& view, const Inventory& seen) {
  if (seen.kernel.value().lacks_module("nvme_rdma")) return "this kernel has no nvme-rdma";
  if (active_rdma(seen, view.local_address) == nullptr) {
    const std::string where = view.local_address.empty() ? "" : " with address '" + view.local_address + "'";
    return "no RDMA device" + where + " is active here";
  }
  if (view.discovered && !wanted.subsystem && !view.subsystems.empty() && !offers(view, "rdma")) {
    return "the target does not offer rdma";
  }
  if (view.rdma == Reach::silent) return with_reason("the target is silent over rdma", view.rdma_problem);
  if (view.rdma != Reach::reachable) return with_reason("the target cannot be reached over rdma", view.rdma_problem);
  return {};
}

std::string obstacle_to_tcp(const ConnectionSpec& wanted, const TargetView& view, const Inventory& seen) {
  if (seen.kernel.value().lacks_module("nvme_tcp")) return "this kernel has no nvme-tcp";
  if (view.discovered && !wanted.subsystem && !view.subsystems.empty() && !offers(view, "tcp")) {
    return "the target does not offer tcp";
  }
  if (view.tcp == Reach::silent) return with_reason("the target is silent over tcp", view.tcp_problem);
  if (view.tcp != Reach::reachable) return with_reason("the target cannot be reached over tcp", view.tcp_problem);
  return {};
}

bool unsettled(Reach reach) { return reach == Reach::unknown || reach == Reach::checking; }

const NvmeController* existing_to(const ConnectionSpec& wanted, const TargetView* view, const std::string& nqn,
                                  const Inventory& seen) {
  const auto leads_here = [&](const NvmeController& controller) {
    if (controller.traddr == wanted.address) return true;
    if (view == nullptr) return false;
    if (controller.traddr == view->resolved_address) return true;
    return std::any_of(view->subsystems.begin(), view->subsystems.end(), [&](const DiscoveredSubsystem& entry) {
      return entry.nqn == controller.subsystem_nqn && entry.traddr == controller.traddr;
    });
  };
  const NvmeController* found = nullptr;
  for (const NvmeController& controller : seen.controllers.value()) {
    if (!is_fabric(controller) || !is_there(controller) || controller.subsystem_nqn == kDiscovery) continue;
    if ((!nqn.empty() && controller.subsystem_nqn != nqn) || !leads_here(controller)) continue;
    if (found == nullptr || (found->state != "live" && controller.state == "live")) found = &controller;
  }
  return found;
}

// Of the subsystems that the connection wants; before its discovery, of any at that address.
const NvmeController* existing_of(const ConnectionSpec& wanted, const TargetView* view, const Inventory& seen) {
  if (wanted.subsystem || view == nullptr || !view->discovered)
    return existing_to(wanted, view, wanted.subsystem.value_or(""), seen);
  for (const DiscoveredSubsystem& entry : view->subsystems) {
    if (const auto* found = existing_to(wanted, view, entry.nqn, seen)) return found;
  }
  return nullptr;
}

void add_wanted(ConnectionView& out, DiscoveredSubsystem to, const ConnectionSpec& wanted, const Inventory& seen) {
  const NvmeController* existing = existing_to(wanted, out.target, to.nqn, seen);
  out.controllers.push_back({std::move(to), existing});
}

// One entry an NQN: the one at the address that the spec names where there is one, since that one was found reachable.
std::vector<DiscoveredSubsystem> entries_of(const TargetView& view, const std::string& transport) {
  std::vector<DiscoveredSubsystem> entries = view.subsystems;
  std::sort(entries.begin(), entries.end());
  std::vector<DiscoveredSubsystem> chosen;
  for (DiscoveredSubsystem entry : entries) {
    if (entry.transport != transport || entry.nqn == kDiscovery) continue;
    if (entry.traddr.empty() || entry.traddr == "0.0.0.0" || entry.traddr == "::") entry.traddr = view.resolved_address;
    const auto same = std::find_if(chosen.begin(), chosen.end(), [&](const auto& one) { return one.nqn == entry.nqn; });
    if (same == chosen.end())
      chosen.push_back(entry);
    else if (same->traddr != view.resolved_address && entry.traddr == view.resolved_address)
      *same = entry;
  }
  return chosen;
}

}  // namespace

TransportChoice choose_transport(const ConnectionSpec& wanted, const Inventory& seen) {
  const TargetView* view = find_target(seen, wanted.name);
  if (const auto* existing = existing_of(wanted, view, seen)) {
    if (wanted.transport == Transport::automatic || to_text(wanted.transport) == existing->transport)
      return {existing->transport, "it is connected over " + existing->transport, false};
  }
  if (view == nullptr) return {"", "the target was not looked for yet", true};
  const std::string no_rdma = obstacle_to_rdma(wanted, *view, seen);
  const std::string no_tcp = obstacle_to_tcp(wanted, *view, seen);
  if (wanted.transport == Transport::rdma) {
    if (no_rdma.empty()) return {"rdma", "the spec asks for it", false};
    return {"", no_rdma, unsettled(view->rdma)};
  }
  if (wanted.transport == Transport::tcp) {
    if (no_tcp.empty()) return {"tcp", "the spec asks for it", false};
    return {"", no_tcp, unsettled(view->tcp)};
  }
  if (no_rdma.empty()) {
    return {"rdma",
            "'" + printable(active_rdma(seen, view->local_address)->name) + "' is active and the target answers over rdma",
            false};
  }
  const bool rdma_possible =
      active_rdma(seen, view->local_address) != nullptr && !seen.kernel.value().lacks_module("nvme_rdma");
  if (rdma_possible && unsettled(view->rdma)) return {"", "the check of rdma is under way", true};
  if (no_tcp.empty()) return {"tcp", no_rdma, false};
  return {"", no_rdma + "; " + no_tcp, unsettled(view->tcp)};
}

ConnectionView view_connection(const ConnectionSpec& wanted, const Inventory& seen) {
  ConnectionView out;
  out.target = find_target(seen, wanted.name);
  const TransportChoice choice = choose_transport(wanted, seen);
  const TargetView* view = out.target;
  if (wanted.subsystem) {
    const std::string address = view != nullptr && !view->resolved_address.empty() ? view->resolved_address : wanted.address;
    add_wanted(out, {*wanted.subsystem, choice.transport, address, std::to_string(wanted.port)}, wanted, seen);
  } else if (view != nullptr && view->discovered) {
    for (DiscoveredSubsystem& entry : entries_of(*view, choice.transport)) add_wanted(out, std::move(entry), wanted, seen);
  }
  out.complete = !out.controllers.empty();
  for (const WantedController& one : out.controllers) {
    if (one.existing != nullptr && one.existing->state == "live") continue;
    out.complete = false;
    out.missing = one.existing == nullptr
                      ? "'" + printable(short_name(one.to.nqn)) + "' is not connected"
                      : "the controller to '" + printable(short_name(one.to.nqn)) + "' is " + one.existing->state;
    if (one.existing == nullptr && choice.transport.empty()) out.missing = choice.why;
    break;
  }
  if (!out.controllers.empty()) return out;
  if (choice.transport.empty())
    out.missing = choice.why;
  else if (view == nullptr)
    out.missing = "which subsystems its target offers was not asked yet";
  else if (!view->discovered)
    out.missing = with_reason("its discovery log was not read yet", view->problem);
  else
    out.missing = "its discovery log has no subsystem for this host";
  return out;
}

bool connection_needed(const ConnectionSpec& wanted, const Spec& spec, const Inventory& seen) {
  bool named = false;
  for (const VolumeSpec& volume : spec.volumes) {
    const auto& from = volume.members.from;
    if (std::find(from.begin(), from.end(), wanted.name) == from.end()) continue;
    if (!seen.records.value().held("volume:" + volume.name)) return true;
    named = true;
  }
  return !named;
}

const ConnectionRecord* record_of(const NvmeController& controller, const Inventory& seen) {
  const std::string& boot = seen.identity.value().boot_id;
  for (const ConnectionRecord& record : seen.records.value().connections) {
    if (!boot.empty() && record.boot_id == boot && record.nqn == controller.subsystem_nqn &&
        record.transport == controller.transport && record.traddr == controller.traddr &&
        record.trsvcid == controller.trsvcid)
      return &record;
  }
  return nullptr;
}

bool controller_in_use(const NvmeController& controller, const Inventory& seen, const std::string& except) {
  for (const BlockDevice& device : seen.blocks.value()) {
    const auto& names = device.controllers;
    if (std::find(names.begin(), names.end(), controller.kernel_name) == names.end()) continue;
    bool exempt = false, needed = false;
    for (const VolumeRecord& record : seen.records.value().volumes) {
      const auto& members = record.members;
      if (std::find(members.begin(), members.end(), device.key) == members.end()) continue;
      if (record.name == except)
        exempt = true;
      else
        needed = true;
    }
    if (needed || (!exempt && (!device.holders.empty() || !device.mount_points.empty() || device.partitions > 0)))
      return true;
  }
  return false;
}

std::string short_name(const std::string& nqn) {
  constexpr std::string_view kOurs = "nqn.2026-11.io.nvstripe:";
  if (!nqn.starts_with(kOurs)) return nqn;
  const std::string rest = nqn.substr(kOurs.size());
  return rest.substr(0, rest.find(':'));
}

std::string controller_place(const std::string& nqn, const std::string& transport, const std::string& traddr,
                             const std::string& trsvcid) {
  return nqn + "@" + transport + ":" + traddr + ":" + trsvcid;
}

}  // namespace nvstripe::configure

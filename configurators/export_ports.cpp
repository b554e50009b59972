// Owns ports and the link of a subsystem into them, which is where nvmet binds: errors about addresses (EADDRNOTAVAIL: not
// there, ENODEV: no RDMA device under it, EADDRINUSE) come at the link, not at the attribute writes. The link comes
// last, when every namespace is enabled: linked too early, a reconnecting host gets errors for good (DNR) and its array
// fails.
#include <fmt/format.h>

#include <algorithm>

#include "configurators/export_listen.hpp"
#include "configurators/export_names.hpp"
#include "configurators/export_wishes.hpp"
#include "configurators/exports.hpp"
#include "configurators/ip_network.hpp"

namespace nvstripe::configure {
namespace {

void write(std::vector<Step>& steps, const std::string& folder, std::string_view attribute, std::string value) {
  WriteAttribute step;
  step.path = fmt::format("{}/{}", folder, attribute);
  step.value = std::move(value);
  steps.push_back(std::move(step));
}

const TargetPort* find_port(const Inventory& seen, const std::string& id) {
  for (const TargetPort& port : seen.exports.value().ports) {
    if (port.id == id) return &port;
  }
  return nullptr;
}

Conflict conflict_of(const ExportSpec& wanted, Standing standing, std::string id, std::string why, std::string remedy) {
  return {fmt::format("export '{}'", wanted.name),
          "export:" + wanted.name,
          std::move(why),
          std::move(remedy),
          standing,
          std::move(id)};
}

// Attributes of a port with links are EACCES; a port of ours without links is written whole again.
void port_steps(const Inventory& seen, const std::string& id, const PortAddress& address, std::vector<Step>& steps) {
  const std::string folder = port_path(id);
  const TargetPort* shown = find_port(seen, id);
  if (shown != nullptr && shown->traddr == address.traddr && shown->trsvcid == address.trsvcid &&
      shown->trtype == address.trtype && shown->adrfam == (is_ipv6(address.traddr) ? "ipv6" : "ipv4"))
    return;
  steps.push_back(MakeDir{folder});
  write(steps, folder, "addr_trtype", address.trtype);
  write(steps, folder, "addr_adrfam", is_ipv6(address.traddr) ? "ipv6" : "ipv4");
  write(steps, folder, "addr_traddr", address.traddr);
  write(steps, folder, "addr_trsvcid", address.trsvcid);
}

std::string missing_text(const SubsystemWish& wish) {
  std::vector<std::string> names;
  for (const NamespaceWish& one : wish.namespaces) {
    if (!one.problem.empty()) names.push_back(fmt::format("'{}' ({})", one.backing.text, one.problem));
  }
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// Entries that were served before and cannot be now: the consumer may still have I/O waiting for them.
bool lacks_served(const SubsystemWish& wish) {
  return std::any_of(wish.namespaces.begin(), wish.namespaces.end(),
                     [](const NamespaceWish& one) { return !one.problem.empty() && one.record.served; });
}

Action publish(const SubsystemWish& wish, const Inventory& seen, const std::string& id, const PortAddress& address) {
  Action action;
  action.id = fmt::format("export.publish:{}/{}/{}/{}", wish.wanted->name, wish.nqn.substr(wish.nqn.rfind(':') + 1),
                          address.trtype, address.traddr);
  action.object = "export:" + wish.wanted->name;
  action.sentence = fmt::format("offer subsystem '{}' on {}", wish.nqn, to_text(address));
  action.reason = "all its namespaces are enabled by then, and it is not on that port";
  for (const NamespaceWish& one : wish.namespaces) {
    if (one.problem.empty()) action.needs.push_back(namespace_fact(wish.nqn, one.record.nsid));
  }
  if (lacks_served(wish) && !is_published(seen, wish.nqn)) {
    action.risk = Risk::disruptive;
    action.reason = fmt::format("it is not on that port, but its host gets errors for {}, which it was served before",
                                missing_text(wish));
  }
  const std::string module = "nvmet_" + address.trtype;
  const auto& loaded = seen.kernel.value().modules_loaded;
  if (std::find(loaded.begin(), loaded.end(), module) == loaded.end()) action.steps.push_back(Run{{"modprobe", module}});
  port_steps(seen, id, address, action.steps);
  const std::string link = fmt::format("{}/subsystems/{}", port_path(id), wish.nqn);
  action.steps.push_back(Link{subsystem_path(wish.nqn), link});
  action.undo = {Remove{link}};
  return action;
}

// Another port that listens there already makes the bind EADDRINUSE.
const TargetPort* foreign_port(const Inventory& seen, const PortAddress& address) {
  for (const TargetPort& port : seen.exports.value().ports) {
    const bool any = port.traddr == "0.0.0.0" || port.traddr == "::";
    if (port.trtype == address.trtype && port.trsvcid == address.trsvcid && (any || port.traddr == address.traddr) &&
        !is_our_port(port))
      return &port;
  }
  return nullptr;
}

void offer(const SubsystemWish& wish, const Inventory& seen, const PortAddress& address, Draft& draft) {
  if (const TargetPort* taken = foreign_port(seen, address)) {
    draft.conflicts.push_back(
        conflict_of(*wish.wanted, Standing::refused, "export.port_taken",
                    fmt::format("nvmet port '{}', which is not ours, listens on {} already", taken->id, to_text(address)),
                    "choose another 'listen.port', or remove that port"));
    return;
  }
  const auto id = port_id(address, seen.exports.value());
  if (!id) {
    draft.conflicts.push_back(conflict_of(*wish.wanted, Standing::refused, "export.no_port_id",
                                          fmt::format("every nvmet port id derived for {} is taken", to_text(address)),
                                          "remove nvmet ports that nothing needs"));
    return;
  }
  const TargetPort* port = find_port(seen, *id);
  const bool linked =
      port != nullptr && std::find(port->subsystems.begin(), port->subsystems.end(), wish.nqn) != port->subsystems.end();
  if (!linked) draft.actions.push_back(publish(wish, seen, *id, address));
}

std::string not_seen(const ExportSpec& wanted, const Inventory& seen) {
  if (!seen.links.is_known()) return "cannot see network interfaces: " + seen.links.reason();
  if (!seen.kernel.is_known()) return "cannot see the kernel's modules: " + seen.kernel.reason();
  const auto& transports = wanted.transports;
  const bool rdma = std::find(transports.begin(), transports.end(), "rdma") != transports.end();
  return rdma && !seen.rdma.is_known() ? "cannot see RDMA devices: " + seen.rdma.reason() : std::string();
}

}  // namespace

Draft export_ports(const Spec& spec, const Inventory& seen) {
  Draft draft;
  if (!export_blindness(spec, seen).empty()) return draft;
  const ExportWishes wishes = export_wishes(spec, seen);
  for (const ExportSpec& wanted : spec.exports) {
    if (const std::string unseen = not_seen(wanted, seen); !unseen.empty()) {
      draft.conflicts.push_back(conflict_of(wanted, Standing::waiting, "export.cannot_see", unseen,
                                            "make it readable; nothing is offered on missing information"));
      continue;
    }
    Listening listening = listen_addresses(wanted, seen);
    draft.conflicts.insert(draft.conflicts.end(), listening.conflicts.begin(), listening.conflicts.end());
    for (const std::string& transport : wanted.transports) {
      const std::string module = "nvmet_" + transport;
      if (seen.kernel.value().lacks_module(module))
        draft.conflicts.push_back(conflict_of(wanted, Standing::refused, "export.no_module",
                                              fmt::format("this kernel has no module '{}'", module),
                                              fmt::format("install it, or leave '{}' out of 'transports'", transport)));
    }
    for (const SubsystemWish& wish : wishes.subsystems) {
      const bool any = std::any_of(wish.namespaces.begin(), wish.namespaces.end(),
                                   [](const NamespaceWish& one) { return one.problem.empty(); });
      if (wish.wanted != &wanted || !any) continue;
      for (const PortAddress& address : listening.addresses) {
        if (!seen.kernel.value().lacks_module("nvmet_" + address.trtype)) offer(wish, seen, address, draft);
      }
    }
  }
  return draft;
}

}  // namespace nvstripe::configure

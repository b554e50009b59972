// Owns the choice of listening addresses out of what the machine has; decides nothing about what is offered there.
#include "configurators/export_listen.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "configurators/ip_network.hpp"

namespace nvstripe::configure {
namespace {

Conflict waiting(const ExportSpec& wanted, std::string id, std::string why, std::string remedy) {
  return {fmt::format("export '{}'", wanted.name),
          "export:" + wanted.name,
          std::move(why),
          std::move(remedy),
          Standing::waiting,
          std::move(id)};
}

bool names(const Listen& listen, const NetworkLink& link, const std::string& ip) {
  if (listen.interface && link.name != *listen.interface) return false;
  if (listen.network) return in_network(ip, *listen.network);
  return !is_local_only(ip);
}

std::string place(const Listen& listen) {
  if (listen.network && listen.interface)
    return fmt::format("network '{}' on interface '{}'", *listen.network, *listen.interface);
  return listen.network ? fmt::format("network '{}'", *listen.network)
                        : fmt::format("interface '{}'", listen.interface.value_or(""));
}

// RoCE v2 only: v1 is not routable, and rdma_cm prefers v2 where it is.
bool has_rdma(const Inventory& seen, const std::string& ip) {
  const auto& devices = seen.rdma.value();
  return std::any_of(devices.begin(), devices.end(), [&](const RdmaDevice& device) {
    const auto& addresses = device.roce_v2_addresses;
    return device.port_state == "ACTIVE" && std::find(addresses.begin(), addresses.end(), ip) != addresses.end();
  });
}

}  // namespace

Listening listen_addresses(const ExportSpec& wanted, const Inventory& seen) {
  Listening listening;
  if (!wanted.listen.network && !wanted.listen.interface) {
    listening.conflicts.push_back(waiting(wanted, "export.no_listen", "it does not say where to listen",
                                          "name 'listen.network' or 'listen.interface'; there is no wildcard"));
    return listening;
  }
  std::vector<std::string> ips;
  for (const NetworkLink& link : seen.links.value()) {
    for (const Address& address : link.addresses) {
      if (names(wanted.listen, link, address.ip)) ips.push_back(address.ip);
    }
  }
  std::sort(ips.begin(), ips.end());
  ips.erase(std::unique(ips.begin(), ips.end()), ips.end());
  if (ips.empty()) {
    listening.conflicts.push_back(waiting(wanted, "export.no_address",
                                          fmt::format("no address on {} is there", place(wanted.listen)),
                                          "it listens as soon as the address is there"));
    return listening;
  }
  const std::string service = std::to_string(wanted.listen.port);
  const auto& transports = wanted.transports;
  const bool tcp_too = std::find(transports.begin(), transports.end(), "tcp") != transports.end();
  for (const std::string& transport : transports) {
    for (const std::string& ip : ips) {
      if (transport != "rdma" || has_rdma(seen, ip)) {
        listening.addresses.push_back({transport, ip, service});
      } else {
        // Both transports are asked for by default, and most clouds have no RoCE: TCP serves, and nothing is waited for.
        Conflict missing = waiting(wanted, "export.no_rdma", fmt::format("no active RDMA device has the address '{}'", ip),
                                   tcp_too ? "nothing is needed; TCP serves, and RDMA too once it is there"
                                           : "see 'rdma link', or add 'tcp' to 'transports'");
        if (tcp_too) missing.standing = Standing::note;
        listening.conflicts.push_back(std::move(missing));
      }
    }
  }
  std::sort(listening.addresses.begin(), listening.addresses.end());
  return listening;
}

bool may_be_meant(const ExportSpec& wanted, const PortAddress& address, const Inventory& seen) {
  const auto& transports = wanted.transports;
  if (std::find(transports.begin(), transports.end(), address.trtype) == transports.end()) return false;
  if (address.trsvcid != std::to_string(wanted.listen.port)) return false;
  if (wanted.listen.network) return in_network(address.traddr, *wanted.listen.network);
  bool has_other = false;
  for (const NetworkLink& link : seen.links.value()) {
    for (const Address& there : link.addresses) {
      const bool named = link.name == wanted.listen.interface.value_or("");
      if (there.ip == address.traddr) return named;
      has_other = has_other || (named && !is_local_only(there.ip));
    }
  }
  return !has_other;
}

}  // namespace nvstripe::configure

// Owns where an export listens: the addresses of the named network or interface, never a wildcard, and for RDMA only those
// that an active RDMA device has. Pure.
#pragma once
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"
#include "configurators/export_names.hpp"

namespace nvstripe::configure {

struct Listening {
  std::vector<PortAddress> addresses;  // sorted
  std::vector<Conflict> conflicts;     // what is not there yet
};
[[nodiscard]] Listening listen_addresses(const ExportSpec& wanted, const Inventory& seen);

// Whether the spec may still mean this address although it is not there now: a flapping link must not end an export.
[[nodiscard]] bool may_be_meant(const ExportSpec& wanted, const PortAddress& address, const Inventory& seen);

}  // namespace nvstripe::configure

// Owns the question what of a look is missing. Rows of the table ask it for what they need for this spec, so that a machine
// without LVM or RDMA is told nothing about them.
#pragma once
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"

namespace nvstripe::configure {

// "mounts cannot be seen: permission denied", one clause a facet that is not known.
[[nodiscard]] std::vector<std::string> unseen(const Inventory& seen, FacetSet needed);

}  // namespace nvstripe::configure

// Owns the choice of members for a volume of which nothing exists: candidates, what rules them out, and their spread over
// failure domains and targets. Pure and deterministic: the same look gives the same members in the same order.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::configure {

struct Choice {
  std::vector<DeviceKey> members;  // empty where a conflict withholds the choice
  std::vector<DeviceKey> wiped;    // of those, the ones with foreign content that the spec lets us wipe
  bool trim = false;
  std::vector<Conflict> conflicts;  // notes may stand beside members
};

// Remote namespaces by the controllers that reach them, so that a look at many connections stays linear.
using Reached = std::map<std::string, std::vector<const BlockDevice*>>;
[[nodiscard]] Reached by_controller(const Inventory& seen);

// `taken`: members of other volumes.
[[nodiscard]] Choice choose_members(const VolumeSpec& wanted, const Spec& spec, const Inventory& seen,
                                    const std::set<DeviceKey>& taken, const Reached& reached);

}  // namespace nvstripe::configure

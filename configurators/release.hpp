// Owns the way to release a volume: unmount, stop, disconnect what nothing else needs, leave the data where it is. Safe when
// the target is dead: dead controllers of ours go first, since unmounting would wait for them for ever.
#pragma once
#include <string>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::configure {

// One action, `volume.release:<name>`, whose steps are what is left to do; it puts the volume on hold, also where nothing is
// left to do. The volume may be in the spec or in the records only.
[[nodiscard]] Draft release_volume(const Spec& spec, const Inventory& seen, const std::string& name);

}  // namespace nvstripe::configure

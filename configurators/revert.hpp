// Owns the way in to undoing all tuning, for `nvstripe revert`; revert.cpp does it.
#pragma once
#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::configure {

// Gives each setting we changed its old value again, where it still is what we set.
[[nodiscard]] Draft revert_tuning(const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::configure

// Owns the actions on md arrays of volumes: create, assemble, redo, recover. Never touches an array whose UUID is not ours.
#pragma once
#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::configure {

[[nodiscard]] Draft plan_md_array(const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::configure

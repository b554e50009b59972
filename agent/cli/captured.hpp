// Owns looking at a captured machine in this process: the same collectors and the same planner as the daemon, no root, no
// disk. What was not captured is unknown, never absent.
#pragma once
#include "agent/base/result.hpp"
#include "agent/cli/commands.hpp"
#include "agent/model/inventory.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::cli {

struct Captured {
  Spec spec;
  Inventory seen;
};

// 64 for a spec that is wrong, else 1.
[[nodiscard]] int exit_code_for(const Error& error);
// The spec: machine.spec, else what was captured below etc/nvstripe and its fellows, else an empty one.
[[nodiscard]] Result<Captured> look_at(const Machine& machine);

}  // namespace nvstripe::cli

// Owns World: the seam between the reconcile loop and a machine, real (agent/engine/machine.cpp) or simulated (tests/sim).
#pragma once
#include <chrono>
#include <string>

#include "agent/base/result.hpp"
#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe {

class World {
 public:
  virtual ~World() = default;
  // Everything that can be seen now. Facets outside `wanted` may be taken over from the last look.
  [[nodiscard]] virtual Inventory look(const Spec& spec, FacetSet wanted) = 0;
  // Opens what an action's RequireContent steps hold, and lets go of it.
  virtual void begin_action(const Action& action) = 0;
  virtual void end_action() = 0;
  // Performs one step and nothing else; decides nothing. Errors carry subject, cause and remedy.
  [[nodiscard]] virtual Result<> perform(const Step& step) = 0;
};

}  // namespace nvstripe

// Owns 'nvstripe revert': every recorded setting given back. The caller puts tuning on hold first, else it is set again.
#include "configurators/tuning.hpp"

namespace nvstripe::configure {

Draft revert_tuning(const Spec& spec, const Inventory& seen) {
  (void)spec;  // what the spec wants does not matter: all of it is given back
  return give_back({}, seen, [](const TuningRecord&) { return true; });
}

}  // namespace nvstripe::configure

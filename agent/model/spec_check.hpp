// Owns contradictions between fields of a merged spec, as far as they can be seen without a machine. Single values were
// checked by their type before.
#pragma once
#include <vector>

#include "agent/model/spec.hpp"
#include "agent/model/spec_error.hpp"

namespace nvstripe {

[[nodiscard]] std::vector<SpecError> check_spec(const Spec& spec);

}  // namespace nvstripe

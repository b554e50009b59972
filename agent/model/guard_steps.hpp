// Owns the declarations by which the guard judges what an action does beside writing to devices.
#pragma once
#include "agent/model/guard.hpp"

namespace nvstripe::guard {

// Whether the program changes what devices carry. A program that is not known to be harmless counts as writing.
[[nodiscard]] bool writes_devices(const Run& run);
// Veto on touching what is not ours: controllers, arrays, groups, units, nvmet, paths, settings.
[[nodiscard]] Veto judge_steps(const Action& action, const Spec& spec, const Inventory& seen);
// The least that the steps risk, writes to devices aside.
[[nodiscard]] Risk least_risk(const Action& action, const Spec& spec, const Inventory& seen);

// A mount unit stands for whatever is mounted at its path; by hand that may be something else than our volume.
[[nodiscard]] Veto judge_unmount(std::string_view unit, const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::guard

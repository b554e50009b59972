// Owns the actions on volume groups of volumes: create, activate, redo. Never touches a group without our identity.
#pragma once
#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"
#include "configurators/volume.hpp"

namespace nvstripe::configure {

// "--devices D1 --devices D2 …": every call sees the volume's members and nothing else. A devices file would be ignored
// silently on Debian 12.
[[nodiscard]] std::vector<Arg> only_devices(const VolumeSurvey& volume);

[[nodiscard]] Draft plan_lvm_volume(const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::configure

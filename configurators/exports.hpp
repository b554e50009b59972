// Owns the configurators that make a machine a target: each a pure function Spec × Inventory → Draft, one row in all.cpp.
#pragma once
#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::configure {

[[nodiscard]] Draft export_slices(const Spec& spec, const Inventory& seen);      // LVM slices on the drives
[[nodiscard]] Draft exports(const Spec& spec, const Inventory& seen);            // subsystems and namespaces
[[nodiscard]] Draft export_ports(const Spec& spec, const Inventory& seen);       // ports, and subsystems on them
[[nodiscard]] Draft export_withdrawal(const Spec& spec, const Inventory& seen);  // what the spec no longer names
[[nodiscard]] Draft export_udev(const Spec& spec, const Inventory& seen);        // rules that keep udev off exported drives

}  // namespace nvstripe::configure

// Owns how a setting is set, kept and given back: the old value in a record before it is changed, set again on a new boot or
// a new disk, left alone when somebody else keeps changing it. What is set and why is in the table of
// tuning_table.cpp and the configurators block_queue, sysctl and nvme_parameters. Pure.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::configure {

// One row of the documentation of what is tuned.
struct TuningRow {
  std::string_view name;   // "queue/scheduler"
  std::string_view where;  // on which devices, or "the machine"
  std::string_view value;
  std::string_view reason;  // with its evidence
};
[[nodiscard]] std::span<const TuningRow> tuning_table();

// A value that is wanted, beside the one that is there.
struct Setting {
  std::string object;     // device key, "sysctl" or "module"
  std::string attribute;  // "queue/scheduler", "paths/queue/scheduler", "vm.dirty_bytes", "nvme_core.io_timeout"
  std::string wanted, present;
  std::string instance;        // TuningRecord::instance of now
  std::string old_value;       // what giving back means, when that is not `present`: "vm.dirty_ratio=20"
  std::string foreign_setter;  // somebody who sets it too; it is then told and not set
  std::string reason;          // one clause
};

// How many times a value that somebody else changed is set again before it is left to them.
inline constexpr std::uint32_t kMaxForeignChanges = 3;

// Actions that set what differs, one an object, and notes about foreign setters.
[[nodiscard]] Draft set_all(const std::vector<Setting>& wanted, const Inventory& seen);
// Actions that give back every recorded setting for which `mine` holds and which is not among `wanted`.
[[nodiscard]] Draft give_back(const std::vector<Setting>& wanted, const Inventory& seen, bool (*mine)(const TuningRecord&));

// The value of a recorded setting as it is now; empty when it cannot be seen.
[[nodiscard]] std::string present_value(const TuningRecord& record, const Inventory& seen);

// The rows of the table.
[[nodiscard]] Draft block_queue(const Spec& spec, const Inventory& seen);
[[nodiscard]] Draft sysctl(const Spec& spec, const Inventory& seen);
[[nodiscard]] Draft nvme_parameters(const Spec& spec, const Inventory& seen);

// All that was ever tuned, given back: 'nvstripe revert'.
[[nodiscard]] Draft revert_tuning(const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::configure

// Owns what is counted while the daemon runs, because no look shows it: passes, actions, looks of collectors, controllers
// that went and came back. Pure: times are passed in, in seconds; whoever keeps the counters keeps the lock.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "agent/engine/reconcile.hpp"
#include "agent/telemetry/sample.hpp"

namespace nvstripe {

struct CollectorRun {
  bool success = false;     // of the last run
  double seconds = 0;       // that it took
  double last_success = 0;  // since 1970; 0: never
  bool operator==(const CollectorRun&) const = default;
};

struct ActionCount {
  std::uint64_t done = 0, failed = 0;
  bool operator==(const ActionCount&) const = default;
};

// What a controller is called in metrics: the kernel's names mean another one tomorrow (law 8).
struct ControllerName {
  std::string subsystem;  // the NQN without its naming authority: "pool:0123456789abcdef"
  std::string place;      // "tcp:10.9.0.1:4420"
  auto operator<=>(const ControllerName&) const = default;
};
[[nodiscard]] ControllerName name_of(const NvmeController& controller);
[[nodiscard]] bool is_fabric(const NvmeController& controller);

struct ControllerCount {
  std::string state;  // as last seen
  std::uint64_t lost = 0, restored = 0;
  bool operator==(const ControllerCount&) const = default;
};

struct AgentCounters {
  double started = 0;  // since 1970
  std::map<std::string, CollectorRun, std::less<>> collectors;
  std::uint64_t passes = 0, failed_passes = 0;
  Distribution pass_seconds;
  double last_pass = 0;                        // that could run, since 1970; 0: none
  std::map<std::string, ActionCount> actions;  // by noun and verb: "md.create"
  std::map<ControllerName, ControllerCount> controllers;
  bool operator==(const AgentCounters&) const = default;
};

void count_pass(AgentCounters& counters, double seconds, bool could_run, double now);
void count_action(AgentCounters& counters, const ActionOutcome& outcome);
// Forgets controllers that are gone: their series end with them.
void count_controllers(AgentCounters& counters, const Inventory& seen);
void count_collector(AgentCounters& counters, std::string_view name, double seconds, bool success, double now);

// Whether every one of these facets is known.
[[nodiscard]] bool all_known(FacetSet facets, const Inventory& seen);

}  // namespace nvstripe

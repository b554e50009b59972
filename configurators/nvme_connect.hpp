// Owns what is wanted of connections: which transport and why, which subsystems, which of them exist already. Connecting
// writes nothing to a drive; a controller that exists, ours or not, is recognised and never made twice. Pure.
#pragma once
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::configure {

struct TransportChoice {
  std::string transport;  // "rdma" or "tcp"; empty: neither, or not known yet
  std::string why;        // one clause, for the action's reason and for status
  bool waiting = false;   // a check is still under way
};
// What the connection runs over where it is connected already; else what it would be connected over.
[[nodiscard]] TransportChoice choose_transport(const ConnectionSpec& wanted, const Inventory& seen);

struct WantedController {
  DiscoveredSubsystem to;                    // numeric address
  const NvmeController* existing = nullptr;  // in any state but dead or deleting; null: none
};
struct ConnectionView {
  const TargetView* target = nullptr;
  bool complete = false;                      // every wanted controller is known and live
  std::string missing;                        // why it is not complete, one clause
  std::vector<WantedController> controllers;  // sorted by NQN
};
[[nodiscard]] ConnectionView view_connection(const ConnectionSpec& wanted, const Inventory& seen);

// Whether a volume that is not held names it, or no volume at all does.
[[nodiscard]] bool connection_needed(const ConnectionSpec& wanted, const Spec& spec, const Inventory& seen);
// The record of a controller that this agent made during this boot; nullptr: it is not ours.
[[nodiscard]] const ConnectionRecord* record_of(const NvmeController& controller, const Inventory& seen);
// Whether a mount, a holder, or the record of a volume other than `except` needs a namespace that it reaches.
[[nodiscard]] bool controller_in_use(const NvmeController& controller, const Inventory& seen,
                                     const std::string& except = {});
[[nodiscard]] std::string short_name(const std::string& subsystem_nqn);  // our export's name, or the whole NQN
[[nodiscard]] std::string controller_place(const std::string& nqn, const std::string& transport, const std::string& traddr,
                                           const std::string& trsvcid);  // nqn@transport:traddr:trsvcid

[[nodiscard]] Draft plan_nvme_connect(const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::configure

// Owns the question whether this machine is the one the records speak of. While it is not settled nothing may connect,
// export or write, since everything of ours is recognised by names derived from that identity. Pure.
#pragma once
#include <optional>
#include <string>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::configure {

[[nodiscard]] std::string hostnqn_of(const Uuid& host);
// What an action that connects, exports or writes needs first: that the identity in force is recorded.
[[nodiscard]] Fact identity_fact(const Inventory& seen);

// Why the identity does not stand: none can be told, or the recorded one is not what spec, DMI or machine-id say (a clone,
// a moved disk). nullopt: it stands.
[[nodiscard]] std::optional<Conflict> identity_conflict(const Spec& spec, const Inventory& seen);
[[nodiscard]] bool identity_settled(const Spec& spec, const Inventory& seen);

[[nodiscard]] Draft plan_host_identity(const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::configure

// Owns every veto, in one list: why a device may not be used, and why an action may not be done. Pure. Configurators ask
// unusable(); the planner asks judge() about everything they draft, so that a mistake in one of them harms nobody.
#pragma once
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::guard {

struct Veto {
  std::string id;        // "guard.system_device", "guard.signature", …: stable, one row each in docs/safety.md
  std::string sentence;  // "it carries '/'"
  bool operator==(const Veto&) const = default;
};

// Why this device may not be exported or become a member of something new; empty: it may. Covers kind, evidence, mounts,
// swap, holders, partitions, signatures, unknown and ambiguous looks, content, read-only, duplicate identity,
// nvmet use, loop of our own export, controllers that are not live. Signatures and content are left out when
// `ignore_content` is set: for a drive whose ledger entry says it belongs to a consumer, or with consent to wipe.
[[nodiscard]] std::vector<Veto> unusable(const BlockDevice& device, const Inventory& seen, bool ignore_content = false);

// nullptr-like (empty id) when the action may be done; else the veto that forbids it.
[[nodiscard]] Veto judge(const Action& action, const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::guard

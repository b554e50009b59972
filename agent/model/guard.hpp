// Owns every veto, in one table: why a device may not be used, and why an action may not be done. Pure. Configurators ask
// unusable(); the planner asks judge() about everything they draft, so that a mistake in one of them harms nobody.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::guard {

// One row of the table in guard_rules.cpp; docs/safety.md names each, which a test checks.
struct Rule {
  std::string_view id;       // "guard.system_device"
  int law;                   // of docs/safety.md
  std::string_view summary;  // when it forbids
  std::string_view remedy;
};
[[nodiscard]] std::span<const Rule> rules();
[[nodiscard]] std::string_view remedy_of(std::string_view id);  // empty for an id that is not in the table

struct Veto {
  std::string id;        // "guard.system_device", "guard.signature", …: stable, one row each in docs/safety.md
  std::string sentence;  // "it carries '/'"
  bool operator==(const Veto&) const = default;
};

// Why this device may not be exported or become a member of something new; empty: it may. Covers kind, evidence, mounts,
// swap, holders, partitions, signatures, unknown and ambiguous looks, content, read-only, duplicate identity,
// nvmet use, the export ledger, loop of our own export, controllers that are not live, and facets that could not be seen.
// Signatures, content and the ledger are left out when `ignore_content` is set: for a drive whose ledger entry says it
// belongs to a consumer, or with consent to wipe. Of a drive of ours that is exported already it says guard.exported.
[[nodiscard]] std::vector<Veto> unusable(const BlockDevice& device, const Inventory& seen, bool ignore_content = false);

// Whether an nvmet namespace here is backed by this device.
[[nodiscard]] bool is_exported(const BlockDevice& device, const TargetConfiguration& exports);

// Whether array or file system UUID (in any notation) is one that this host derives for a volume of the spec or records.
[[nodiscard]] bool is_our_array(std::string_view uuid, const Spec& spec, const Inventory& seen);

// Empty id when the action may be done; else the veto that forbids it.
[[nodiscard]] Veto judge(const Action& action, const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::guard

// Owns what exports come down to: for each allowed host one subsystem, and in it the namespaces with their ledger entries,
// new or old. Everything else about exports (making, publishing, udev rules, withdrawing) reads this. Pure.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::configure {

struct NamespaceWish {
  ExportRecord record;         // as the ledger is to say it
  DeviceKey backing;           // the drive, or the LV of its slice
  bool must_be_blank = false;  // given to this host for the first time, or re-made
  bool served = false;         // enabled now, with this identity and this backing
  std::string problem;         // why it cannot be served as things are; empty: it can
  std::string problem_id, remedy;
  std::vector<ExportRecord> superseded;  // entries of other subsystems for the same drive or slice, spent from now on
};

struct SubsystemWish {
  const ExportSpec* wanted = nullptr;
  std::string host_nqn, nqn;
  std::vector<NamespaceWish> namespaces;  // by nsid
  [[nodiscard]] bool ready() const;       // none of its namespaces has a problem
};

struct ExportWishes {
  std::vector<SubsystemWish> subsystems;
  std::vector<Conflict> conflicts;
  std::set<std::string> refused;  // exports whose allow list cannot be served: what runs is left as it is
  std::vector<DeviceKey> drives;  // every drive that is or will be exported, sorted
};

// Whether the ledger says exactly this already.
[[nodiscard]] bool is_recorded(const Inventory& seen, const ExportRecord& record);
// Whether exports concern this machine at all, and what of it would have to be seen and is not. Said by exports() alone;
// the other configurators of exports plan nothing while something is missing.
[[nodiscard]] bool has_exports(const Spec& spec, const Inventory& seen);
[[nodiscard]] std::vector<Conflict> export_blindness(const Spec& spec, const Inventory& seen);
[[nodiscard]] ExportWishes export_wishes(const Spec& spec, const Inventory& seen);

// The subsystem as configfs shows it now; nullptr when it is not there.
[[nodiscard]] const TargetSubsystem* find_subsystem(const Inventory& seen, const std::string& nqn);
[[nodiscard]] bool is_published(const Inventory& seen, const std::string& nqn);
[[nodiscard]] bool is_same_identity(const std::string& text, const Uuid& uuid);
// The device behind a namespace's device_path as it is called in this look; nullptr when no such device is there.
[[nodiscard]] const BlockDevice* backing_of(const Inventory& seen, const TargetNamespace& served);

}  // namespace nvstripe::configure

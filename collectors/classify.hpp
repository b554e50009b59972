// Owns the decision of what kind a whole disk is, by a table of exact models and by what PCI and DMI say. Positive evidence
// only: a model that is not in the table is "other". Pure.
#pragma once
#include <optional>
#include <string>

#include "agent/host/reader.hpp"
#include "agent/model/inventory.hpp"

namespace nvstripe::collectors {

struct MachineEvidence {
  std::string provider;            // aws, azure, gcp, oci, qemu or empty
  std::string sys_vendor;          // DMI
  std::optional<bool> hypervisor;  // by the CPU's flag; nullopt: could not be seen
};

struct DiskEvidence {
  std::string transport, model, vendor;  // vendor: SCSI's
  std::optional<std::uint64_t> pci_vendor, pci_class;
  bool virtual_function = false;
};

struct Verdict {
  DeviceKind kind = DeviceKind::other;
  std::string evidence;
  bool operator==(const Verdict&) const = default;
};

[[nodiscard]] MachineEvidence machine_evidence(const host::Reader& reader, const Inventory& seen);
[[nodiscard]] Verdict classify(const MachineEvidence& machine, const DiskEvidence& disk);

}  // namespace nvstripe::collectors

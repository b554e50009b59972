// Owns the division of the local SSDs between exports and volumes (law 10): which drive belongs to which. What was decided
// once (ledger, volume records, slices on the drive) stands; only then are blank drives shared out. Pure.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::configure {

struct LocalDrives {
  std::map<DeviceKey, std::string> exported;  // drive → export that has it, will have it, or had it last
  // Drives that a selector names and that cannot be taken, by export.
  std::map<std::string, std::vector<DeviceKey>> passed_over;
  // Whether a volume may choose this drive as a member.
  [[nodiscard]] bool free_for_volumes(const DeviceKey& drive) const { return !exported.contains(drive); }
};

[[nodiscard]] bool selects(const DeviceSelector& selector, const BlockDevice& device);
[[nodiscard]] LocalDrives divide_local_drives(const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::configure

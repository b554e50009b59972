// Owns what is wanted of a volume's mount: a .mount unit of ours, ordered so that boot never waits for it and shutdown goes
// drain → unmount → stop → disconnect → network, the closed mount point, and owner, group and mode of the root.
#pragma once
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"
#include "configurators/volume.hpp"

namespace nvstripe::configure {

[[nodiscard]] std::string unit_name(const std::string& mount_path);  // as systemd-escape --path --suffix=mount
[[nodiscard]] std::string unit_path(const std::string& mount_path);
[[nodiscard]] std::string unit_text(const VolumeSurvey& volume);
[[nodiscard]] Run stop_unit(const std::string& unit);

// Where the volume's device is mounted, by device number; the wanted path first, then the recorded one.
[[nodiscard]] std::string mounted_at(const VolumeSurvey& volume, const Inventory& seen);  // empty: nowhere
[[nodiscard]] bool is_mounted(const VolumeSurvey& volume, const Inventory& seen);

// Something else is mounted there: stopping the unit of that name would unmount it.
[[nodiscard]] bool is_taken(const std::string& path, const VolumeSurvey& volume, const Inventory& seen);

// What stands in the way of mounting at the wanted path; asked before anything is written as well.
[[nodiscard]] std::vector<Conflict> mount_conflicts(const VolumeSurvey& volume, const Inventory& seen);

// The owner or group asked for that surely is not on this machine; asked before the volume is made.
[[nodiscard]] std::vector<Conflict> account_conflicts(const VolumeSurvey& volume, const Inventory& seen);

[[nodiscard]] Draft plan_mount(const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::configure

// Owns the samples of drives: what they are, what they are used for, and their health.
#include <algorithm>
#include <array>
#include <set>

#include "agent/base/text.hpp"
#include "agent/model/guard.hpp"
#include "agent/telemetry/core_parts.hpp"

namespace nvstripe {
namespace {

constexpr std::array<std::string_view, 5> kRoles{"free", "member", "exported", "foreign", "system"};

// Whole drives with an identity; partitions, arrays and volumes are stacked on them and have families of their own.
bool is_drive(const BlockDevice& device) {
  return device.key.text.starts_with("nvme:") || device.key.text.starts_with("disk:");
}

// Last parts of the paths that nvmet serves: kernel names, or identities after "nvme-".
std::set<std::string> served(const Inventory& seen) {
  std::set<std::string> names;
  for (const TargetSubsystem& subsystem : seen.exports.value().subsystems) {
    for (const TargetNamespace& ns : subsystem.namespaces) {
      if (!ns.enabled) continue;
      std::string name = ns.device_path.substr(ns.device_path.rfind('/') + 1);
      if (name.starts_with("nvme-")) name.erase(0, std::string_view("nvme-").size());
      names.insert(std::move(name));
    }
  }
  return names;
}

class Roles {
 public:
  explicit Roles(const Inventory& seen) : seen_(seen), served_(served(seen)) {
    for (const VolumeRecord& volume : seen.records.value().volumes)
      members_.insert(volume.members.begin(), volume.members.end());
    for (const ExportRecord& record : seen.records.value().exports)
      if (record.served && !record.retired) exported_.insert(record.drive);
  }
  // Whether all is seen that a role is read off.
  [[nodiscard]] bool known() const {
    return seen_.exports.is_known() && seen_.records.is_known() && seen_.mounts.is_known() && seen_.controllers.is_known();
  }
  [[nodiscard]] std::string_view of(const BlockDevice& device) const {
    if (!known()) return "unknown";
    if (device.kind == DeviceKind::system) return "system";
    if (exported_.contains(device.key) || served_.contains(device.kernel_name) ||
        (!device.wwid.empty() && served_.contains(device.wwid)))
      return "exported";
    if (members_.contains(device.key)) return "member";
    return guard::unusable(device, seen_).empty() ? "free" : "foreign";
  }

 private:
  const Inventory& seen_;
  std::set<std::string> served_;
  std::set<DeviceKey> members_, exported_;
};

const NvmeController* controller_named(const Inventory& seen, const std::string& kernel_name) {
  const auto& all = seen.controllers.value();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const NvmeController& one) { return one.kernel_name == kernel_name; });
  return found == all.end() ? nullptr : &*found;
}

bool is_up(const BlockDevice& device, const Inventory& seen) {
  return std::any_of(device.controllers.begin(), device.controllers.end(), [&](const std::string& name) {
    const NvmeController* controller = controller_named(seen, name);
    return controller != nullptr && controller->state == "live";
  });
}

void add_device(const BlockDevice& device, std::string_view role, const Inventory& seen, SampleGathering& to) {
  const std::string& key = device.key.text;
  to.add("nvstripe_device_info",
         {key, std::string(trim(device.model)), std::string(trim(device.serial)), device.firmware, device.transport,
          std::string(role)},
         1);
  to.add("nvstripe_device_size_bytes", {key}, static_cast<double>(device.size.count));
  if (device.logical_block != 0) to.add("nvstripe_device_logical_block_size_bytes", {key}, device.logical_block);
  if (seen.controllers.is_known() && !device.controllers.empty())
    to.add("nvstripe_nvme_up", {key}, is_up(device, seen) ? 1 : 0);
}

void add_health_of(const std::string& key, const DriveHealth& health, SampleGathering& to) {
  for (std::size_t bit = 0; bit < kCriticalWarnings.size(); ++bit) {
    to.add("nvstripe_nvme_critical_warning", {key, std::string(kCriticalWarnings[bit])},
           (health.critical_warning >> bit & 1u) != 0 ? 1 : 0);
  }
  for (const auto& [sensor, celsius] : health.celsius)
    to.add("nvstripe_nvme_temperature_celsius", {key, sensor == 0 ? "composite" : std::to_string(sensor)}, celsius);
  to.add("nvstripe_nvme_available_spare_ratio", {key}, health.spare_ratio);
  to.add("nvstripe_nvme_available_spare_threshold_ratio", {key}, health.spare_threshold_ratio);
  to.add("nvstripe_nvme_percentage_used_ratio", {key}, health.used_ratio);
  to.add("nvstripe_nvme_data_read_bytes_total", {key}, health.read_bytes);
  to.add("nvstripe_nvme_data_written_bytes_total", {key}, health.written_bytes);
  to.add("nvstripe_nvme_media_errors_total", {key}, health.media_errors);
  to.add("nvstripe_nvme_error_log_entries_total", {key}, health.error_log_entries);
  to.add("nvstripe_nvme_unsafe_shutdowns_total", {key}, health.unsafe_shutdowns);
  to.add("nvstripe_nvme_power_on_seconds_total", {key}, health.power_on_seconds);
}

}  // namespace

void add_devices(const CoreView& view, SampleGathering& to) {
  const Inventory& seen = view.pass.seen;
  if (!seen.blocks.is_known()) return;
  const Roles roles(seen);
  std::map<std::string_view, double> counts;
  for (const std::string_view role : kRoles) counts[role] = 0;
  for (const BlockDevice& device : seen.blocks.value()) {
    if (!is_drive(device)) continue;
    const std::string_view role = roles.of(device);
    ++counts[role];
    // Two drives that answer with one identity cannot be told apart; what is shown of one would be taken for the other.
    if (!seen.is_double(device)) add_device(device, role, seen, to);
  }
  if (!roles.known()) return;
  for (const auto& [role, count] : counts) to.add("nvstripe_devices", {std::string(role)}, count);
}

void add_health(const CoreView& view, SampleGathering& to) {
  for (const auto& [key, health] : view.figures.healths) add_health_of(key.text, health, to);
}

}  // namespace nvstripe

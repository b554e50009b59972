// Owns the order in which local drives are divided: what is decided, then volumes, then exports with a count, then the rest.
#include "configurators/local_drives.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "agent/model/guard.hpp"
#include "configurators/export_names.hpp"

namespace nvstripe::configure {
namespace {

using Keys = std::set<DeviceKey>;

const std::vector<ExportRecord>& ledger(const Inventory& seen) { return seen.records.value().exports; }

std::vector<const BlockDevice*> local_ssds(const Inventory& seen) {
  std::vector<const BlockDevice*> found;
  for (const BlockDevice& device : seen.blocks.value()) {
    if (device.kind == DeviceKind::local_ssd && device.parent.empty()) found.push_back(&device);
  }
  std::sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->key < b->key; });
  return found;
}

bool carries_slices(const Uuid& host, const ExportSpec& wanted, const BlockDevice& device, const Inventory& seen) {
  if (wanted.slices > 1 && has_our_physical(device, host)) return true;
  const auto& groups = seen.lvm.value().groups;
  const std::string name = slices_group(host, wanted.name, device.key);
  return std::any_of(groups.begin(), groups.end(), [&](const LvmGroup& group) { return group.name == name; });
}

bool behind_our_subsystem(const Uuid& host, const ExportSpec& wanted, const BlockDevice& device, const Inventory& seen) {
  for (const AllowedHost& allowed : wanted.allow) {
    const std::string nqn = subsystem_nqn(host, wanted.name, allowed.host);
    for (const TargetSubsystem& subsystem : seen.exports.value().subsystems) {
      if (subsystem.nqn != nqn) continue;
      for (const TargetNamespace& served : subsystem.namespaces) {
        const auto uuid = parse_uuid(served.uuid);
        if (uuid && derived_from(*uuid, host, "namespace", share_name(device.key, 0))) return true;
      }
    }
  }
  return false;
}

// By the ledger: live entries stand; a retired one counts only while the host it was for is allowed.
bool in_ledger(const ExportSpec& wanted, const DeviceKey& drive, const Inventory& seen) {
  return std::any_of(ledger(seen).begin(), ledger(seen).end(), [&](const ExportRecord& record) {
    if (record.drive != drive || record.export_name != wanted.name || record.generation == 0) return false;
    if (!record.retired) return true;
    return std::any_of(wanted.allow.begin(), wanted.allow.end(),
                       [&](const AllowedHost& allowed) { return allowed.host == record.host_nqn; });
  });
}

Keys members_of_volumes(const Inventory& seen) {
  Keys members;
  for (const VolumeRecord& volume : seen.records.value().volumes)
    members.insert(volume.members.begin(), volume.members.end());
  return members;
}

// A drive that an export names by its serial is that export's, whatever a volume would like.
bool named_by_export(const Spec& spec, const BlockDevice& device) {
  return std::any_of(spec.exports.begin(), spec.exports.end(),
                     [&](const ExportSpec& one) { return !one.devices.serials.empty() && selects(one.devices, device); });
}

// What volumes from local SSDs will choose from: the largest group of drives alike, so that exports leave a set that fits.
void reserve_for_volumes(const Spec& spec, const Inventory& seen, const std::vector<const BlockDevice*>& blank,
                         Keys& taken) {
  for (const VolumeSpec& volume : spec.volumes) {
    const auto& from = volume.members.from;
    if (std::find(from.begin(), from.end(), "local_ssd") == from.end()) continue;
    if (seen.records.value().volume(volume.name) != nullptr) continue;
    std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<DeviceKey>> alike;
    for (const BlockDevice* device : blank) {
      if (taken.contains(device->key) || named_by_export(spec, *device)) continue;
      alike[{device->size.count, device->logical_block}].push_back(device->key);
    }
    const std::vector<DeviceKey>* best = nullptr;
    for (const auto& [shape, keys] : alike) {
      if (best == nullptr || keys.size() > best->size()) best = &keys;
    }
    std::uint32_t left = volume.members.count;
    for (std::size_t at = 0; best != nullptr && at < best->size() && left > 0; ++at, --left) taken.insert((*best)[at]);
  }
}

std::uint32_t share_of(const LocalDrives& drives, const std::string& export_name) {
  return static_cast<std::uint32_t>(std::count_if(drives.exported.begin(), drives.exported.end(),
                                                  [&](const auto& entry) { return entry.second == export_name; }));
}

void share_out(const ExportSpec& wanted, const std::vector<const BlockDevice*>& all, const Keys& blank, Keys& taken,
               LocalDrives& drives) {
  for (const BlockDevice* device : all) {
    if (wanted.devices.count && share_of(drives, wanted.name) >= *wanted.devices.count) return;
    if (taken.contains(device->key) || !selects(wanted.devices, *device)) continue;
    if (blank.contains(device->key)) {
      drives.exported[device->key] = wanted.name;
      taken.insert(device->key);
    } else {
      drives.passed_over[wanted.name].push_back(device->key);
    }
  }
}

void keep_decided(const Spec& spec, const Inventory& seen, const std::vector<const BlockDevice*>& all, LocalDrives& drives) {
  for (const ExportRecord& record : ledger(seen)) {
    if (!record.retired) drives.exported[record.drive] = record.export_name;
  }
  // What was withdrawn once may have become a member of a volume since.
  const Keys members = members_of_volumes(seen);
  for (const ExportSpec& wanted : spec.exports) {
    for (const BlockDevice* device : all) {
      if (drives.exported.contains(device->key) || members.contains(device->key)) continue;
      if (in_ledger(wanted, device->key, seen) || carries_slices(seen.host(), wanted, *device, seen) ||
          behind_our_subsystem(seen.host(), wanted, *device, seen))
        drives.exported[device->key] = wanted.name;
    }
  }
}

}  // namespace

bool selects(const DeviceSelector& selector, const BlockDevice& device) {
  if (selector.kind != "local_ssd" || device.kind != DeviceKind::local_ssd || !device.parent.empty()) return false;
  if (selector.min_size && device.size < *selector.min_size) return false;
  if (selector.max_size && device.size > *selector.max_size) return false;
  if (selector.model && fnmatch(selector.model->c_str(), device.model.c_str(), 0) != 0) return false;
  const auto& serials = selector.serials;
  return serials.empty() || std::find(serials.begin(), serials.end(), device.serial) != serials.end();
}

LocalDrives divide_local_drives(const Spec& spec, const Inventory& seen) {
  LocalDrives drives;
  const auto all = local_ssds(seen);
  keep_decided(spec, seen, all, drives);
  Keys taken = members_of_volumes(seen);
  for (const auto& [key, name] : drives.exported) taken.insert(key);
  std::vector<const BlockDevice*> blank;
  Keys blank_keys;
  for (const BlockDevice* device : all) {
    if (taken.contains(device->key) || !guard::unusable(*device, seen).empty()) continue;
    blank.push_back(device);
    blank_keys.insert(device->key);
  }
  reserve_for_volumes(spec, seen, blank, taken);
  for (const bool counted : {true, false}) {
    for (const ExportSpec& wanted : spec.exports) {
      if (wanted.devices.count.has_value() == counted) share_out(wanted, all, blank_keys, taken, drives);
    }
  }
  return drives;
}

}  // namespace nvstripe::configure

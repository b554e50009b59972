// Owns what needs more than one facet: which devices are mounted or swapped on, which carry the system, which keys are not
// unique. When in doubt it marks more devices as the system's, never fewer.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "agent/base/text.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

using Devices = std::vector<BlockDevice>;
using Index = std::multimap<std::string, std::size_t>;

constexpr std::array<std::string_view, 5> kSystemPaths{"/", "/boot", "/boot/efi", "/efi", "/usr"};
// File systems that need no block device of ours to be found below them.
constexpr std::array<std::string_view, 8> kDeviceless{"overlay", "tmpfs",    "nfs",   "nfs4",
                                                      "9p",      "virtiofs", "ramfs", "rootfs"};

// By number, node and every name udev gave.
Index index_names(const Devices& devices) {
  Index index;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const BlockDevice& device = devices[i];
    if (!device.device_number.empty()) index.emplace(device.device_number, i);
    index.emplace("/dev/" + device.kernel_name, i);
    if (!device.dm_name.empty()) index.emplace("/dev/mapper/" + device.dm_name, i);
    for (const std::string& link : device.links) index.emplace(link, i);
  }
  return index;
}

std::set<std::size_t> named(const Index& index, const std::string& name) {
  std::set<std::size_t> found;
  const auto [from, to] = index.equal_range(name);
  for (auto at = from; at != to; ++at) found.insert(at->second);
  return found;
}

// By number first: a source may be a stale name. btrfs and the like have numbers of their own, and their source counts.
std::set<std::size_t> devices_of(const Index& index, const Mount& mount) {
  std::set<std::size_t> found = named(index, mount.device_number);
  return found.empty() ? named(index, mount.source) : found;
}

using Reasons = std::map<std::size_t, std::string>;  // device → why it carries the system

void take_mounts(const Mounts& mounts, const Index& index, Devices& devices, Reasons& system, Inventory& seen) {
  for (const Mount& mount : mounts.mounts) {
    const bool is_system = std::find(kSystemPaths.begin(), kSystemPaths.end(), mount.path) != kSystemPaths.end();
    const std::set<std::size_t> found = devices_of(index, mount);
    for (const std::size_t at : found) {
      devices[at].mount_points.push_back(mount.path);
      if (is_system) system.emplace(at, "it carries '" + mount.path + "'");
    }
    const bool deviceless = std::find(kDeviceless.begin(), kDeviceless.end(), mount.type) != kDeviceless.end();
    if (mount.path == "/" && found.empty() && !deviceless) {
      seen.notes.push_back("the device of '/' (source '" + printable(mount.source) +
                           "') is not among the block devices seen");
    }
  }
}

// A swap file lies on the file system with the longest mount path before it.
std::set<std::size_t> devices_below(const Mounts& mounts, const Index& index, const std::string& path) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts.mounts) {
    const std::string prefix = mount.path == "/" ? "/" : mount.path + "/";
    if (has_prefix(path, prefix) && (best == nullptr || mount.path.size() >= best->path.size())) best = &mount;
  }
  return best == nullptr ? std::set<std::size_t>{} : devices_of(index, *best);
}

void take_swaps(const Mounts& mounts, const Index& index, Devices& devices, Reasons& system) {
  for (const std::string& path : mounts.swaps) {
    for (const std::size_t at : named(index, path)) {
      devices[at].swap = true;
      system.emplace(at, "it is swap");
    }
    if (has_prefix(path, "/dev/")) continue;
    for (const std::size_t at : devices_below(mounts, index, path)) system.emplace(at, "a swap file lies on it");
  }
}

// Both ways of every edge of the stack, so that what was read at one end only still counts.
std::map<std::size_t, std::set<std::size_t>> neighbours(Devices& devices) {
  std::multimap<DeviceKey, std::size_t> by_key;
  for (std::size_t i = 0; i < devices.size(); ++i) by_key.emplace(devices[i].key, i);
  std::map<std::size_t, std::set<std::size_t>> edges;
  const auto join_with = [&](std::size_t at, const DeviceKey& key) {
    const auto [from, to] = by_key.equal_range(key);
    for (auto other = from; other != to; ++other) {
      edges[at].insert(other->second);
      edges[other->second].insert(at);
    }
  };
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (const DeviceKey& key : devices[i].holders) join_with(i, key);
    for (const DeviceKey& key : devices[i].slaves) join_with(i, key);
    if (!devices[i].parent.empty()) join_with(i, devices[i].parent);
  }
  return edges;
}

void add_unique(std::vector<DeviceKey>& keys, const DeviceKey& key) {
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
}

// A slave whose holders folder was not captured is held all the same.
void complete_holders(Devices& devices) {
  std::multimap<DeviceKey, std::size_t> by_key;
  for (std::size_t i = 0; i < devices.size(); ++i) by_key.emplace(devices[i].key, i);
  for (const BlockDevice& device : Devices(devices)) {
    for (const DeviceKey& slave : device.slaves) {
      const auto [from, to] = by_key.equal_range(slave);
      for (auto at = from; at != to; ++at) add_unique(devices[at->second].holders, device.key);
    }
  }
}

void mark_system(Devices& devices, const Reasons& seeds) {
  const auto edges = neighbours(devices);
  std::set<std::size_t> reached;
  for (const auto& [seed, reason] : seeds) {
    std::vector<std::size_t> rest{seed};
    while (!rest.empty()) {
      const std::size_t at = rest.back();
      rest.pop_back();
      if (!reached.insert(at).second) continue;
      devices[at].kind = DeviceKind::system;
      const auto own = seeds.find(at);
      devices[at].evidence =
          own != seeds.end() ? own->second : "stacked with '" + devices[seed].kernel_name + "': " + reason;
      const auto found = edges.find(at);
      if (found != edges.end()) rest.insert(rest.end(), found->second.begin(), found->second.end());
    }
  }
}

void mark_doubles(Devices& devices, std::vector<std::string>& notes) {
  std::map<DeviceKey, std::vector<std::size_t>> by_key;
  for (std::size_t i = 0; i < devices.size(); ++i) by_key[devices[i].key].push_back(i);
  for (const auto& [key, places] : by_key) {
    if (places.size() < 2) continue;
    std::vector<std::string> names;
    for (const std::size_t at : places) {
      devices[at].ambiguous_key = true;
      names.push_back("'" + devices[at].kernel_name + "'");
    }
    notes.push_back(join(names, ", ") + " have one identity, '" + key.text + "': none of them is usable");
  }
}

}  // namespace

void observe_relations(const host::Reader&, const Spec&, Inventory& seen) {
  if (!seen.blocks.is_known()) return;
  Devices& devices = seen.blocks.value();
  complete_holders(devices);
  mark_doubles(devices, seen.notes);
  if (!seen.mounts.is_known()) return;  // what carries the system cannot be told; the guard refuses all devices then
  const Index index = index_names(devices);
  Reasons system;
  take_mounts(seen.mounts.value(), index, devices, system, seen);
  take_swaps(seen.mounts.value(), index, devices, system);
  mark_system(devices, system);
}

}  // namespace nvstripe::collectors

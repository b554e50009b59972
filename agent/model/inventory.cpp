// Owns look-ups in an Inventory and the words for its states. Reads nothing but the value itself.
#include "agent/model/inventory.hpp"

#include <algorithm>

namespace nvstripe {

namespace {

// Collectors hand over devices in the order of their keys, so halving finds what is there, and doubles stand side by side;
// a list in another order (tests, hand-made values) is walked. At 1,024 namespaces the walk alone makes planning quadratic.
std::vector<BlockDevice>::const_iterator first_of(const std::vector<BlockDevice>& devices, const DeviceKey& key) {
  return std::lower_bound(devices.begin(), devices.end(), key,
                          [](const BlockDevice& device, const DeviceKey& wanted) { return device.key < wanted; });
}

}  // namespace

const BlockDevice* Inventory::find(const DeviceKey& key) const {
  const std::vector<BlockDevice>& devices = blocks.value();
  const auto at = first_of(devices, key);
  if (at != devices.end() && at->key == key) return &*at;
  for (const BlockDevice& device : devices) {
    if (device.key == key) return &device;
  }
  return nullptr;
}

bool Inventory::is_double(const BlockDevice& device) const {
  if (device.ambiguous_key) return true;
  const std::vector<BlockDevice>& devices = blocks.value();
  const auto at = first_of(devices, device.key);
  if (at != devices.end() && at->key == device.key) return at + 1 != devices.end() && (at + 1)->key == device.key;
  const auto same = [&](const BlockDevice& other) { return other.key == device.key; };
  return std::count_if(devices.begin(), devices.end(), same) > 1;
}

const BlockDevice* Inventory::find_kernel_name(const std::string& name) const {
  for (const BlockDevice& device : blocks.value()) {
    if (device.kernel_name == name) return &device;
  }
  return nullptr;
}

const MdArray* Inventory::find_array(const std::string& uuid) const {
  if (uuid.empty()) return nullptr;
  for (const MdArray& array : arrays.value()) {
    if (array.uuid == uuid) return &array;
  }
  return nullptr;
}

bool Kernel::lacks_module(std::string_view name) const {
  const auto in = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  return modules_listed && !in(modules_loaded) && !in(modules_available);
}

Uuid Inventory::host() const {
  if (const auto& recorded = records.value().identity) return recorded->host;
  const HostIdentity& found = identity.value();
  return found.from_spec.is_none() ? found.computed : found.from_spec;
}

std::string_view to_text(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::other:
      return "other";
    case DeviceKind::local_ssd:
      return "local_ssd";
    case DeviceKind::network_disk:
      return "network_disk";
    case DeviceKind::remote_namespace:
      return "remote_namespace";
    case DeviceKind::system:
      return "system";
    case DeviceKind::array:
      return "array";
  }
  return "unknown";
}

std::string_view to_text(Look look) {
  switch (look) {
    case Look::unknown:
      return "unknown";
    case Look::none:
      return "none";
    case Look::ambiguous:
      return "ambiguous";
    case Look::found:
      return "found";
  }
  return "unknown";
}

std::string_view to_text(Content content) {
  switch (content) {
    case Content::unknown:
      return "unknown";
    case Content::presumed:
      return "presumed";
    case Content::zero:
      return "zero";
    case Content::data:
      return "data";
  }
  return "unknown";
}

std::string_view to_text(Reach reach) {
  switch (reach) {
    case Reach::unknown:
      return "unknown";
    case Reach::checking:
      return "checking";
    case Reach::reachable:
      return "reachable";
    case Reach::unreachable:
      return "unreachable";
    case Reach::silent:
      return "silent";
  }
  return "unknown";
}

}  // namespace nvstripe

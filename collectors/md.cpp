// Owns the look at md arrays in /sys/block/md*/md. Never reads /run/mdadm/map, whose UUIDs are byte-swapped, nor mdstat,
// which still says "active" of an array that failed.
#include "agent/base/text.hpp"
#include "agent/base/uuid.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

DeviceKey key_of(const Inventory& seen, const std::string& kernel_name) {
  const BlockDevice* device = seen.find_kernel_name(kernel_name);
  return device == nullptr ? DeviceKey{"name:" + kernel_name} : device->key;
}

std::vector<ArrayMember> read_members(const host::Reader& reader, const std::string& folder,
                                      const std::vector<std::string>& names, const Inventory& seen) {
  std::vector<ArrayMember> members;
  for (const std::string& name : names) {
    if (!has_prefix(name, "dev-")) continue;
    // The name after "dev-" has "!" for "/"; the link is exact.
    const auto block = reader.link(folder + "/" + name + "/block");
    const std::string device = block ? base_name(*block) : name.substr(4);
    members.push_back({key_of(seen, device), reader.attribute(folder + "/" + name + "/slot"),
                       reader.attribute(folder + "/" + name + "/state")});
  }
  return members;
}

// The key of the device carries the UUID, from sysfs or udev.
std::string uuid_of(const Inventory& seen, const std::string& name) {
  const std::string key = key_of(seen, name).text;
  return has_prefix(key, "md:") ? key.substr(3) : std::string();
}

}  // namespace

void observe_md(const host::Reader& reader, const Spec&, Inventory& seen) {
  using Arrays = Facet<std::vector<MdArray>>;
  const auto disks = reader.list("/sys/block");
  if (!disks || disks->empty()) {
    seen.arrays = Arrays::unavailable(disks ? "'/sys/block' lists nothing" : disks.error().what);
    return;
  }
  std::vector<MdArray> arrays;
  for (const std::string& name : *disks) {
    if (!has_prefix(name, "md")) continue;
    const std::string folder = "/sys/block/" + name + "/md";
    const auto state = reader.file(folder + "/array_state");
    const auto names = reader.list(folder);
    if (!state || !names) {
      const bool gone = !reader.captured() && is_errno(state ? names.error() : state.error(), ENOENT);
      if (gone) continue;  // stopped meanwhile
      seen.arrays = Arrays::unavailable(state ? names.error().what : state.error().what);
      return;
    }
    MdArray array;
    array.kernel_name = name;
    array.state = std::string(trim(*state));
    array.members = read_members(reader, folder, *names, seen);
    if (array.state == "clear" && array.members.empty()) continue;  // a node without an array
    array.uuid = uuid_of(seen, name);
    array.level = reader.attribute(folder + "/level");
    array.metadata = reader.attribute(folder + "/metadata_version");
    array.raid_disks = static_cast<std::uint32_t>(number(reader, folder + "/raid_disks").value_or(0));
    array.chunk = Bytes{number(reader, folder + "/chunk_size").value_or(0)};
    arrays.push_back(std::move(array));
  }
  seen.arrays = Arrays::known(std::move(arrays));
}

}  // namespace nvstripe::collectors

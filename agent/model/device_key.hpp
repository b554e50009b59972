// Owns the stable name of a block device: what the spec, plan, journal and metrics call it. Never a kernel name (law 8).
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/base/result.hpp"

namespace nvstripe {

// One text, kind first:
//   nvme:<uuid.…|eui.…|nvme.…>/<nsid>     wwid as the kernel shows it (uuid wins over nguid over eui64), nsid beside it,
//                                         since some clouds give all namespaces of a VM one serial
//   disk:<wwid or serial or by-path>      SCSI, virtio and other whole disks
//   part:<key of the disk>#<number>       partition
//   md:<array uuid, dashed>               array
//   dm:<dm uuid>                          device-mapper device, LVs included ("LVM-…")
//   name:<kernel name>                    nothing stable was found; never usable, only listed
struct DeviceKey {
  std::string text;
  auto operator<=>(const DeviceKey&) const = default;
  [[nodiscard]] bool empty() const { return text.empty(); }
};

}  // namespace nvstripe

template <>
struct std::hash<nvstripe::DeviceKey> {
  std::size_t operator()(const nvstripe::DeviceKey& key) const noexcept { return std::hash<std::string>{}(key.text); }
};

// Owns Figures: what a running machine says of its drives and volumes in numbers, beside its look. Plain values; nothing is
// planned from them.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "agent/model/device_key.hpp"

namespace nvstripe {

// Of a block device, since it appeared: its `stat` and `inflight` in sysfs. Sectors are 512 bytes, times milliseconds; of
// requests that run side by side each counts its own time.
struct IoCounts {
  std::uint64_t reads = 0, read_sectors = 0, read_ms = 0;
  std::uint64_t writes = 0, written_sectors = 0, write_ms = 0;
  std::uint64_t discards = 0, flush_ms = 0;  // 0 where the kernel does not count them
  std::uint64_t busy_ms = 0, weighted_ms = 0;
  std::uint64_t reads_in_flight = 0, writes_in_flight = 0;
  bool operator==(const IoCounts&) const = default;
};

struct SpaceUse {  // of a mounted file system; `available`: to users who are not root
  std::uint64_t size_bytes = 0, available_bytes = 0, inodes_free = 0;
  bool operator==(const SpaceUse&) const = default;
};

// The SMART log of an NVMe controller (NVM Express base specification, log page 02h), in base units.
struct DriveHealth {
  std::uint8_t critical_warning = 0;   // one bit a warning, in the order of kCriticalWarnings
  std::map<unsigned, double> celsius;  // by sensor, those that the drive has; 0: the composite temperature
  double spare_ratio = 0, spare_threshold_ratio = 0, used_ratio = 0;  // used may pass 1
  double read_bytes = 0, written_bytes = 0, power_on_seconds = 0;
  double media_errors = 0, error_log_entries = 0, unsafe_shutdowns = 0;
  bool operator==(const DriveHealth&) const = default;
};
inline constexpr std::array<std::string_view, 6> kCriticalWarnings{"spare",     "temperature",     "reliability",
                                                                   "read_only", "volatile_backup", "persistent_memory"};

struct Figures {                           // what was answered lately; what does not answer is not there
  std::map<std::string, SpaceUse> spaces;  // by volume
  std::map<DeviceKey, DriveHealth> healths;
  bool operator==(const Figures&) const = default;
};

}  // namespace nvstripe

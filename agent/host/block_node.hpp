// Owns a block device's node as it is opened for a last look or a lock: that it is the device that is meant, whether it can
// be had alone, and which nodes nvmet uses.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/base/fd.hpp"
#include "agent/base/result.hpp"

namespace nvstripe::host {

// Opens nothing: S_ISBLK and the device number; a test once wrote a regular file called /dev/nvme0n1.
[[nodiscard]] Result<> check_node(const std::string& path, const std::string& device_number);
// check_node on the open descriptor, and its disk sequence (0: not compared), plain and read-only.
[[nodiscard]] Result<Fd> open_node(const std::string& path, const std::string& device_number, std::uint64_t diskseq);
// Whether it can be opened exclusively: mounts, md and device-mapper claim what they use, nvmet does not.
[[nodiscard]] Result<> check_exclusive(const std::string& path);
// Whether one of these paths (nvmet's device_path) leads to the device.
[[nodiscard]] bool leads_to(const std::vector<std::string>& paths, const std::string& device_number);
// Since the device appeared, by a block device's `stat` in sysfs; 0 where it cannot be read. What comes over the fabric to a
// drive that nvmet serves is counted there too, and is told by no event.
[[nodiscard]] std::uint64_t sectors_written(const std::string& stat_file);
// As `udevadm lock` does: udev's events for the device wait until the descriptor is closed.
[[nodiscard]] Result<Fd> lock_node(const std::string& path, std::chrono::steady_clock::time_point due);

}  // namespace nvstripe::host

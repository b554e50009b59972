// Owns reading what the kernel counts of a block device's I/O. These files never wait for the device.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/model/figures.hpp"

namespace nvstripe::host {

// `folder`: "/sys/block/md127". Nothing where the files cannot be read, or where the name belongs to another disk by now:
// its disk sequence is not the one that is meant (0: not compared).
[[nodiscard]] std::optional<IoCounts> io_counts(const std::string& folder, std::uint64_t diskseq);

// The texts of the two files; 11, 15 or 17 fields by the kernel's age (Documentation/block/stat.rst).
[[nodiscard]] std::optional<IoCounts> parse_io_counts(std::string_view stat, std::string_view inflight);

}  // namespace nvstripe::host

// Owns udev's records in /run/udev/data, as far as they tell of signatures and names. Reads files; asks no daemon.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/host/reader.hpp"
#include "agent/model/inventory.hpp"

namespace nvstripe::collectors {

struct UdevRecord {
  std::map<std::string, std::string> properties;  // E: lines
  std::vector<std::string> links;                 // S: lines, with /dev/ before them
};

[[nodiscard]] Result<UdevRecord> udev_record(const host::Reader& reader, const std::string& device_number);

// Fills look, look_reason, signatures and links. No record is unknown, never none (law 2).
void take_signatures(const Result<UdevRecord>& record, bool is_partition, BlockDevice& device);

}  // namespace nvstripe::collectors

// Owns what the files of the block collector share: a disk that was found, and how its key is made.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/host/reader.hpp"
#include "agent/model/inventory.hpp"
#include "collectors/classify.hpp"

namespace nvstripe::collectors {

struct FoundDisk {
  std::string name, folder;  // "nvme0n1" and its folder in sysfs, links followed
  bool operator==(const FoundDisk&) const = default;
};

struct FoundDisks {
  std::vector<FoundDisk> disks;
  std::vector<FoundDisk> hidden_paths;                    // nvme0c1n1: paths of a multipath namespace, never disks
  std::multimap<std::string, std::size_t> paths_of_head;  // "nvme0n1" → places in hidden_paths
  std::string incomplete;                                 // why others may be missing; empty: all are listed
};

// Also fills paths_of_head.
[[nodiscard]] Result<FoundDisks> find_disks(const host::Reader& reader, std::vector<std::string>& notes);

// Attributes of an NVMe namespace: identifiers, nsid, model, the controllers that reach it, transport.
void read_namespace(const host::Reader& reader, const FoundDisk& disk, const FoundDisks& found, BlockDevice& device,
                    DiskEvidence& evidence);
[[nodiscard]] bool is_namespace(const std::string& name);  // nvme0n1

// Fills wwid, uuid, nguid and eui64 where they are not "none", and makes the key of a namespace.
void read_identifiers(const host::Reader& reader, const std::string& folder, std::optional<std::uint64_t> pci_vendor,
                      BlockDevice& device);

// "lv:<vg>/<lv>" or "dm:<uuid>" or empty.
[[nodiscard]] std::string mapper_key(const std::string& dm_uuid, const std::string& dm_name);

}  // namespace nvstripe::collectors

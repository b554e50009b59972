// Owns small builders for Inventory and Spec values, so that a test states only what it is about. A machine() is complete
// and healthy: every facet known, a root disk, one storage network, an active RDMA device, all tools. Never does I/O.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::seen {

inline constexpr std::uint64_t kGiB = 1024ull * 1024 * 1024;
inline constexpr std::uint64_t kFreshGeneration = 0x1122334455667788ull;

[[nodiscard]] Uuid uuid(std::string_view text);  // ends the test program when the text is no UUID
[[nodiscard]] Uuid host_id();                    // 0a0a0a0a-1111-4222-8333-444455556666
[[nodiscard]] Uuid other_host_id();
[[nodiscard]] std::string hostnqn(const Uuid& host = host_id());

// Identity recorded, kernel 6.1 with 4 CPUs, eth1 10.9.0.11/24 with rxe0 active on it, no NVMe, no arrays.
[[nodiscard]] Inventory machine();

// ---- devices; all blank and usable unless said otherwise -----------------------------------------------------------------
[[nodiscard]] BlockDevice local_ssd(unsigned number, std::uint64_t bytes = 8 * kGiB);
// Its key is nvme:uuid.<number in hex>/<nsid>; `controller` is the kernel name of the controller that reaches it.
[[nodiscard]] BlockDevice remote_namespace(unsigned number, const std::string& subsystem_nqn, std::uint32_t nsid,
                                           const std::string& controller, std::uint64_t bytes = 8 * kGiB);
[[nodiscard]] BlockDevice root_disk();
void put_signature(BlockDevice& device, const Signature& signature);
void put_array_member(BlockDevice& device, const Uuid& array, const std::string& array_name);  // linux_raid_member

// ---- parts of an inventory
// -------------------------------------------------------------------------------------------------
[[nodiscard]] std::vector<BlockDevice>& blocks(Inventory& seen);
[[nodiscard]] BlockDevice& device(Inventory& seen, const DeviceKey& key);  // ends the test program when it is not there
[[nodiscard]] Records& records(Inventory& seen);

// A target that is reachable and discovered over rdma and tcp with `subsystems` subsystems of our own naming scheme.
[[nodiscard]] TargetView target(const std::string& connection, const std::string& address, unsigned subsystems = 1);
[[nodiscard]] std::string subsystem_nqn(const std::string& connection, unsigned number = 1);
[[nodiscard]] NvmeController controller(const std::string& kernel_name, const std::string& nqn, const std::string& transport,
                                        const std::string& address, const std::string& state = "live");
// Target, live rdma controller and `drives` blank namespaces, nsid 1 and up; device numbers from first_number.
void connect(Inventory& seen, const std::string& connection, const std::string& address, unsigned drives,
             unsigned first_number);
// A running array with its block device over these members, holders and slaves set both ways.
void run_array(Inventory& seen, const Uuid& array, const std::string& name, const std::vector<DeviceKey>& members);
// Mounted, owner, group and mode as given; `source` is the device's key.
void mount(Inventory& seen, const DeviceKey& source, const std::string& path, const std::string& options = "rw,noatime");

// ---- parts of a spec
// ---------------------------------------------------------------------------------------------------------
[[nodiscard]] ConnectionSpec connection(const std::string& name, const std::string& address);
[[nodiscard]] VolumeSpec volume(const std::string& name, const std::vector<std::string>& from, std::uint32_t count);
[[nodiscard]] ExportSpec pool(const std::string& name, const std::vector<std::string>& host_nqns);
// Connections s1 and s2 to 10.9.0.1 and 10.9.0.2, volume 'train' of 4 members over both at /mnt/train.
[[nodiscard]] Spec two_target_spec();
// What two_target_spec() meets when both targets are connected and their four drives each are blank.
[[nodiscard]] Inventory two_targets_connected();

}  // namespace nvstripe::seen

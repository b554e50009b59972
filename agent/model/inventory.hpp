// Owns Inventory: all that is seen of a machine in one look, as plain values. Built by collectors, read by configurators.
// Kernel names appear here only as what a device is called *in this look*; nothing may remember them (law 8).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/units.hpp"
#include "agent/base/uuid.hpp"
#include "agent/model/device_key.hpp"
#include "agent/model/facet.hpp"
#include "agent/model/record.hpp"

namespace nvstripe {

// ---- block devices ----------------------------------------------------------------------------------------------------

// system: carries /, boot or swap. array: md or device-mapper. other: everything without positive evidence.
enum class DeviceKind { other, local_ssd, network_disk, remote_namespace, system, array };

// What a look for signatures said. Ambiguous and unknown never mean none (law 2, A-41).
enum class Look { unknown, none, ambiguous, found };
// Whether sampled ranges read zero. `presumed`: a captured machine, where nothing can be sampled.
enum class Content { unknown, presumed, zero, data };

struct Signature {
  std::string type;          // libblkid's name: "xfs", "linux_raid_member", "LVM2_member", "gpt", "ext4"
  std::string uuid;          // file system UUID, array UUID (linux_raid_member) or PV UUID, as libblkid prints it
  std::string label;         // for linux_raid_member: the array's name, perhaps with "host:" before it
  bool in_progress = false;  // XFS whose mkfs did not end: sb_inprogress is set
  auto operator<=>(const Signature&) const = default;
};

struct BlockQueue {                     // as /sys/block/X/queue shows it; empty or absent where the file is
  std::string scheduler;                // the chosen one, without brackets
  std::vector<std::string> schedulers;  // all that are offered
  std::optional<std::uint64_t> read_ahead_kb, rq_affinity, nr_requests, max_sectors_kb, wbt_lat_usec, nomerges;
  bool operator==(const BlockQueue&) const = default;
};

struct BlockDevice {
  DeviceKey key;
  bool ambiguous_key = false;  // another device computed the same key: never usable
  std::string kernel_name;     // this look only
  std::string device_number;   // "259:3"
  std::uint64_t diskseq = 0;   // 0: the kernel does not say
  DeviceKind kind = DeviceKind::other;
  std::string evidence;  // why it is of this kind, or why none could be given
  Bytes size;
  std::uint32_t logical_block = 0, physical_block = 0;  // bytes; 0 unknown
  std::string model, serial, firmware;                  // trimmed at the ends, bytes otherwise kept
  std::string wwid, uuid, nguid, eui64;                 // none-values (zeros, ones) are left empty
  std::uint32_t nsid = 0;                               // from the nsid file, never from digits of a name
  std::string transport;                                // pcie, rdma, tcp, virtio, scsi, or empty
  std::string subsystem_nqn;                            // NVMe only
  std::vector<std::string> controllers;                 // kernel names of the controllers that reach it, this look
  DeviceKey parent;                                     // partitions: the disk
  std::vector<DeviceKey> holders;                       // what is stacked on it
  std::vector<DeviceKey> slaves;                        // what it is stacked on
  std::uint32_t partitions = 0;
  bool read_only = false;
  Look look = Look::unknown;
  std::string look_reason;  // why the look is unknown or ambiguous
  std::vector<Signature> signatures;
  Content content = Content::unknown;
  std::vector<std::string> mount_points;  // of the device itself
  bool swap = false;
  std::string dm_name;                  // device-mapper name, LVs: "vg-lv"
  BlockQueue queue;                     // its own; where there are paths, I/O is scheduled in theirs
  std::vector<std::string> paths;       // hidden NVMe path devices (nvme0c1n1) behind it, this look
  std::vector<BlockQueue> path_queues;  // of each of `paths`, in the same order
  std::vector<std::string> links;       // udev's names for it ("/dev/disk/by-id/…"): may be stale, never proof
  bool operator==(const BlockDevice&) const = default;
};

// ---- NVMe ---------------------------------------------------------------------------------------------------------------

struct NvmeController {
  std::string kernel_name;                      // this look only
  std::string subsystem_nqn, transport, state;  // state: live, connecting, resetting, new, deleting, dead
  std::string traddr, trsvcid, host_traddr, src_addr;
  std::string hostnqn, hostid, model, serial, firmware;
  std::optional<std::uint64_t> cntlid, queue_count, sqsize, kato, ctrl_loss_tmo, reconnect_delay, fast_io_fail_tmo;
  bool operator==(const NvmeController&) const = default;
};

// ---- nvmet (configfs) ---------------------------------------------------------------------------------------------------

struct TargetNamespace {
  std::uint32_t nsid = 0;
  std::string device_path, uuid, nguid;
  bool enabled = false;
  bool operator==(const TargetNamespace&) const = default;
};
struct TargetSubsystem {
  std::string nqn, serial, model;
  bool allow_any_host = false;
  std::vector<std::string> allowed_hosts;
  std::vector<TargetNamespace> namespaces;
  bool operator==(const TargetSubsystem&) const = default;
};
struct TargetPort {
  std::string id;  // directory name
  std::string trtype, adrfam, traddr, trsvcid;
  std::vector<std::string> subsystems;  // linked NQNs
  bool operator==(const TargetPort&) const = default;
};
struct TargetConfiguration {  // empty when nvmet is not loaded
  bool loaded = false;
  std::vector<TargetPort> ports;
  std::vector<TargetSubsystem> subsystems;
  std::vector<std::string> hosts;
  bool operator==(const TargetConfiguration&) const = default;
};

// ---- md, LVM ------------------------------------------------------------------------------------------------------------

struct ArrayMember {
  DeviceKey device;
  std::string slot, state;  // as dev-*/slot ("none" or a number) and dev-*/state print them
  bool operator==(const ArrayMember&) const = default;
};
struct MdArray {
  std::string kernel_name;             // this look only
  std::string uuid;                    // dashed; empty if the array has none
  std::string level, state, metadata;  // array_state: clear, inactive, clean, active, read-auto, broken, …
  std::uint32_t raid_disks = 0;
  Bytes chunk;
  std::vector<ArrayMember> members;
  bool operator==(const MdArray&) const = default;
};

struct LvmVolume {  // an LV
  std::string vg, name, uuid;
  std::vector<std::string> tags;
  Bytes size, stripe_size;
  std::uint32_t stripes = 0;
  bool active = false;
  bool operator==(const LvmVolume&) const = default;
};
struct LvmGroup {
  std::string name, uuid;
  std::vector<std::string> tags;
  std::uint32_t missing_pvs = 0, pvs = 0;
  Bytes size, free, extent;
  bool operator==(const LvmGroup&) const = default;
};
struct LvmPhysical {
  DeviceKey device;
  std::string uuid, vg;
  bool duplicate = false;
  bool operator==(const LvmPhysical&) const = default;
};
struct Lvm {
  std::vector<LvmPhysical> physicals;
  std::vector<LvmGroup> groups;
  std::vector<LvmVolume> volumes;
  bool operator==(const Lvm&) const = default;
};

// ---- mounts, units -------------------------------------------------------------------------------------------------------

struct Mount {
  std::string path, source, type, options, device_number;
  std::string owner, group, mode;  // of its root, only for mounts of volumes in the spec: names and octal text
  bool operator==(const Mount&) const = default;
};
struct Mounts {
  std::vector<Mount> mounts;
  std::vector<std::string> swaps;        // device paths
  std::vector<std::string> fstab_paths;  // mount points named in /etc/fstab
  std::map<std::string, std::string>
      path_kinds;  // mount points of the spec: "absent", "empty", "mount_point_of_ours", "full", "not_a_folder"
  std::vector<std::string> no_accounts;  // "user trainer", "group ml": named by the spec, and nothing here knows them
  // Mount units of the spec that PID 1 has not in memory: starting one reads its file, without a daemon-reload before.
  std::vector<std::string> units_not_loaded;
  bool operator==(const Mounts&) const = default;
};
struct UnitFile {
  std::string name, path, text;
  bool operator==(const UnitFile&) const = default;
};

// ---- network, kernel, identity -------------------------------------------------------------------------------------------

struct Address {
  std::string ip;
  std::uint32_t prefix = 0;
  bool operator==(const Address&) const = default;
};
struct NetworkLink {
  std::string name, operstate;
  std::uint64_t mtu = 0, speed_mbits = 0, rx_queues = 0;
  std::vector<Address> addresses;
  bool operator==(const NetworkLink&) const = default;
};
struct RdmaDevice {
  std::string name, netdev, port_state;        // "ACTIVE"
  std::vector<std::string> roce_v2_addresses;  // IP texts found among its RoCE v2 GIDs
  bool operator==(const RdmaDevice&) const = default;
};
struct Kernel {
  std::string release;  // uname -r
  std::uint32_t cpus = 0;
  Bytes memory;
  std::vector<std::string> modules_loaded, modules_available;  // only the ones asked about; built-in counts as loaded
  std::vector<std::string> fabrics_options;                    // what /dev/nvme-fabrics lists
  bool modules_listed = true;  // false: which can be loaded could not be seen (a machine captured in part)
  bool fabrics_node = false;
  std::map<std::string, std::string> module_parameters;  // "nvme_core.multipath" → "Y"
  // Neither loaded, nor built in, nor to be loaded; never said of what could not be seen. With '_' in its name.
  [[nodiscard]] bool lacks_module(std::string_view name) const;
  bool operator==(const Kernel&) const = default;
};
struct HostIdentity {
  std::string product_uuid, machine_id;  // as found; product_uuid is empty where it is insane or unreadable
  std::string provider;                  // aws, azure, gcp, oci, qemu, or empty: by DMI
  std::string availability_zone;         // failure domain by DMI or cloud's local files; empty unknown
  Uuid from_spec;                        // node.host_id of the spec that the look was given; none where it is auto
  Uuid computed;                         // host identity by the ladder of design, without the spec's host_id
  std::string boot_id, hostname;
  std::string hostnqn_file;  // what /etc/nvme/hostnqn says, trimmed; empty where there is none
  bool operator==(const HostIdentity&) const = default;
};

// ---- what the agent found out about targets (asynchronously, never during a look) ----------------------------------------

struct DiscoveredSubsystem {
  std::string nqn, transport, traddr, trsvcid;
  auto operator<=>(const DiscoveredSubsystem&) const = default;
};
enum class Reach { unknown, checking, reachable, unreachable, silent };  // silent: accepted, then said nothing
struct TargetView {
  std::string connection;  // name in the spec
  Reach tcp = Reach::unknown, rdma = Reach::unknown;
  std::string resolved_address;  // numeric
  std::string local_address;     // our address that routes there
  bool discovered = false;       // the discovery log was read
  std::vector<DiscoveredSubsystem> subsystems;
  std::string problem;  // last failure, one clause
  std::string tcp_problem, rdma_problem;
  bool operator==(const TargetView&) const = default;
};

struct Sysctl {
  std::string name, value;
  std::string foreign_setter;  // sysctl.d file or tuned profile that sets it too; empty none
  bool operator==(const Sysctl&) const = default;
};

struct Inventory {
  Facet<std::vector<BlockDevice>> blocks;
  Facet<std::vector<NvmeController>> controllers;
  Facet<TargetConfiguration> exports;
  Facet<std::vector<MdArray>> arrays;
  Facet<Lvm> lvm;
  Facet<Mounts> mounts;
  Facet<std::vector<UnitFile>> units;  // unit files and udev rules of ours
  Facet<std::vector<NetworkLink>> links;
  Facet<std::vector<RdmaDevice>> rdma;
  Facet<Kernel> kernel;
  Facet<std::vector<std::string>> tools;  // names of external programs that were found
  Facet<HostIdentity> identity;
  Facet<std::vector<TargetView>> targets;
  Facet<Records> records;
  Facet<std::vector<Sysctl>> sysctls;
  bool captured = false;           // --host: nothing was probed, what cannot be seen is unknown
  std::vector<std::string> notes;  // what a collector could not see, for people; never a reason to act

  [[nodiscard]] const BlockDevice* find(const DeviceKey& key) const;  // nullptr if not seen
  [[nodiscard]] bool is_double(const BlockDevice& device) const;      // another one answers with the same key
  [[nodiscard]] const BlockDevice* find_kernel_name(const std::string& name) const;
  [[nodiscard]] const MdArray* find_array(const std::string& uuid) const;
  [[nodiscard]] Uuid host() const;  // the identity in force: recorded, else the spec's, else computed
  bool operator==(const Inventory&) const = default;
};

[[nodiscard]] std::string_view to_text(DeviceKind kind);
[[nodiscard]] std::string_view to_text(Look look);
[[nodiscard]] std::string_view to_text(Content content);
[[nodiscard]] std::string_view to_text(Reach reach);

}  // namespace nvstripe

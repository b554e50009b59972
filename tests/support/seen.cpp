// Owns the values of the healthy machine that tests begin with.
#include "tests/support/seen.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace nvstripe::seen {
namespace {

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "tests/support/seen: %s\n", why.c_str());
  std::abort();
}

Uuid numbered(unsigned number) {
  char text[40];
  std::snprintf(text, sizeof text, "d0d0d0d0-0000-4000-8000-%012x", number);
  return uuid(text);
}

BlockDevice blank(DeviceKey key, std::string kernel_name, std::uint64_t bytes) {
  BlockDevice device;
  device.key = std::move(key);
  device.kernel_name = std::move(kernel_name);
  device.size = Bytes{bytes};
  device.logical_block = 512;
  device.physical_block = 512;
  device.look = Look::none;
  device.content = Content::zero;
  device.queue.scheduler = "none";
  device.queue.schedulers = {"none", "mq-deadline"};
  device.queue.read_ahead_kb = 128;
  device.queue.rq_affinity = 1;
  device.queue.nr_requests = 127;
  device.queue.max_sectors_kb = 1024;
  device.queue.nomerges = 0;
  return device;
}

}  // namespace

Uuid uuid(std::string_view text) {
  auto parsed = parse_uuid(text);
  if (!parsed) stop("no uuid: " + std::string(text));
  return *parsed;
}

Uuid host_id() { return uuid("0a0a0a0a-1111-4222-8333-444455556666"); }
Uuid other_host_id() { return uuid("0b0b0b0b-1111-4222-8333-444455556666"); }
std::string hostnqn(const Uuid& host) { return "nqn.2014-08.org.nvmexpress:uuid:" + to_text(host); }

Inventory machine() {
  Inventory seen;
  seen.blocks = Facet<std::vector<BlockDevice>>::known({root_disk()});
  seen.controllers = Facet<std::vector<NvmeController>>::known({});
  seen.exports = Facet<TargetConfiguration>::known({});
  seen.arrays = Facet<std::vector<MdArray>>::known({});
  seen.lvm = Facet<Lvm>::known({});
  Mounts mounts;
  mounts.mounts = {{"/", "/dev/vda", "ext4", "rw,relatime", "254:0", "", "", ""}};
  mounts.path_kinds = {{"/mnt/train", "absent"}, {"/mnt/scratch", "absent"}};
  seen.mounts = Facet<Mounts>::known(std::move(mounts));
  seen.units = Facet<std::vector<UnitFile>>::known({});
  seen.links = Facet<std::vector<NetworkLink>>::known(
      {{"eth0", "up", 1500, 0, 1, {{"192.0.2.10", 24}}}, {"eth1", "up", 4200, 25000, 8, {{"10.9.0.11", 24}}}});
  seen.rdma = Facet<std::vector<RdmaDevice>>::known({{"rxe0", "eth1", "ACTIVE", {"10.9.0.11"}}});
  Kernel kernel;
  kernel.release = "6.1.0-57-amd64";
  kernel.cpus = 4;
  kernel.memory = Bytes{16 * kGiB};
  kernel.modules_loaded = {"dm_mod",   "dm_stripe", "md_mod",     "nvme",      "nvme_fabrics", "nvme_rdma",
                           "nvme_tcp", "nvmet",     "nvmet_rdma", "nvmet_tcp", "raid0",        "xfs"};
  kernel.modules_available = kernel.modules_loaded;
  kernel.fabrics_node = true;
  kernel.fabrics_options = {"transport",        "traddr",
                            "trsvcid",          "nqn",
                            "queue_size",       "nr_io_queues",
                            "reconnect_delay",  "ctrl_loss_tmo",
                            "keep_alive_tmo",   "hostnqn",
                            "host_traddr",      "host_iface",
                            "hostid",           "duplicate_connect",
                            "fast_io_fail_tmo", "tos"};
  kernel.module_parameters = {{"nvme_core.multipath", "Y"}, {"nvme_core.io_timeout", "30"}};
  seen.kernel = Facet<Kernel>::known(std::move(kernel));
  seen.tools = Facet<std::vector<std::string>>::known({"lvchange", "lvcreate", "lvremove", "mdadm", "mkfs.xfs", "modprobe",
                                                       "pvcreate", "systemctl", "umount", "vgchange", "vgcreate", "vgremove",
                                                       "wipefs"});
  HostIdentity identity;
  identity.product_uuid = to_text(host_id());
  identity.machine_id = "00112233445566778899aabbccddeeff";
  identity.provider = "qemu";
  identity.computed = host_id();
  identity.boot_id = "b0b0b0b0-0000-4000-8000-000000000001";
  identity.hostname = "compute-1";
  seen.identity = Facet<HostIdentity>::known(std::move(identity));
  seen.targets = Facet<std::vector<TargetView>>::known({});
  Records kept;
  kept.identity = IdentityRecord{host_id(), "dmi"};
  kept.fresh_generation = kFreshGeneration;
  seen.records = Facet<Records>::known(std::move(kept));
  seen.sysctls = Facet<std::vector<Sysctl>>::known({});
  return seen;
}

BlockDevice local_ssd(unsigned number, std::uint64_t bytes) {
  const std::string id = to_text(numbered(number));
  BlockDevice device = blank({"nvme:uuid." + id + "/1"}, "nvme" + std::to_string(number) + "n1", bytes);
  device.device_number = "259:" + std::to_string(number);
  device.diskseq = number;
  device.kind = DeviceKind::local_ssd;
  device.evidence = "model 'QEMU NVMe Ctrl' on the PCI bus of a QEMU guest";
  device.model = "QEMU NVMe Ctrl";
  device.serial = "ssd" + std::to_string(number);
  device.uuid = id;
  device.wwid = "uuid." + id;
  device.nsid = 1;
  device.transport = "pcie";
  device.subsystem_nqn = "nqn.2019-08.org.qemu:ssd" + std::to_string(number);
  device.controllers = {"nvme" + std::to_string(number)};
  return device;
}

BlockDevice remote_namespace(unsigned number, const std::string& nqn, std::uint32_t nsid, const std::string& ctrl,
                             std::uint64_t bytes) {
  const std::string id = to_text(numbered(number));
  BlockDevice device = blank({"nvme:uuid." + id + "/" + std::to_string(nsid)}, ctrl + "n" + std::to_string(nsid), bytes);
  device.device_number = "259:" + std::to_string(number);
  device.diskseq = number;
  device.kind = DeviceKind::remote_namespace;
  device.evidence = "namespace of a fabrics controller";
  device.model = "nvstripe";
  device.serial = "b7e1";
  device.uuid = id;
  device.wwid = "uuid." + id;
  device.nsid = nsid;
  device.transport = "rdma";
  device.subsystem_nqn = nqn;
  device.controllers = {ctrl};
  return device;
}

BlockDevice root_disk() {
  BlockDevice device = blank({"disk:virtio-root"}, "vda", 20 * kGiB);
  device.device_number = "254:0";
  device.diskseq = 9000;
  device.kind = DeviceKind::system;
  device.evidence = "carries '/'";
  device.transport = "virtio";
  device.mount_points = {"/"};
  put_signature(device, {"ext4", "aaaaaaaa-0000-4000-8000-000000000001", "root", false});
  return device;
}

void put_signature(BlockDevice& device, const Signature& signature) {
  device.look = Look::found;
  device.content = Content::data;
  device.signatures.push_back(signature);
}

void put_array_member(BlockDevice& device, const Uuid& array, const std::string& array_name) {
  put_signature(device, {"linux_raid_member", to_text(array), array_name, false});
}

std::vector<BlockDevice>& blocks(Inventory& seen) { return seen.blocks.value(); }

BlockDevice& device(Inventory& seen, const DeviceKey& key) {
  for (BlockDevice& one : blocks(seen)) {
    if (one.key == key) return one;
  }
  stop("no device " + key.text);
}

Records& records(Inventory& seen) { return seen.records.value(); }

std::string subsystem_nqn(const std::string& connection, unsigned number) {
  char digits[20];
  std::snprintf(digits, sizeof digits, "%016x", number);
  return "nqn.2026-11.io.nvstripe:" + connection + ":" + digits;
}

TargetView target(const std::string& name, const std::string& address, unsigned subsystems) {
  TargetView view;
  view.connection = name;
  view.tcp = Reach::reachable;
  view.rdma = Reach::reachable;
  view.resolved_address = address;
  view.local_address = "10.9.0.11";
  view.discovered = true;
  for (unsigned number = 1; number <= subsystems; ++number) {
    for (const char* transport : {"rdma", "tcp"})
      view.subsystems.push_back({subsystem_nqn(name, number), transport, address, "4420"});
  }
  std::sort(view.subsystems.begin(), view.subsystems.end());
  return view;
}

NvmeController controller(const std::string& kernel_name, const std::string& nqn, const std::string& transport,
                          const std::string& address, const std::string& state) {
  NvmeController made;
  made.kernel_name = kernel_name;
  made.subsystem_nqn = nqn;
  made.transport = transport;
  made.state = state;
  made.traddr = address;
  made.trsvcid = "4420";
  made.host_traddr = "10.9.0.11";
  made.hostnqn = hostnqn();
  made.hostid = to_text(host_id());
  made.queue_count = 5;
  made.sqsize = 127;
  made.kato = 5;
  made.ctrl_loss_tmo = 4294967295u;
  made.reconnect_delay = 2;
  return made;
}

void connect(Inventory& seen, const std::string& name, const std::string& address, unsigned drives, unsigned first_number) {
  const std::string kernel_name = "nvme" + std::to_string(100 + seen.controllers.value().size());
  seen.targets.value().push_back(target(name, address));
  seen.controllers.value().push_back(controller(kernel_name, subsystem_nqn(name), "rdma", address));
  for (unsigned at = 0; at < drives; ++at)
    blocks(seen).push_back(remote_namespace(first_number + at, subsystem_nqn(name), at + 1, kernel_name));
}

void run_array(Inventory& seen, const Uuid& array, const std::string& name, const std::vector<DeviceKey>& members) {
  MdArray made;
  made.kernel_name = "md" + std::to_string(127 - seen.arrays.value().size());
  made.uuid = to_text(array);
  made.level = "raid0";
  made.state = "clean";
  made.metadata = "1.2";
  made.raid_disks = static_cast<std::uint32_t>(members.size());
  made.chunk = Bytes{128 * 1024};
  std::uint64_t bytes = 0;
  const DeviceKey key{"md:" + to_text(array)};
  for (std::size_t slot = 0; slot < members.size(); ++slot) {
    BlockDevice& member = device(seen, members[slot]);
    bytes += member.size.count;
    member.holders.push_back(key);
    if (member.signatures.empty()) put_array_member(member, array, name);
    made.members.push_back({members[slot], std::to_string(slot), "in_sync"});
  }
  BlockDevice head = blank(key, made.kernel_name, bytes);
  head.device_number = "9:127";
  head.diskseq = 7000 + seen.arrays.value().size();
  head.kind = DeviceKind::array;
  head.evidence = "md array";
  head.slaves = members;
  blocks(seen).push_back(std::move(head));
  seen.arrays.value().push_back(std::move(made));
}

void mount(Inventory& seen, const DeviceKey& source, const std::string& path, const std::string& options) {
  BlockDevice& from = device(seen, source);
  from.mount_points.push_back(path);
  seen.mounts.value().mounts.push_back(
      {path, "/dev/" + from.kernel_name, "xfs", options, from.device_number, "root", "root", "755"});
  seen.mounts.value().path_kinds.erase(path);
}

ConnectionSpec connection(const std::string& name, const std::string& address) {
  ConnectionSpec wanted;
  wanted.name = name;
  wanted.address = address;
  return wanted;
}

VolumeSpec volume(const std::string& name, const std::vector<std::string>& from, std::uint32_t count) {
  VolumeSpec wanted;
  wanted.name = name;
  wanted.members.from = from;
  wanted.members.count = count;
  wanted.mount.path = "/mnt/" + name;
  return wanted;
}

ExportSpec pool(const std::string& name, const std::vector<std::string>& host_nqns) {
  ExportSpec wanted;
  wanted.name = name;
  wanted.listen.network = "10.9.0.0/24";
  for (const std::string& host : host_nqns) wanted.allow.push_back({host, std::nullopt});
  return wanted;
}

Spec two_target_spec() {
  Spec spec;
  spec.connections = {connection("s1", "10.9.0.1"), connection("s2", "10.9.0.2")};
  spec.volumes = {volume("train", {"s1", "s2"}, 4)};
  return spec;
}

Inventory two_targets_connected() {
  Inventory seen = machine();
  connect(seen, "s1", "10.9.0.1", 4, 11);
  connect(seen, "s2", "10.9.0.2", 4, 21);
  return seen;
}

}  // namespace nvstripe::seen

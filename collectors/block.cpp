// Owns the blocks facet: whole disks, partitions, md and device-mapper devices, with the stack between them as keys. Reads
// sysfs and udev's records; opens no device, so a dead one cannot hang it.
#include "collectors/block.hpp"

#include <algorithm>
#include <map>

#include "agent/base/text.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"
#include "collectors/udev.hpp"

namespace nvstripe::collectors {
namespace {

constexpr std::uint64_t kSector = 512;  // of "size" in sysfs, whatever the drive's block is

struct Stacked {  // kernel names, made into keys when all devices are known
  std::vector<std::string> holders, slaves;
};

struct Scan {
  const host::Reader& reader;
  Inventory& seen;
  MachineEvidence machine;
  FoundDisks found;
  std::vector<BlockDevice> devices;
  std::vector<Stacked> stacks;  // one for each of devices
};

BlockQueue read_queue(const host::Reader& reader, const std::string& folder) {
  BlockQueue queue;
  const std::string offered = reader.attribute(folder + "/queue/scheduler");
  for (const std::string_view word : words(offered)) {
    const bool chosen = word.size() > 2 && word.front() == '[' && word.back() == ']';
    const std::string name(chosen ? word.substr(1, word.size() - 2) : word);
    if (chosen) queue.scheduler = name;
    queue.schedulers.push_back(name);
  }
  queue.read_ahead_kb = number(reader, folder + "/queue/read_ahead_kb");
  queue.rq_affinity = number(reader, folder + "/queue/rq_affinity");
  queue.nr_requests = number(reader, folder + "/queue/nr_requests");
  queue.max_sectors_kb = number(reader, folder + "/queue/max_sectors_kb");
  queue.wbt_lat_usec = number(reader, folder + "/queue/wbt_lat_usec");
  queue.nomerges = number(reader, folder + "/queue/nomerges");
  return queue;
}

// Empty when the folder is absent: every block device has it in sysfs, but captures lose empty folders.
std::vector<std::string> stacked(const host::Reader& reader, const std::string& folder, BlockDevice& device) {
  auto names = reader.list(folder);
  if (names) return std::move(*names);
  if (!is_errno(names.error(), ENOENT)) device.look_reason = names.error().what;
  return {};
}

// What disks and partitions have in common. False: it went away meanwhile.
bool read_common(Scan& scan, const std::string& name, const std::string& folder, bool is_partition, BlockDevice& device) {
  const auto size = number(scan.reader, folder + "/size");
  if (!size && !scan.reader.captured()) return false;
  device.kernel_name = name;
  device.size = Bytes{size.value_or(0) * kSector};
  device.device_number = scan.reader.attribute(folder + "/dev");
  device.diskseq = number(scan.reader, folder + "/diskseq").value_or(0);
  device.read_only = scan.reader.attribute(folder + "/ro") == "1";
  device.content = scan.reader.captured() ? Content::presumed : Content::unknown;
  Stacked stack;
  stack.holders = stacked(scan.reader, folder + "/holders", device);
  stack.slaves = stacked(scan.reader, folder + "/slaves", device);
  const std::string unreadable = device.look_reason;
  take_signatures(udev_record(scan.reader, device.device_number), is_partition, device);
  if (!unreadable.empty()) device.look_reason = unreadable;
  if (!unreadable.empty() || !scan.found.incomplete.empty()) {
    if (device.look == Look::none) device.look = Look::unknown;
    if (device.look_reason.empty()) device.look_reason = scan.found.incomplete;
  }
  scan.stacks.push_back(std::move(stack));
  return true;
}

void read_partitions(Scan& scan, const FoundDisk& disk, std::size_t disk_at) {
  const auto names = scan.reader.list(disk.folder);
  if (!names) return;
  for (const std::string& name : *names) {
    if (!has_prefix(name, disk.name)) continue;
    const std::string folder = disk.folder + "/" + name;
    const auto part = number(scan.reader, folder + "/partition");
    if (!part) continue;
    BlockDevice device;
    const BlockDevice& whole = scan.devices[disk_at];
    device.key.text = "part:" + whole.key.text + "#" + std::to_string(*part);
    device.parent = whole.key;
    device.logical_block = whole.logical_block;
    device.physical_block = whole.physical_block;
    device.transport = whole.transport;
    device.controllers = whole.controllers;
    device.evidence = "partition " + std::to_string(*part) + " of a disk";
    if (!read_common(scan, name, folder, true, device)) continue;
    device.diskseq = whole.diskseq;  // partitions share the disk's
    scan.devices.push_back(std::move(device));
    ++scan.devices[disk_at].partitions;
  }
}

std::string stable_text(std::string text) {
  if (is_none_identifier(text)) text.clear();
  return printable(text);
}

void read_scsi_or_virtio(Scan& scan, const FoundDisk& disk, BlockDevice& device, DiskEvidence& evidence) {
  const host::Reader& reader = scan.reader;
  const bool is_virtio = has_prefix(disk.name, "vd");
  device.transport = is_virtio ? "virtio" : has_prefix(disk.name, "sd") ? "scsi" : "";
  device.model = reader.attribute(disk.folder + "/device/model");
  device.serial = stable_text(reader.attribute(disk.folder + (is_virtio ? "/serial" : "/device/serial")));
  device.wwid = stable_text(identifier(reader, disk.folder + "/device/wwid"));
  evidence.transport = device.transport;
  evidence.model = device.model;
  evidence.vendor = reader.attribute(disk.folder + "/device/vendor");
  std::string stable = !device.wwid.empty() ? device.wwid : device.serial;
  if (stable.empty()) {
    const auto record = udev_record(reader, device.device_number);
    if (record && record->properties.count("ID_PATH") != 0) stable = record->properties.at("ID_PATH");
  }
  if (!stable.empty()) device.key.text = "disk:" + stable;
}

// An array that is not complete has no UUID of its own yet: the kernel takes it from the members when it runs, and udev's
// rule asks mdadm only then. The members' superblocks say it, if all say the same.
Result<Uuid> uuid_of_members(const host::Reader& reader, const std::string& folder) {
  std::optional<Uuid> found;
  for (const std::string& name : reader.list(folder + "/slaves").value_or(std::vector<std::string>{})) {
    const auto record = udev_record(reader, reader.attribute(folder + "/slaves/" + name + "/dev"));
    if (!record || record->properties.count("ID_FS_TYPE") == 0 || record->properties.count("ID_FS_UUID") == 0) continue;
    if (record->properties.at("ID_FS_TYPE") != "linux_raid_member") continue;
    TRY(const Uuid one, parse_uuid(record->properties.at("ID_FS_UUID")));
    if (found && *found != one) return fail("members of one array name different arrays");
    found = one;
  }
  if (!found) return fail("no member names its array");
  return *found;
}

// md/uuid is sysfs' own; older kernels leave it to udev, which has mdadm's spelling. Never /run/mdadm/map: it is
// byte-swapped.
std::string array_uuid(const host::Reader& reader, const std::string& folder, const std::string& device_number) {
  auto uuid = parse_uuid(reader.attribute(folder + "/md/uuid"));
  if (!uuid) {
    const auto record = udev_record(reader, device_number);
    if (record && record->properties.count("MD_UUID") != 0) uuid = parse_uuid(record->properties.at("MD_UUID"));
  }
  if (!uuid || uuid->is_none()) uuid = uuid_of_members(reader, folder);
  return uuid && !uuid->is_none() ? to_text(*uuid) : std::string();
}

// True when it is an md or device-mapper device; fills its kind and key.
bool read_stacked_device(Scan& scan, const FoundDisk& disk, BlockDevice& device) {
  const bool is_mapper = is_numbered(disk.name, "dm-");
  if (!is_mapper && !has_prefix(disk.name, "md")) return false;
  device.kind = DeviceKind::array;
  if (is_mapper) {
    device.dm_name = scan.reader.attribute(disk.folder + "/dm/name");
    device.key.text = mapper_key(scan.reader.attribute(disk.folder + "/dm/uuid"), device.dm_name);
    device.evidence = "device-mapper device '" + printable(device.dm_name) + "'";
  } else {
    const std::string uuid = array_uuid(scan.reader, disk.folder, device.device_number);
    if (!uuid.empty()) device.key.text = "md:" + uuid;
    device.evidence = "md array";
  }
  return true;
}

void read_disk(Scan& scan, const FoundDisk& disk) {
  // A loop device that is not bound to a file.
  if (is_numbered(disk.name, "loop") && number(scan.reader, disk.folder + "/size").value_or(0) == 0) return;
  BlockDevice device;
  if (!read_common(scan, disk.name, disk.folder, false, device)) {
    scan.seen.notes.push_back("'" + disk.name + "' went away while it was looked at");
    return;
  }
  const auto logical = number(scan.reader, disk.folder + "/queue/logical_block_size");
  const auto physical = number(scan.reader, disk.folder + "/queue/physical_block_size");
  device.logical_block = static_cast<std::uint32_t>(logical.value_or(0));
  device.physical_block = static_cast<std::uint32_t>(physical.value_or(0));
  device.queue = read_queue(scan.reader, disk.folder);
  if (!read_stacked_device(scan, disk, device)) {
    DiskEvidence evidence;
    if (is_namespace(disk.name))
      read_namespace(scan.reader, disk, scan.found, device, evidence);
    else
      read_scsi_or_virtio(scan, disk, device, evidence);
    const Verdict verdict = classify(scan.machine, evidence);
    device.kind = verdict.kind;
    device.evidence = verdict.evidence;
    if (is_namespace(disk.name) && verdict.kind == DeviceKind::other) {
      scan.seen.notes.push_back("'" + disk.name + "' is left alone: " + verdict.evidence);
    }
  }
  const auto [from, to] = scan.found.paths_of_head.equal_range(disk.name);
  for (auto at = from; at != to; ++at) {
    device.path_queues.push_back(read_queue(scan.reader, scan.found.hidden_paths[at->second].folder));
  }
  if (device.key.empty()) device.key.text = "name:" + disk.name;
  scan.devices.push_back(std::move(device));
  read_partitions(scan, disk, scan.devices.size() - 1);
}

void make_keys_of_stacks(Scan& scan) {
  std::map<std::string, DeviceKey> keys;
  for (const BlockDevice& device : scan.devices) keys[device.kernel_name] = device.key;
  const auto key_of = [&](const std::string& name) {
    const auto found = keys.find(name);
    return found == keys.end() ? DeviceKey{"name:" + name} : found->second;  // a holder that is not listed still holds
  };
  for (std::size_t i = 0; i < scan.devices.size(); ++i) {
    for (const std::string& name : scan.stacks[i].holders) scan.devices[i].holders.push_back(key_of(name));
    for (const std::string& name : scan.stacks[i].slaves) scan.devices[i].slaves.push_back(key_of(name));
  }
}

}  // namespace

std::string mapper_key(const std::string& dm_uuid, const std::string& dm_name) {
  constexpr std::size_t kLvUuid = 4 + 64;  // "LVM-", VG and LV ids; what has more behind it is an LV's inner device
  if (dm_uuid.empty()) return {};
  if (!has_prefix(dm_uuid, "LVM-") || dm_uuid.size() != kLvUuid) return "dm:" + printable(dm_uuid);
  std::string vg;
  for (std::size_t i = 0; i < dm_name.size(); ++i) {
    const bool doubled = dm_name.compare(i, 2, "--") == 0;
    if (dm_name[i] == '-' && !doubled) {
      std::string lv = dm_name.substr(i + 1);
      for (std::size_t at = lv.find("--"); at != std::string::npos; at = lv.find("--", at + 1)) lv.erase(at, 1);
      return "lv:" + vg + "/" + lv;
    }
    vg += dm_name[i];
    if (doubled) ++i;
  }
  return "dm:" + printable(dm_uuid);
}

void observe_block(const host::Reader& reader, const Spec&, Inventory& seen) {
  auto found = find_disks(reader, seen.notes);
  if (!found) {
    seen.blocks = Facet<std::vector<BlockDevice>>::unavailable(found.error().what);
    return;
  }
  Scan scan{reader, seen, machine_evidence(reader, seen), std::move(*found), {}, {}};
  if (!scan.found.incomplete.empty()) {
    seen.notes.push_back(scan.found.incomplete + ": only the devices below were found, and none of them is usable");
  }
  for (const FoundDisk& disk : scan.found.disks) read_disk(scan, disk);
  make_keys_of_stacks(scan);
  seen.blocks = Facet<std::vector<BlockDevice>>::known(std::move(scan.devices));
}

}  // namespace nvstripe::collectors

// Owns what the simulated machine shows: an Inventory as the collectors would fill it. Kernel names change at every boot.
#include <algorithm>

#include "agent/base/uuid.hpp"
#include "agent/model/guard_ours.hpp"
#include "tests/sim/host.hpp"
#include "tests/support/seen.hpp"

namespace nvstripe::sim {
namespace {

// The same as long as the device exists, another after a reboot.
std::uint64_t sequence_of(const DeviceKey& key, int boots) {
  std::uint64_t hash = 1469598103934665603ull;
  for (const char c : key.text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211ull;
  return hash % 1'000'000 + static_cast<std::uint64_t>(boots) * 1'000'000;
}

BlockDevice stacked(const DeviceKey& key, const std::string& kernel_name, int boots) {
  BlockDevice device;
  device.key = key;
  device.kernel_name = kernel_name;
  device.diskseq = sequence_of(key, boots);
  device.device_number = "253:" + std::to_string(device.diskseq);
  device.kind = DeviceKind::array;
  device.evidence = "stacked";
  device.logical_block = device.physical_block = 512;
  return device;
}

}  // namespace

void Host::put_content(BlockDevice& device, const Media& media, Look forced) const {
  device.signatures = media.signatures;
  device.content = media.data || !media.signatures.empty() ? Content::data : Content::zero;
  device.look = media.signatures.empty() ? Look::none : Look::found;
  if (forced != Look::none) {
    device.look = forced;
    device.look_reason = "as ordered";
    device.signatures.clear();
  }
}

bool Host::is_live(const Controller& controller) const {
  for (const Target& target : targets) {
    if (target.nqn == controller.nqn) return target.up;
  }
  return true;  // of a machine outside this simulation
}

std::vector<DeviceKey> Host::holders_of(const DeviceKey& key) const {
  std::vector<DeviceKey> out;
  for (const Array& array : arrays) {
    if (std::find(array.members.begin(), array.members.end(), key) != array.members.end())
      out.push_back({"md:" + array.uuid});
  }
  for (const Group& group : groups) {
    if (std::find(group.members.begin(), group.members.end(), key) == group.members.end()) continue;
    for (const Group::Volume& volume : group.volumes) {
      if (active.contains(group.name + "/" + volume.name)) out.push_back({"lv:" + group.name + "/" + volume.name});
    }
  }
  return out;
}

bool Host::is_busy(const DeviceKey& key) const {
  if (!holders_of(key).empty()) return true;
  return std::any_of(mounted.begin(), mounted.end(), [&](const auto& entry) { return entry.second == key; });
}

void Host::relate(std::vector<BlockDevice>& out) const {
  for (BlockDevice& device : out) {
    device.queue.schedulers = {"none", "mq-deadline"};
    const bool stacked_on = device.kind == DeviceKind::array;
    if (!stacked_on) device.queue.scheduler = "mq-deadline";  // as with one hardware queue
    if (device.kind == DeviceKind::remote_namespace) device.queue.wbt_lat_usec = 2000;
    device.queue.read_ahead_kb = stacked_on ? 32768 : 128;
    for (const DeviceKey& holder : holders_of(device.key)) device.holders.push_back(holder);
    for (const auto& [path, key] : mounted) {
      if (key == device.key) device.mount_points.push_back(path);
    }
    const auto setting = [&](const char* name) -> const std::string* {
      const auto found = settings.find(device.key.text + " queue/" + name);
      return found == settings.end() ? nullptr : &found->second;
    };
    const auto number = [&](const char* name, std::optional<std::uint64_t>& into) {
      if (const std::string* value = setting(name)) into = std::stoull(*value);
    };
    if (const std::string* value = setting("scheduler")) device.queue.scheduler = *value;
    number("read_ahead_kb", device.queue.read_ahead_kb);
    number("rq_affinity", device.queue.rq_affinity);
    number("nr_requests", device.queue.nr_requests);
    number("max_sectors_kb", device.queue.max_sectors_kb);
    number("wbt_lat_usec", device.queue.wbt_lat_usec);
    number("nomerges", device.queue.nomerges);
  }
}

std::vector<BlockDevice> Host::blocks() const {
  std::vector<BlockDevice> out;
  unsigned number = static_cast<unsigned>(boots) * 10;
  for (const Drive& drive : drives) {
    out.push_back(drive.device);
    if (drive.device.kind == DeviceKind::local_ssd) out.back().kernel_name = "nvme" + std::to_string(++number) + "n1";
    put_content(out.back(), *drive.media, drive.forced_look);
  }
  for (const Controller& controller : controllers) {
    for (const Target& target : targets) {
      if (target.nqn != controller.nqn) continue;
      for (const TargetNamespaceOf& ns : target.namespaces) {
        BlockDevice device = seen::remote_namespace(ns.nsid, target.nqn, ns.nsid, controller.name);
        device.uuid = ns.uuid;
        device.wwid = "uuid." + ns.uuid;
        device.key = {"nvme:uuid." + ns.uuid + "/" + std::to_string(ns.nsid)};
        device.transport = controller.transport;
        device.diskseq = sequence_of(device.key, boots);
        device.device_number = "259:" + std::to_string(device.diskseq);
        put_content(device, *ns.media, target.up ? Look::none : Look::unknown);
        if (!target.up) device.content = Content::unknown;
        out.push_back(std::move(device));
      }
    }
  }
  for (const Array& array : arrays) {
    BlockDevice device = stacked({"md:" + array.uuid}, "md" + std::to_string(500 - ++number), boots);
    device.size = Bytes{array.members.size() * 8 * seen::kGiB};
    device.slaves = array.members;
    put_content(device, *array.media, Look::none);
    if (array.state == "inactive") device.size = Bytes{0};
    out.push_back(std::move(device));
  }
  for (const Group& group : groups) {
    for (const Group::Volume& volume : group.volumes) {
      if (!active.contains(group.name + "/" + volume.name)) continue;
      BlockDevice device = stacked({"lv:" + group.name + "/" + volume.name}, "dm-" + std::to_string(++number), boots);
      device.dm_name = group.name + "-" + volume.name;
      device.size = volume.size;
      device.slaves = group.members;
      put_content(device, *volume.media, Look::none);
      out.push_back(std::move(device));
    }
  }
  relate(out);
  return out;
}

Inventory Host::look(const Spec& spec, FacetSet wanted) {
  looks.push_back(wanted);
  spec_ = spec;
  Inventory seen = base;
  seen.blocks = Facet<std::vector<BlockDevice>>::known(blocks());
  seen.controllers.value().clear();
  for (const Controller& controller : controllers) {
    NvmeController shown = seen::controller(controller.name, controller.nqn, controller.transport, controller.traddr,
                                            is_live(controller) ? "live" : "connecting");
    shown.trsvcid = controller.trsvcid;
    shown.host_traddr = controller.host_traddr;
    seen.controllers.value().push_back(std::move(shown));
  }
  for (const Array& array : arrays) {
    MdArray shown;
    shown.kernel_name = seen.find({"md:" + array.uuid})->kernel_name;
    shown.uuid = array.uuid;
    shown.level = "raid0";
    shown.metadata = "1.2";
    shown.state = array.state;
    shown.raid_disks = array.raid_disks;
    shown.chunk = array.chunk;
    for (std::size_t slot = 0; slot < array.members.size(); ++slot)
      shown.members.push_back({array.members[slot], std::to_string(slot), "in_sync"});
    seen.arrays.value().push_back(std::move(shown));
  }
  Lvm& lvm = seen.lvm.value();
  for (const BlockDevice& device : seen.blocks.value()) {
    const MediaPtr media = media_of(device.key);
    if (media && !media->pv_uuid.empty() && device.look == Look::found)
      lvm.physicals.push_back({device.key, media->pv_uuid, media->vg, false});
  }
  for (const Group& group : groups) {
    LvmGroup shown;
    shown.name = group.name;
    shown.uuid = group.uuid;
    shown.tags = group.tags;
    shown.pvs = static_cast<std::uint32_t>(group.members.size());
    for (const DeviceKey& key : group.members) shown.missing_pvs += seen.find(key) == nullptr ? 1 : 0;
    if (shown.missing_pvs == shown.pvs) continue;
    lvm.groups.push_back(shown);
    for (const Group::Volume& volume : group.volumes) {
      LvmVolume lv;
      lv.vg = group.name;
      lv.name = volume.name;
      lv.uuid = group.uuid + "-" + volume.name;
      lv.tags = volume.tags;
      lv.stripes = volume.stripes;
      lv.stripe_size = volume.stripe;
      lv.size = volume.size;
      lv.active = active.contains(group.name + "/" + volume.name);
      lvm.volumes.push_back(std::move(lv));
    }
  }
  Mounts& shown = seen.mounts.value();
  shown.path_kinds = path_kinds;
  for (const Mount& mount : foreign_mounts) shown.mounts.push_back(mount);
  for (const auto& [path, key] : mounted) {
    const BlockDevice* device = seen.find(key);
    const auto owner = owners.find(path);
    const SetOwner as = owner == owners.end() ? SetOwner{path, "root", "root", "755"} : owner->second;
    shown.mounts.push_back({path, device == nullptr ? "/dev/gone" : "/dev/" + device->kernel_name, "xfs", "rw,noatime",
                            device == nullptr ? "" : device->device_number, as.owner, as.group, as.mode});
    shown.path_kinds.erase(path);
  }
  for (const auto& [path, kind] : shown.path_kinds) {
    const std::string unit = guard::mount_unit_name(path);
    const bool loaded = std::any_of(loaded_units.begin(), loaded_units.end(),
                                    [&](const auto& one) { return one.first.ends_with("/" + unit); });
    if (!loaded) shown.units_not_loaded.push_back(unit);
  }
  for (const auto& [path, text] : files) seen.units.value().push_back({path.substr(path.rfind('/') + 1), path, text});
  seen.exports.value() = nvmet;
  for (const Target& target : targets) {
    TargetView view = seen::target(target.connection, target.address);
    for (DiscoveredSubsystem& one : view.subsystems) one.nqn = target.nqn;
    if (target.tcp_only) {
      view.rdma = Reach::unreachable;
      std::erase_if(view.subsystems, [](const DiscoveredSubsystem& one) { return one.transport == "rdma"; });
    }
    if (!target.up) {
      view.tcp = view.rdma = Reach::unreachable;
      view.discovered = false;
      view.subsystems.clear();
      view.problem = "no answer";
    }
    seen.targets.value().push_back(std::move(view));
  }
  seen.sysctls.value() = sysctls;
  for (Sysctl& one : seen.sysctls.value()) {
    std::string path = "/proc/sys/" + one.name;
    std::replace(path.begin() + 10, path.end(), '.', '/');
    if (const auto found = settings.find(path); found != settings.end()) one.value = found->second;
  }
  return seen;
}

}  // namespace nvstripe::sim

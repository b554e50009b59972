// Owns the samples of arrays, groups and volumes.
#include <algorithm>
#include <array>

#include "agent/telemetry/core_parts.hpp"

namespace nvstripe {
namespace {

// As md/array_state prints them (Documentation/admin-guide/md.rst).
constexpr std::array<std::string_view, 10> kArrayStates{"clear", "inactive", "suspended",     "readonly",    "read-auto",
                                                        "clean", "active",   "write-pending", "active-idle", "broken"};
constexpr std::array<std::string_view, 8> kVolumeStates{"mounted", "degraded", "pending",   "waiting",
                                                        "refused", "released", "data_lost", "unclaimed"};

void add_array(const MdArray& array, SampleGathering& to) {
  const std::string key = "md:" + array.uuid;
  add_states(to, "nvstripe_md_state", {key}, kArrayStates, array.state);
  double active = 0, failed = 0, spare = 0;
  for (const ArrayMember& member : array.members) {
    if (member.state.find("faulty") != std::string::npos)
      ++failed;
    else if (member.slot == "none")
      ++spare;
    else
      ++active;
  }
  to.add("nvstripe_md_disks", {key, "active"}, active);
  to.add("nvstripe_md_disks", {key, "failed"}, failed);
  to.add("nvstripe_md_disks", {key, "spare"}, spare);
  to.add("nvstripe_md_disks_required", {key}, array.raid_disks);
  to.add("nvstripe_md_degraded_disks", {key}, std::max(0.0, array.raid_disks - active));
}

std::string file_system_of(const VolumeView& volume, const Inventory& seen) {
  const BlockDevice* device = volume.device.empty() ? nullptr : seen.find(DeviceKey{volume.device});
  return device == nullptr || device->signatures.size() != 1 ? std::string() : device->signatures.front().uuid;
}

void add_io(const std::string& name, const IoCounts& io, SampleGathering& to) {
  constexpr double kSector = 512, kMilli = 1000;
  const auto count = [&](std::string_view metric, std::uint64_t value, double factor = 1) {
    to.add(metric, {name}, static_cast<double>(value) * factor);
  };
  const auto seconds = [&](std::string_view metric, std::uint64_t ms) {
    to.add(metric, {name}, static_cast<double>(ms) / kMilli);
  };
  count("nvstripe_volume_read_bytes_total", io.read_sectors, kSector);
  count("nvstripe_volume_written_bytes_total", io.written_sectors, kSector);
  count("nvstripe_volume_reads_completed_total", io.reads);
  count("nvstripe_volume_writes_completed_total", io.writes);
  count("nvstripe_volume_discards_completed_total", io.discards);
  seconds("nvstripe_volume_read_time_seconds_total", io.read_ms);
  seconds("nvstripe_volume_write_time_seconds_total", io.write_ms);
  seconds("nvstripe_volume_flush_time_seconds_total", io.flush_ms);
  seconds("nvstripe_volume_io_time_seconds_total", io.busy_ms);
  seconds("nvstripe_volume_io_time_weighted_seconds_total", io.weighted_ms);
  to.add("nvstripe_volume_inflight", {name, "read"}, static_cast<double>(io.reads_in_flight));
  to.add("nvstripe_volume_inflight", {name, "write"}, static_cast<double>(io.writes_in_flight));
}

void add_volume(const CoreView& view, const VolumeView& volume, SampleGathering& to) {
  const std::string& name = volume.name;
  to.add("nvstripe_volume_info",
         {name, volume.device, volume.stack, volume.transport, file_system_of(volume, view.pass.seen), volume.mount_path},
         1);
  add_states(to, "nvstripe_volume_state", {name}, kVolumeStates, volume.state);
  to.add("nvstripe_volume_mounted", {name}, volume.mounted ? 1 : 0);
  to.add("nvstripe_volume_members", {name}, static_cast<double>(volume.members));
  to.add("nvstripe_volume_members_live", {name}, static_cast<double>(volume.members_live));
  if (const auto io = view.io.find(name); io != view.io.end()) add_io(name, io->second, to);
  const auto space = view.figures.spaces.find(name);
  if (space == view.figures.spaces.end() || !volume.mounted) return;
  to.add("nvstripe_volume_size_bytes", {name}, static_cast<double>(space->second.size_bytes));
  to.add("nvstripe_volume_free_bytes", {name}, static_cast<double>(space->second.available_bytes));
  to.add("nvstripe_volume_inodes_free", {name}, static_cast<double>(space->second.inodes_free));
}

}  // namespace

void add_arrays(const CoreView& view, SampleGathering& to) {
  for (const MdArray& array : view.pass.seen.arrays.value())
    if (!array.uuid.empty()) add_array(array, to);
  for (const LvmGroup& group : view.pass.seen.lvm.value().groups)
    to.add("nvstripe_lvm_missing_devices", {group.name}, group.missing_pvs);
}

void add_volumes(const CoreView& view, SampleGathering& to) {
  const Inventory& seen = view.pass.seen;
  // A state is read off all of these; with one of them unseen it would be a guess.
  using enum FacetName;
  if (!all_known((blocks | mounts) | controllers | arrays | records, seen)) return;
  for (const VolumeView& volume : view.volumes) add_volume(view, volume, to);
}

}  // namespace nvstripe

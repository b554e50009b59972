// Owns what the core's samples take from status.
#include "agent/api/metrics.hpp"

#include <algorithm>
#include <ctime>

#include "agent/host/io_counts.hpp"

namespace nvstripe::api {
namespace {

VolumeView view_of(const VolumeStatus& volume) {
  VolumeView view;
  view.name = volume.name;
  view.state = to_text(volume.state);
  view.mount_path = volume.mount_path;
  view.device = volume.device;
  view.stack = volume.stack;
  view.transport = volume.transport;
  view.mounted = volume.mounted;
  view.members = volume.members.size();
  view.members_live = static_cast<std::uint64_t>(std::count_if(
      volume.members.begin(), volume.members.end(), [](const MemberStatus& member) { return member.state == "live"; }));
  return view;
}

// "2026-12-07T10:00:00.123Z", as the store writes it; the part below a second is left out. 0: none.
double seconds_of(const std::string& time) {
  std::tm parts{};
  if (::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return 0;
  return static_cast<double>(::timegm(&parts));
}

void add_io(const VolumeStatus& volume, const Inventory& seen, const std::string& sys_block, CoreView& view) {
  const BlockDevice* device = volume.device.empty() ? nullptr : seen.find(DeviceKey{volume.device});
  if (device == nullptr) return;
  if (const auto io = host::io_counts(sys_block + "/" + device->kernel_name, device->diskseq))
    view.io.emplace(volume.name, *io);
}

}  // namespace

SampleSet metrics_of(const Snapshot& snapshot, const Status& status, const Measured& measured, const std::string& sys_block,
                     const StreamStates& streams) {
  CoreView view{.version = NVSTRIPE_VERSION, .looked = !snapshot.taken.empty(), .pass = snapshot.pass};
  view.spec_in_force = !snapshot.spec.loaded.empty();
  view.spec_accepted = snapshot.spec.problem.empty();
  view.ready = view.looked && exit_code_of(status) == 0;
  for (const VolumeStatus& volume : status.volumes) {
    view.volumes.push_back(view_of(volume));
    add_io(volume, snapshot.pass.seen, sys_block, view);
  }
  for (const ExportStatus& one : status.exports) view.exports.push_back({one.name, one.state});
  for (const store::StreamState& stream : streams) {
    view.spools.push_back({"events", stream.stream, stream.records, stream.bytes, stream.dead, seconds_of(stream.oldest)});
    view.dropped_events[stream.stream] = stream.dropped;
  }
  view.counters = measured.counters;
  view.figures = measured.figures;
  view.jobs = measured.jobs;
  return core_samples(view);
}

}  // namespace nvstripe::api

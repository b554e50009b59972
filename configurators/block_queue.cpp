// Owns the queue settings of devices of ours: members and arrays of recorded volumes, drives that are served to hosts. A
// device that is in no record of ours is never touched. Values and reasons: tuning_table.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "configurators/tuning.hpp"
#include "configurators/volume.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::uint64_t kMinStreamKib = 1024, kMaxStreamKib = 16 * 1024, kRandomKib = 128;

// Names of the scheduler that does nothing, newest first (A-75: old kernels have noop and no none).
constexpr std::string_view kNoScheduler[] = {"none", "noop"};

// What a device's values belong to: the same disk, reached by the same controllers, during one boot. A disk that was taken
// away and came back starts from the kernel's defaults, which is nobody's change.
std::string instance_of(const BlockDevice& device, const Inventory& seen) {
  std::string text = fmt::format("{}/{}", seen.identity.value().boot_id, device.diskseq);
  for (const std::string& path : device.paths) text += "/" + path;
  return text;
}

class Wishes {
 public:
  Wishes(const Inventory& seen, std::vector<Setting>& out) : seen_(seen), out_(out) {}

  // A leaf with hidden paths schedules in them; the head above is bio-based and has no scheduler (nvme/host/multipath.c,
  // read).
  void leaf(const BlockDevice& device, const std::string& attribute, std::string_view wanted, const std::string& reason,
            std::string (*present)(const BlockQueue&)) {
    if (device.path_queues.empty()) {
      add(device, attribute, wanted, present(device.queue), reason);
      return;
    }
    std::string value = present(device.path_queues.front());
    for (const BlockQueue& queue : device.path_queues) {
      if (present(queue) != wanted) value = present(queue);
    }
    add(device, "paths/" + attribute, wanted, value, reason);
  }
  void add(const BlockDevice& device, const std::string& attribute, std::string_view wanted, const std::string& present,
           const std::string& reason) {
    if (present.empty()) return;  // this kernel does not have it
    if (told_.emplace(device.key, attribute).second)
      out_.push_back({device.key.text, attribute, std::string(wanted), present, instance_of(device, seen_), "", "", reason});
  }

 private:
  const Inventory& seen_;
  std::vector<Setting>& out_;
  std::set<std::pair<DeviceKey, std::string>> told_;
};

std::string scheduler_of(const BlockQueue& queue) { return queue.scheduler; }
std::string number_of(const std::optional<std::uint64_t>& value) { return value ? std::to_string(*value) : std::string(); }

void want_no_scheduler(const BlockDevice& device, Wishes& wishes) {
  const BlockQueue& queue = device.path_queues.empty() ? device.queue : device.path_queues.front();
  for (const std::string_view name : kNoScheduler) {
    if (std::find(queue.schedulers.begin(), queue.schedulers.end(), name) == queue.schedulers.end()) continue;
    wishes.leaf(device, "queue/scheduler", name, "an NVMe drive orders requests by itself", scheduler_of);
    return;
  }
}

using QueueCounts = std::map<std::string_view, std::uint64_t>;  // by controller, the admin queue included

QueueCounts queue_counts(const Inventory& seen) {
  QueueCounts counts;
  for (const NvmeController& controller : seen.controllers.value()) {
    if (controller.queue_count) counts[controller.kernel_name] = *controller.queue_count;
  }
  return counts;
}

// I/O queues of the controllers that reach it; 0 where that cannot be told.
std::uint64_t io_queues(const BlockDevice& device, const QueueCounts& counts) {
  std::uint64_t queues = 0;
  for (const std::string& name : device.controllers) {
    const auto found = counts.find(name);
    if (found != counts.end()) queues = std::max(queues, found->second - std::min<std::uint64_t>(1, found->second));
  }
  return queues;
}

void want_member(const BlockDevice& member, const VolumeSpec& volume, const Inventory& seen, const QueueCounts& counts,
                 Wishes& wishes) {
  want_no_scheduler(member, wishes);
  if (member.kind == DeviceKind::remote_namespace)
    wishes.leaf(member, "queue/wbt_lat_usec", "0", "writeback throttling takes a loaded fabric for a congested drive",
                [](const BlockQueue& queue) { return number_of(queue.wbt_lat_usec); });
  const std::uint64_t queues = io_queues(member, counts);
  const std::uint32_t cpus = seen.kernel.value().cpus;
  const bool few = volume.workload == Workload::random && queues > 0 && queues < cpus;
  wishes.leaf(member, "queue/rq_affinity", few ? "2" : "1",
              few ? "few queues complete for many CPUs" : "completion stays in the submitter's cache domain",
              [](const BlockQueue& queue) { return number_of(queue.rq_affinity); });
}

std::uint64_t read_ahead_kib(const VolumeSpec& volume, std::size_t members) {
  if (volume.workload == Workload::random) return kRandomKib;
  const std::uint64_t width = volume.chunk.count / 1024 * members;
  const std::uint64_t wanted = std::clamp(2 * width, kMinStreamKib, kMaxStreamKib);
  // Whole stripes, so that each member gets the same, where one stripe fits at all.
  return width == 0 || width > wanted ? wanted : wanted / width * width;
}

const BlockDevice* stack_of(const VolumeRecord& record, const Inventory& seen) {
  if (record.stack == "md")
    return seen.find({"md:" + to_text(derive(seen.host(), "array", record.name, record.generation))});
  return seen.find({"lv:" + group_name(record.name, record.generation) + "/data"});
}

void want_volume(const VolumeRecord& record, const VolumeSpec& volume, const Inventory& seen, const QueueCounts& counts,
                 Wishes& wishes) {
  for (const DeviceKey& key : record.members) {
    if (const BlockDevice* member = seen.find(key)) want_member(*member, volume, seen, counts, wishes);
  }
  if (const BlockDevice* stack = stack_of(record, seen))
    wishes.add(*stack, "queue/read_ahead_kb", std::to_string(read_ahead_kib(volume, record.members.size())),
               number_of(stack->queue.read_ahead_kb),
               volume.workload == Workload::random ? "random reads pay for every byte read ahead"
                                                   : "two stripe widths ahead keep every member busy");
}

bool is_device(const TuningRecord& record) { return record.object != "sysctl" && record.object != "module"; }

}  // namespace

Draft block_queue(const Spec& spec, const Inventory& seen) {
  if (!seen.blocks.is_known() || !seen.identity.is_known()) return {};
  std::vector<Setting> wanted;
  Wishes wishes(seen, wanted);
  const QueueCounts counts = queue_counts(seen);
  if (spec.tuning.profile != "off") {
    for (const VolumeRecord& record : seen.records.value().volumes) {
      const VolumeSpec* volume = spec.volume(record.name);
      if (volume != nullptr && record.stage != Stage::intended) want_volume(record, *volume, seen, counts, wishes);
    }
    for (const ExportRecord& record : seen.records.value().exports) {
      const BlockDevice* drive = seen.find(record.drive);
      if (drive != nullptr && record.served && !record.retired) want_no_scheduler(*drive, wishes);
    }
  }
  std::sort(wanted.begin(), wanted.end(), [](const Setting& a, const Setting& b) {
    return std::tie(a.object, a.attribute) < std::tie(b.object, b.attribute);
  });
  Draft draft = set_all(wanted, seen);
  if (spec.wants_nothing()) return draft;  // an emptied spec changes nothing (law 9)
  Draft back = give_back(wanted, seen, is_device);
  draft.actions.insert(draft.actions.end(), back.actions.begin(), back.actions.end());
  return draft;
}

}  // namespace nvstripe::configure

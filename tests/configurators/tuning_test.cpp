// Proves how settings are set, kept, left to others and given back. No machine is touched.
#include "configurators/tuning.hpp"

#include <algorithm>

#include "agent/model/guard.hpp"
#include "configurators/volume.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using namespace nvstripe::configure;

namespace {

constexpr std::uint64_t kGeneration = 0x0101010102020202ull;

// Four remote members behind one controller and the running array of volume 'train', recorded as made.
Inventory with_volume(const Spec& spec) {
  Inventory seen = seen::machine();
  seen::connect(seen, "s1", "10.9.0.1", 4, 11);
  VolumeRecord record{.name = "train", .stack = "md", .generation = kGeneration, .stage = Stage::made};
  for (const BlockDevice& device : seen::blocks(seen)) {
    if (device.kind == DeviceKind::remote_namespace) record.members.push_back(device.key);
  }
  seen::run_array(seen, derive(seen::host_id(), "array", "train", kGeneration), "any:nvs-train", record.members);
  seen::records(seen).volumes.push_back(record);
  seen.sysctls.value() = {{"vm.dirty_bytes", "0", ""},
                          {"vm.dirty_ratio", "20", ""},
                          {"vm.dirty_background_bytes", "0", ""},
                          {"vm.dirty_background_ratio", "10", ""}};
  (void)spec;
  return seen;
}

Spec one_volume(Workload workload = Workload::streaming) {
  Spec spec;
  spec.connections = {seen::connection("s1", "10.9.0.1")};
  spec.volumes = {seen::volume("train", {"s1"}, 4)};
  spec.volumes.front().workload = workload;
  spec.volumes.front().want_write = BytesPerSecond{100'000'000};
  return spec;
}

DeviceKey array_key() { return {"md:" + to_text(derive(seen::host_id(), "array", "train", kGeneration))}; }

// What the kernel would show after these steps.
void carry_out(Inventory& seen, const Action& action) {
  for (const Record& record : action.before) seen::records(seen).put(record);
  for (const Step& step : action.steps) {
    const auto& write = std::get<WriteAttribute>(step);
    if (write.path.starts_with("/proc/sys/vm/")) {
      const std::string name = "vm." + write.path.substr(13);
      for (Sysctl& one : seen.sysctls.value()) {
        const auto stem = [](const std::string& text) { return text.substr(0, text.rfind('_')); };
        if (one.name == name) one.value = write.value;
        if (one.name != name && stem(one.name) == stem(name)) one.value = "0";  // bytes and ratio exclude each other
      }
    } else if (write.device) {
      BlockDevice& device = seen::device(seen, *write.device);
      std::vector<BlockQueue*> queues{&device.queue};
      if (write.of_paths) {
        queues.clear();
        for (BlockQueue& queue : device.path_queues) queues.push_back(&queue);
      }
      for (BlockQueue* queue : queues) {
        if (write.path == "queue/scheduler") queue->scheduler = write.value;
        if (write.path == "queue/read_ahead_kb") queue->read_ahead_kb = std::stoull(write.value);
        if (write.path == "queue/rq_affinity") queue->rq_affinity = std::stoull(write.value);
        if (write.path == "queue/wbt_lat_usec") queue->wbt_lat_usec = std::stoull(write.value);
      }
    } else {
      const std::string name = write.path.substr(std::string("/sys/module/").size());
      const auto slash = name.find('/');
      seen.kernel.value().module_parameters[name.substr(0, slash) + "." + name.substr(name.rfind('/') + 1)] = write.value;
    }
  }
  for (const Record& record : action.after) seen::records(seen).put(record);
}

using Plan1 = Draft (*)(const Spec&, const Inventory&);

void settle(const Spec& spec, Inventory& seen) {
  for (const Plan1 plan : {block_queue, sysctl, nvme_parameters}) {
    for (const Action& action : plan(spec, seen).actions) {
      INFO(action.sentence);
      CHECK(guard::judge(action, spec, seen) == guard::Veto{});
      carry_out(seen, action);
    }
    CHECK(plan(spec, seen).actions.empty());
  }
}

std::string value_of(const Inventory& seen, std::string_view name) {
  for (const Sysctl& one : seen.sysctls.value()) {
    if (one.name == name) return one.value;
  }
  return "absent";
}

}  // namespace

TEST_CASE("A-75 the scheduler is chosen among those that are offered, and skipped where none fits") {
  const Spec spec = one_volume();
  Inventory seen = with_volume(spec);
  BlockDevice& first = seen::blocks(seen)[1];
  BlockDevice& second = seen::blocks(seen)[2];
  BlockDevice& third = seen::blocks(seen)[3];
  first.queue.scheduler = "mq-deadline";
  second.queue.scheduler = "deadline";
  second.queue.schedulers = {"noop", "deadline", "cfq"};
  third.queue.scheduler = "bfq";
  third.queue.schedulers = {"bfq"};
  settle(spec, seen);
  CHECK(seen::blocks(seen)[1].queue.scheduler == "none");
  CHECK(seen::blocks(seen)[2].queue.scheduler == "noop");
  CHECK(seen::blocks(seen)[3].queue.scheduler == "bfq");
}

TEST_CASE("A-15 a drive with hidden paths is tuned in its paths, and the head is left alone") {
  const Spec spec = one_volume();
  Inventory seen = with_volume(spec);
  BlockDevice& member = seen::blocks(seen)[1];
  member.paths = {"nvme100c100n1"};
  member.path_queues = {member.queue};
  member.path_queues.front().scheduler = "mq-deadline";
  member.path_queues.front().wbt_lat_usec = 2000;
  member.queue.scheduler = "";
  member.queue.schedulers.clear();
  settle(spec, seen);
  CHECK(seen::blocks(seen)[1].path_queues.front().scheduler == "none");
  CHECK(seen::blocks(seen)[1].path_queues.front().wbt_lat_usec == 0);
  CHECK(seen::blocks(seen)[1].queue.scheduler == "");
}

TEST_CASE("read-ahead is clamped to the workload") {
  struct Row {
    Workload workload;
    std::uint64_t chunk_kib;
    std::uint64_t members, expected;
  };
  for (const Row& row : {Row{Workload::streaming, 128, 4, 1024}, Row{Workload::streaming, 256, 4, 2048},
                         Row{Workload::random, 128, 4, 128}, Row{Workload::checkpoint, 4096, 4, 16384},
                         Row{Workload::streaming, 192, 4, 1536}, Row{Workload::streaming, 8192, 4, 16384}}) {
    Spec spec = one_volume(row.workload);
    spec.volumes.front().chunk = Bytes{row.chunk_kib * 1024};
    Inventory seen = with_volume(spec);
    seen::device(seen, array_key()).queue.read_ahead_kb = 4;
    settle(spec, seen);
    INFO(row.chunk_kib);
    CHECK(seen::device(seen, array_key()).queue.read_ahead_kb == row.expected);
  }
}

TEST_CASE("the logical volume of a volume of LVM is read ahead of as an array is") {
  const Spec spec = one_volume();
  Inventory seen = with_volume(spec);
  seen::records(seen).volumes.front().stack = "lvm";
  BlockDevice& device = seen::device(seen, array_key());
  device.key = {"lv:" + group_name("train", kGeneration) + "/data"};
  device.queue.read_ahead_kb = 4;
  const Draft draft = block_queue(spec, seen);
  const auto of_volume = [&](const Action& action) {
    const auto& write = std::get<WriteAttribute>(action.steps.front());
    return write.device == seen::blocks(seen).back().key && write.path == "queue/read_ahead_kb";
  };
  CHECK(std::count_if(draft.actions.begin(), draft.actions.end(), of_volume) == 1);
}

TEST_CASE("random volumes complete on the submitting CPU only where queues are few") {
  const Spec spec = one_volume(Workload::random);
  Inventory seen = with_volume(spec);
  seen.controllers.value().front().queue_count = 3;  // 2 for I/O, 4 CPUs
  settle(spec, seen);
  CHECK(seen::blocks(seen)[1].queue.rq_affinity == 2);
  seen.controllers.value().front().queue_count = 5;
  settle(spec, seen);
  CHECK(seen::blocks(seen)[1].queue.rq_affinity == 1);
}

TEST_CASE("devices that are not ours, and the system's, are never tuned") {
  const Spec spec = one_volume();
  Inventory seen = with_volume(spec);
  BlockDevice foreign = seen::local_ssd(40);
  foreign.queue.scheduler = "mq-deadline";
  seen::blocks(seen).push_back(foreign);
  seen::blocks(seen).front().queue.scheduler = "mq-deadline";  // the root disk
  for (const Action& action : block_queue(spec, seen).actions) {
    CHECK(action.id.find(foreign.key.text) == std::string::npos);
    CHECK(action.id.find("virtio-root") == std::string::npos);
  }
}

TEST_CASE("exported drives are tuned on the target once they are served") {
  Inventory seen = seen::machine();
  BlockDevice drive = seen::local_ssd(1);
  drive.queue.scheduler = "mq-deadline";
  seen::blocks(seen).push_back(drive);
  CHECK(block_queue(Spec{}, seen).actions.empty());
  seen::records(seen).exports.push_back({.drive = drive.key, .subsystem_nqn = "n", .nsid = 1, .served = true});
  REQUIRE(block_queue(Spec{}, seen).actions.size() == 1);
}

TEST_CASE("dirty limits follow the write rate, and giving back restores the ratio that was in force") {
  Spec spec = one_volume();
  Inventory seen = with_volume(spec);
  settle(spec, seen);
  CHECK(value_of(seen, "vm.dirty_background_bytes") == std::to_string(100'000'000 / 4096 * 4096));
  CHECK(value_of(seen, "vm.dirty_bytes") == std::to_string(400'000'000 / 4096 * 4096));
  CHECK(value_of(seen, "vm.dirty_ratio") == "0");
  spec.tuning.profile = "off";
  settle(spec, seen);
  CHECK(value_of(seen, "vm.dirty_ratio") == "20");
  CHECK(value_of(seen, "vm.dirty_bytes") == "0");
  CHECK(value_of(seen, "vm.dirty_background_ratio") == "10");
  CHECK(seen::records(seen).tunings.empty());
}

TEST_CASE("bytes that were in force before are given back as bytes") {
  Spec spec = one_volume();
  Inventory seen = with_volume(spec);
  seen.sysctls.value() = {{"vm.dirty_bytes", "1048576", ""}, {"vm.dirty_ratio", "0", ""}};
  settle(spec, seen);
  spec.volumes.clear();
  settle(spec, seen);
  CHECK(value_of(seen, "vm.dirty_bytes") == "1048576");
}

TEST_CASE("a rate that the kernel's own ratio covers sets nothing") {
  Spec spec = one_volume();
  spec.volumes.front().want_write = BytesPerSecond{50'000'000'000};
  const Inventory seen = with_volume(spec);
  CHECK(sysctl(spec, seen).actions.empty());
}

TEST_CASE("A-77 a setter in sysctl.d or tuned is told and not fought") {
  const Spec spec = one_volume();
  Inventory seen = with_volume(spec);
  seen.sysctls.value()[1].foreign_setter = "/etc/sysctl.d/90-db.conf";
  const Draft draft = sysctl(spec, seen);
  CHECK(draft.actions.size() == 1);
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().standing == Standing::note);
  CHECK(draft.conflicts.front().id == "tuning.foreign_setter");
}

TEST_CASE("A-77 a value that somebody keeps changing back is left to them after three times") {
  const Spec spec = one_volume();
  Inventory seen = with_volume(spec);
  seen::device(seen, array_key()).queue.read_ahead_kb = 4096;
  settle(spec, seen);
  for (std::uint32_t round = 1; round <= kMaxForeignChanges; ++round) {
    seen::device(seen, array_key()).queue.read_ahead_kb = 4096;
    settle(spec, seen);
    CHECK(seen::device(seen, array_key()).queue.read_ahead_kb == 1024);
  }
  seen::device(seen, array_key()).queue.read_ahead_kb = 4096;
  const Draft draft = block_queue(spec, seen);
  CHECK(draft.actions.empty());
  REQUIRE(draft.conflicts.size() == 1);
  CHECK(draft.conflicts.front().id == "tuning.foreign_changes");
}

TEST_CASE("a new boot or a re-plugged disk starts from defaults, which is nobody's change") {
  const Spec spec = one_volume();
  Inventory seen = with_volume(spec);
  settle(spec, seen);
  for (std::uint64_t boot = 1; boot < 8; ++boot) {
    seen.identity.value().boot_id = "boot" + std::to_string(boot);
    for (BlockDevice& device : seen::blocks(seen)) {
      device.diskseq += 100;
      device.queue.rq_affinity = 0;
    }
    for (Sysctl& one : seen.sysctls.value())
      one.value = one.name == "vm.dirty_ratio" ? "20" : one.name == "vm.dirty_background_ratio" ? "10" : "0";
    CHECK(block_queue(spec, seen).conflicts.empty());
    settle(spec, seen);
  }
  for (const TuningRecord& record : seen::records(seen).tunings) CHECK(record.foreign_changes == 0);
}

TEST_CASE("revert gives back everything that was tuned, and forgets what somebody else has changed since") {
  const Spec spec = one_volume();
  Inventory seen = with_volume(spec);
  seen::device(seen, array_key()).queue.read_ahead_kb = 4096;
  seen::blocks(seen)[1].queue.scheduler = "mq-deadline";
  settle(spec, seen);
  seen::blocks(seen)[1].queue.scheduler = "kyber";
  for (const Action& action : revert_tuning(spec, seen).actions) {
    CHECK(guard::judge(action, spec, seen) == guard::Veto{});
    carry_out(seen, action);
  }
  CHECK(seen::records(seen).tunings.empty());
  CHECK(seen::device(seen, array_key()).queue.read_ahead_kb == 4096);
  CHECK(seen::blocks(seen)[1].queue.scheduler == "kyber");
  CHECK(value_of(seen, "vm.dirty_ratio") == "20");
}

TEST_CASE("A-78 a time-out for network disks is set to a finite one only where there is no network disk") {
  const Spec spec = one_volume();
  Inventory seen = with_volume(spec);
  seen.kernel.value().module_parameters["nvme_core.io_timeout"] = "4294967295";
  REQUIRE(nvme_parameters(spec, seen).actions.size() == 1);
  settle(spec, seen);
  CHECK(seen.kernel.value().module_parameters["nvme_core.io_timeout"] == "30");
  Inventory cloud = with_volume(spec);
  cloud.kernel.value().module_parameters["nvme_core.io_timeout"] = "4294967295";
  BlockDevice disk = seen::local_ssd(50);
  disk.kind = DeviceKind::network_disk;
  seen::blocks(cloud).push_back(disk);
  CHECK(nvme_parameters(spec, cloud).actions.empty());
  REQUIRE(nvme_parameters(spec, cloud).conflicts.size() == 1);
}

TEST_CASE("every setting that is made has its row with a reason in the table") {
  const Spec spec = one_volume(Workload::random);
  Inventory seen = with_volume(spec);
  seen.kernel.value().module_parameters["nvme_core.io_timeout"] = "4294967295";
  for (BlockDevice& device : seen::blocks(seen)) {
    device.queue.wbt_lat_usec = 2000;
    device.queue.rq_affinity = 0;
    device.queue.scheduler = "mq-deadline";
  }
  seen::device(seen, array_key()).queue.read_ahead_kb = 1;
  settle(spec, seen);
  const auto rows = tuning_table();
  for (const TuningRow& row : rows) {
    INFO(row.name);
    CHECK(std::any_of(seen::records(seen).tunings.begin(), seen::records(seen).tunings.end(),
                      [&](const TuningRecord& record) { return record.attribute == row.name; }));
    CHECK(row.reason.size() > 20);
  }
  for (const TuningRecord& record : seen::records(seen).tunings) {
    CHECK(std::any_of(rows.begin(), rows.end(), [&](const TuningRow& row) { return row.name == record.attribute; }));
  }
}

// Owns the making of the host.
#include "tests/telemetry/full_host.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include "agent/base/uuid.hpp"
#include "tests/support/seen.hpp"

namespace nvstripe::full {
namespace {

constexpr std::uint64_t kGeneration = 7;

Uuid array() { return derive(seen::host_id(), "array", "train", kGeneration); }

void put_volume(Inventory& host) {
  VolumeRecord record;
  record.name = "train";
  record.stack = "md";
  record.generation = kGeneration;
  record.stage = Stage::made;
  record.mount_path = "/mnt/train";
  for (const BlockDevice& block : host.blocks.value())
    if (block.kind == DeviceKind::remote_namespace && record.members.size() < 4) record.members.push_back(block.key);
  seen::records(host).volumes.push_back(record);
  seen::run_array(host, array(), "nvs-train", record.members);
  const DeviceKey key{"md:" + to_text(array())};
  seen::put_signature(seen::device(host, key), {"xfs", "11112222-3333-4444-8555-666677778888", "nvs-train", false});
  seen::mount(host, key, "/mnt/train");
  host.lvm.value().groups.push_back(LvmGroup{.name = "other", .uuid = "u", .missing_pvs = 1, .pvs = 2});
}

void put_exports(Inventory& host) {
  BlockDevice exported = seen::local_ssd(1), odd = seen::local_ssd(2);
  odd.model = "say \"ah\"\\\nand \xff bye";
  odd.controllers = exported.controllers = {"nvme0"};
  host.controllers.value().push_back(NvmeController{.kernel_name = "nvme0", .transport = "pcie", .state = "live"});
  TargetConfiguration& target = host.exports.value();
  target.loaded = true;
  target.subsystems.push_back(
      {.nqn = "nqn.2026-11.io.nvstripe:pool:1", .namespaces = {{1, "/dev/disk/by-id/nvme-" + exported.wwid, "", "", true}}});
  target.ports.push_back({"1024", "rdma", "ipv4", "10.9.0.11", "4420", {"nqn.2026-11.io.nvstripe:pool:1"}});
  host.blocks.value().push_back(exported);
  host.blocks.value().push_back(odd);
}

}  // namespace

api::Snapshot snapshot() {
  api::Snapshot out;
  out.taken = out.spec.loaded = "2026-01-01T00:00:00Z";
  out.spec.spec = seen::two_target_spec();
  out.spec.spec.exports.push_back(seen::pool("pool", {seen::hostnqn(seen::other_host_id())}));
  Inventory& host = out.pass.seen;
  host = seen::two_targets_connected();
  put_volume(host);
  put_exports(host);
  for (NvmeController& controller : host.controllers.value())
    if (controller.traddr == "10.9.0.2") controller.state = "connecting";
  for (TargetView& target : host.targets.value())
    if (target.connection == "s2") target.tcp = target.rdma = Reach::silent;
  Records& records = seen::records(host);
  records.connections.push_back({"s1", seen::subsystem_nqn("s1"), "rdma", "10.9.0.1", "4420", "10.9.0.11", "boot"});
  records.tunings.push_back({"sysctl", "vm.dirty_bytes", "0", "4000", 0, "boot"});
  records.tunings.push_back({"nvme:uuid.1/1", "queue/scheduler", "mq-deadline", "none", 2, "1"});
  records.tunings.push_back({"nvme:uuid.2/1", "queue/scheduler", "mq-deadline", "none", 0, "1"});
  records.holds.push_back({"export:other", "hold"});
  out.pass.plan.conflicts.push_back(
      {"connection 's2'", "connection:s2", "why", "remedy", Standing::waiting, "connection.x"});
  out.pass.withheld = {"mount.remount:train"};
  std::sort(host.blocks.value().begin(), host.blocks.value().end(),
            [](const BlockDevice& a, const BlockDevice& b) { return a.key < b.key; });
  return out;
}

api::Measured measured() {
  api::Measured out;
  AgentCounters& counters = out.counters;
  counters.started = 1767225600;
  count_collector(counters, "nvme", 0.004, true, 1767225660);
  count_collector(counters, "md", 0.002, false, 1767225660);
  count_collector(counters, kSpaceCollector, 0.01, true, 1767225661);
  count_collector(counters, kHealthCollector, 10, false, 1767225661);
  count_pass(counters, 0.2, true, 1767225650);
  count_pass(counters, 400, false, 1767225660);
  count_action(counters, {"md.create:train", "make it", "", ""});
  count_action(counters, {"md.create:train", "make it", "no", "try"});
  const Inventory before = seen::two_targets_connected();
  count_controllers(counters, before);
  count_controllers(counters, snapshot().pass.seen);
  out.figures.spaces["train"] = {34'000'000'000, 12'000'000'000, 5'000'000};
  DriveHealth health;
  health.critical_warning = 0b101;
  health.celsius = {{0, 41}, {1, 44}};
  health.spare_ratio = 1;
  health.spare_threshold_ratio = 0.1;
  health.used_ratio = 1.02;
  health.read_bytes = 512000.0 * 3;
  health.written_bytes = 512000.0 * 7;
  health.power_on_seconds = 7200;
  health.media_errors = 1;
  health.error_log_entries = 2;
  health.unsafe_shutdowns = 3;
  out.figures.healths[seen::local_ssd(1).key] = health;
  return out;
}

void write_io_counts(const std::string& sys_block) {
  const Inventory host = snapshot().pass.seen;
  for (const MdArray& one : host.arrays.value()) {
    const BlockDevice* device = host.find_kernel_name(one.kernel_name);
    const std::filesystem::path folder = std::filesystem::path(sys_block) / one.kernel_name;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "diskseq") << device->diskseq << "\n";
    std::ofstream(folder / "stat") << "     100  0  2048  1500  50 0 4096 2500 3 1000 4000 7 0 8 9 10 250\n";
    std::ofstream(folder / "inflight") << "       2        1\n";
  }
}

SampleSet samples(const std::string& sys_block) {
  const api::Snapshot at = snapshot();
  CoreView rest{.version = NVSTRIPE_VERSION, .pass = at.pass};
  rest.spools.push_back({"events", "job", 3, 2100, 1, 1767225000});
  rest.spools.push_back({"events", "state", 0, 0, 0, 0});
  rest.dropped_events = {{"state", 12}};
  rest.jobs.running = {{"systemd", 1}};
  rest.jobs.completed = {{"systemd", {{"success", 4}, {"failed", 1}}}};
  rest.jobs.seconds["systemd"].observe(100, find_metric("nvstripe_job_duration_seconds")->bounds);
  SampleGathering all;
  for (const SampleSet& part : {api::metrics_of(at, api::status_of(at), measured(), sys_block), core_samples(rest)}) {
    for (const Family& family : part) {
      for (const Sample& sample : family.samples) {
        if (sample.counts.empty())
          all.add(family.name, sample.labels, sample.value);
        else
          all.add(family.name, sample.labels, Distribution{sample.counts, sample.value});
      }
    }
  }
  return all.take();
}

double value(const SampleSet& samples, const std::string& name, const std::vector<std::string>& labels) {
  for (const Family& family : samples) {
    for (const Sample& sample : family.samples)
      if (family.name == name && sample.labels == labels) return sample.value;
  }
  return std::numeric_limits<double>::quiet_NaN();  // equal to nothing
}

bool has(const SampleSet& samples, const std::string& name) {
  return std::any_of(samples.begin(), samples.end(), [&](const Family& family) { return family.name == name; });
}

}  // namespace nvstripe::full

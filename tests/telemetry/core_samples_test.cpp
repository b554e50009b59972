// Tests that the samples say what the snapshot says, leave out what is not known, and fill the table.
#include <set>

#include "agent/base/text.hpp"
#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"
#include "tests/telemetry/full_host.hpp"

using namespace nvstripe;

namespace {

SampleSet of(const api::Snapshot& snapshot, const api::Measured& measured = {}) {
  return api::metrics_of(snapshot, api::status_of(snapshot), measured, "/nowhere");
}

const std::string kArray = "md:" + to_text(derive(seen::host_id(), "array", "train", 7));

}  // namespace

TEST_CASE("every row of the core is filled, every sample fits its row, and nothing else is said") {
  const test::Folder folder;
  full::write_io_counts(folder.path());
  const SampleSet samples = full::samples(folder.path());
  std::set<std::string> filled;
  for (const Family& family : samples) {
    INFO(family.name);
    filled.insert(family.name);
    const MetricRow* row = find_metric(family.name);
    REQUIRE(row != nullptr);
    CHECK(row->source == MetricSource::core);
    CHECK_FALSE(family.samples.empty());
    for (const Sample& sample : family.samples) {
      CHECK(sample.labels.size() == row->labels.size());
      CHECK(sample.counts.size() == (row->kind == MetricKind::histogram ? row->bounds.size() + 1 : 0));
      for (const std::string& label : sample.labels) CHECK(to_utf8(label) == label);
    }
  }
  for (const MetricRow& row : all_metrics()) {
    INFO(row.name);
    CHECK((row.source == MetricSource::uplink || filled.contains(std::string(row.name))));
  }
}

TEST_CASE("a mounted volume shows its I/O in base units, its space, its state and its members") {
  const test::Folder folder;
  full::write_io_counts(folder.path());
  const SampleSet samples = full::samples(folder.path());
  const auto value = [&](const std::string& name, std::vector<std::string> labels) {
    return full::value(samples, "nvstripe_volume_" + name, labels);
  };
  CHECK(value("info", {"train", kArray, "md", "rdma", "11112222-3333-4444-8555-666677778888", "/mnt/train"}) == 1);
  CHECK(value("state", {"train", "mounted"}) == 1);
  CHECK(value("state", {"train", "degraded"}) == 0);
  CHECK(value("mounted", {"train"}) == 1);
  CHECK(value("members", {"train"}) == 4);
  CHECK(value("members_live", {"train"}) == 4);
  CHECK(value("read_bytes_total", {"train"}) == 2048 * 512);
  CHECK(value("written_bytes_total", {"train"}) == 4096 * 512);
  CHECK(value("reads_completed_total", {"train"}) == 100);
  CHECK(value("writes_completed_total", {"train"}) == 50);
  CHECK(value("discards_completed_total", {"train"}) == 7);
  CHECK(value("read_time_seconds_total", {"train"}) == 1.5);
  CHECK(value("write_time_seconds_total", {"train"}) == 2.5);
  CHECK(value("flush_time_seconds_total", {"train"}) == 0.25);
  CHECK(value("io_time_seconds_total", {"train"}) == 1);
  CHECK(value("io_time_weighted_seconds_total", {"train"}) == 4);
  CHECK(value("inflight", {"train", "read"}) == 2);
  CHECK(value("inflight", {"train", "write"}) == 1);
  CHECK(value("free_bytes", {"train"}) == 12e9);
}

TEST_CASE("I/O counts of another disk that has the array's name by now are not shown") {
  const test::Folder folder;
  full::write_io_counts(folder.path());
  folder.write("md127/diskseq", "123456\n");
  const api::Snapshot snapshot = full::snapshot();
  const SampleSet samples = api::metrics_of(snapshot, api::status_of(snapshot), full::measured(), folder.path());
  CHECK_FALSE(full::has(samples, "nvstripe_volume_read_bytes_total"));
  CHECK(full::has(samples, "nvstripe_volume_info"));
}

TEST_CASE("space that was read before is not shown of a volume that is not mounted") {
  api::Snapshot snapshot = full::snapshot();
  snapshot.pass.seen.mounts.value().mounts.clear();
  const SampleSet samples = of(snapshot, full::measured());
  CHECK(full::value(samples, "nvstripe_volume_mounted", {"train"}) == 0);
  CHECK_FALSE(full::has(samples, "nvstripe_volume_free_bytes"));
}

TEST_CASE("controllers are named without kernel names, with one state each, and paths are counted by subsystem") {
  const SampleSet samples = of(full::snapshot(), full::measured());
  const std::string s1 = "s1:0000000000000001", s2 = "s2:0000000000000001";
  CHECK(full::value(samples, "nvstripe_nvmeof_controller_state", {s1, "rdma:10.9.0.1:4420", "live"}) == 1);
  CHECK(full::value(samples, "nvstripe_nvmeof_controller_state", {s2, "rdma:10.9.0.2:4420", "live"}) == 0);
  CHECK(full::value(samples, "nvstripe_nvmeof_controller_state", {s2, "rdma:10.9.0.2:4420", "connecting"}) == 1);
  CHECK(full::value(samples, "nvstripe_nvmeof_paths", {s2}) == 1);
  CHECK(full::value(samples, "nvstripe_nvmeof_paths_live", {s2}) == 0);
  CHECK(full::value(samples, "nvstripe_nvmeof_losses_total", {s2, "rdma:10.9.0.2:4420"}) == 1);
  CHECK(full::value(samples, "nvstripe_nvmeof_reconnects_total", {s2, "rdma:10.9.0.2:4420"}) == 0);
  CHECK(full::value(samples, "nvstripe_connection_reachable", {"s1", "tcp"}) == 1);
  CHECK(full::value(samples, "nvstripe_connection_reachable", {"s2", "rdma"}) == 0);
  CHECK(full::value(samples, "nvstripe_nvmeof_controller_info",
                    {s1, "rdma:10.9.0.1:4420", "s1", seen::subsystem_nqn("s1"), "rdma", "10.9.0.1"}) == 1);
}

TEST_CASE("no kernel name and no host NQN is in any label") {
  const test::Folder folder;
  full::write_io_counts(folder.path());
  for (const Family& family : full::samples(folder.path())) {
    for (const Sample& sample : family.samples) {
      for (const std::string& label : sample.labels) {
        INFO(family.name << " " << label);
        for (const char* name : {"nvme0", "nvme100", "nvme101", "md127"}) CHECK(label != name);
        CHECK(label.find(to_text(seen::host_id())) == std::string::npos);
        CHECK(label.find(to_text(seen::other_host_id())) == std::string::npos);
      }
    }
  }
}

TEST_CASE("drives are counted by what they are used for") {
  const SampleSet samples = of(full::snapshot());
  CHECK(full::value(samples, "nvstripe_devices", {"member"}) == 4);
  CHECK(full::value(samples, "nvstripe_devices", {"exported"}) == 1);
  CHECK(full::value(samples, "nvstripe_devices", {"system"}) == 1);
  CHECK(full::value(samples, "nvstripe_devices", {"free"}) == 1);
  CHECK(full::value(samples, "nvstripe_devices", {"foreign"}) == 4);  // behind the controller that is away
  CHECK(full::value(samples, "nvstripe_nvme_up", {seen::local_ssd(1).key.text}) == 1);
}

TEST_CASE("drives that answer with one identity are counted and not shown as one") {
  api::Snapshot snapshot = full::snapshot();
  BlockDevice twin = seen::local_ssd(2);
  twin.ambiguous_key = true;
  seen::device(snapshot.pass.seen, twin.key).ambiguous_key = true;
  auto& blocks = snapshot.pass.seen.blocks.value();
  blocks.insert(std::find_if(blocks.begin(), blocks.end(), [&](const BlockDevice& one) { return one.key == twin.key; }),
                twin);
  const SampleSet samples = of(snapshot);
  CHECK(full::value(samples, "nvstripe_devices", {"foreign"}) == 6);
  CHECK_FALSE(full::value(samples, "nvstripe_device_size_bytes", {twin.key.text}) > 0);
}

TEST_CASE("a facet that cannot be seen leaves its families out and its collector without success") {
  struct Blind {
    const char* collector;
    std::vector<const char*> gone;
    void (*blind)(Inventory&);
  };
  const std::vector<Blind> cases{
      {"nvme",
       {"nvstripe_nvmeof_paths", "nvstripe_nvme_up", "nvstripe_devices", "nvstripe_volume_state"},
       [](Inventory& seen) { seen.controllers = Facet<std::vector<NvmeController>>::unavailable("x"); }},
      {"block",
       {"nvstripe_device_info", "nvstripe_devices", "nvstripe_volume_state"},
       [](Inventory& seen) { seen.blocks = Facet<std::vector<BlockDevice>>::unavailable("x"); }},
      {"md",
       {"nvstripe_md_state", "nvstripe_md_disks", "nvstripe_volume_state"},
       [](Inventory& seen) { seen.arrays = Facet<std::vector<MdArray>>::unavailable("x"); }},
      {"nvmet",
       {"nvstripe_export_ports", "nvstripe_export_namespaces", "nvstripe_devices", "nvstripe_export_state"},
       [](Inventory& seen) { seen.exports = Facet<TargetConfiguration>::unavailable("x"); }},
      {"lvm", {"nvstripe_lvm_missing_devices"}, [](Inventory& seen) { seen.lvm = Facet<Lvm>::unavailable("x"); }},
      {"mounts",
       {"nvstripe_volume_mounted", "nvstripe_volume_info"},
       [](Inventory& seen) { seen.mounts = Facet<Mounts>::unavailable("x"); }},
      {"identity", {"nvstripe_target_info"}, [](Inventory& seen) {
         seen.identity = Facet<HostIdentity>::unavailable("x");
       }}};
  const SampleSet whole = of(full::snapshot());
  for (const Blind& one : cases) {
    INFO(one.collector);
    CHECK(full::value(whole, "nvstripe_collector_success", {one.collector}) == 1);
    api::Snapshot snapshot = full::snapshot();
    one.blind(snapshot.pass.seen);
    const SampleSet samples = of(snapshot);
    CHECK(full::value(samples, "nvstripe_collector_success", {one.collector}) == 0);
    for (const char* gone : one.gone) {
      INFO(gone);
      CHECK(full::has(whole, gone));
      CHECK_FALSE(full::has(samples, gone));
    }
  }
}

TEST_CASE("before the first look only the agent speaks of itself") {
  const SampleSet samples = of(api::Snapshot{});
  CHECK(full::value(samples, "nvstripe_build_info", {NVSTRIPE_VERSION}) == 1);
  CHECK(full::value(samples, "nvstripe_spec_in_force", {}) == 0);
  CHECK(full::value(samples, "nvstripe_collector_success", {"nvme"}) == 0);
  for (const char* name : {"nvstripe_ready", "nvstripe_devices", "nvstripe_holds", "nvstripe_conflicts"}) {
    INFO(name);
    CHECK_FALSE(full::has(samples, name));
  }
}

TEST_CASE("passes, actions and background reads are counted") {
  const SampleSet samples = of(full::snapshot(), full::measured());
  CHECK(full::value(samples, "nvstripe_reconcile_runs_total", {}) == 2);
  CHECK(full::value(samples, "nvstripe_reconcile_failures_total", {}) == 1);
  CHECK(full::value(samples, "nvstripe_reconcile_last_success_timestamp_seconds", {}) == 1767225650);
  CHECK(full::value(samples, "nvstripe_reconcile_duration_seconds", {}) == 400.2);
  CHECK(full::value(samples, "nvstripe_actions_total", {"md.create"}) == 2);
  CHECK(full::value(samples, "nvstripe_action_failures_total", {"md.create"}) == 1);
  CHECK(full::value(samples, "nvstripe_collector_success", {"nvme_health"}) == 0);
  CHECK(full::value(samples, "nvstripe_collector_success", {"volume_space"}) == 1);
  CHECK(full::value(samples, "nvstripe_tuning_applied", {"queue/scheduler"}) == 2);
  CHECK(full::value(samples, "nvstripe_tuning_drift", {"queue/scheduler"}) == 1);
  CHECK(full::value(samples, "nvstripe_ready", {}) == 0);
}

TEST_CASE("a controller that comes back is counted once, and one that is gone takes its counts along") {
  AgentCounters counters;
  Inventory seen = seen::two_targets_connected();
  const auto pass = [&](const char* state) {
    seen.controllers.value().front().state = state;
    count_controllers(counters, seen);
    return counters.controllers.begin()->second;
  };
  for (const char* state : {"connecting", "connecting"}) (void)pass(state);
  CHECK(pass("live") == ControllerCount{"live", 0, 1});
  CHECK(pass("connecting") == ControllerCount{"connecting", 1, 1});
  CHECK(pass("deleting") == ControllerCount{"deleting", 1, 1});
  CHECK(pass("live") == ControllerCount{"live", 1, 2});
  const auto before = counters.controllers;
  Inventory blind = seen;
  blind.controllers = Facet<std::vector<NvmeController>>::unavailable("x");
  count_controllers(counters, blind);
  CHECK(counters.controllers == before);
  seen.controllers.value().erase(seen.controllers.value().begin());
  count_controllers(counters, seen);
  CHECK(counters.controllers.size() == 1);
}

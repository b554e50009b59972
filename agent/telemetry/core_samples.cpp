// Owns what the agent says of itself: version, looks, passes, actions, its outbox and jobs.
#include "agent/telemetry/core_samples.hpp"

#include <algorithm>
#include <array>

#include "agent/engine/tables.hpp"
#include "agent/telemetry/core_parts.hpp"

namespace nvstripe {
namespace {

void add_identity(const CoreView& view, SampleGathering& to) {
  const Inventory& seen = view.pass.seen;
  to.add("nvstripe_build_info", {view.version}, 1);
  to.add("nvstripe_start_time_seconds", view.counters.started);
  if (!seen.identity.is_known() || !seen.kernel.is_known()) return;
  const HostIdentity& identity = seen.identity.value();
  to.add("nvstripe_target_info",
         {identity.hostname, identity.provider, identity.availability_zone, seen.kernel.value().release}, 1);
}

void add_capabilities(const Inventory& seen, SampleGathering& to) {
  if (seen.kernel.is_known()) {
    const Kernel& kernel = seen.kernel.value();
    for (const char* module : {"nvme_tcp", "nvme_rdma", "nvmet_tcp", "nvmet_rdma"})
      if (kernel.modules_listed) to.add("nvstripe_capability", {module}, kernel.lacks_module(module) ? 0 : 1);
  }
  if (seen.rdma.is_known()) {
    const auto& devices = seen.rdma.value();
    const bool active =
        std::any_of(devices.begin(), devices.end(), [](const RdmaDevice& device) { return device.port_state == "ACTIVE"; });
    to.add("nvstripe_capability", {"rdma_device"}, active ? 1 : 0);
  }
}

void add_collector(std::string_view name, bool success, const CollectorRun* run, SampleGathering& to) {
  const std::string label(name);
  to.add("nvstripe_collector_success", {label}, success ? 1 : 0);
  if (run == nullptr) return;
  to.add("nvstripe_collector_duration_seconds", {label}, run->seconds);
  if (run->last_success > 0) to.add("nvstripe_collector_last_success_timestamp_seconds", {label}, run->last_success);
}

// Those of the table by what the snapshot shows, so that the families that are missing and this agree.
void add_collectors(const CoreView& view, SampleGathering& to) {
  const auto run_of = [&](std::string_view name) {
    const auto found = view.counters.collectors.find(name);
    return found == view.counters.collectors.end() ? nullptr : &found->second;
  };
  for (const Collector& collector : all_collectors()) {
    const bool known = view.looked && all_known(collector.writes, view.pass.seen);
    add_collector(collector.name, known, run_of(collector.name), to);
  }
  for (const std::string_view name : {kSpaceCollector, kHealthCollector}) {
    if (const CollectorRun* run = run_of(name)) add_collector(name, run->success, run, to);
  }
}

void add_passes(const CoreView& view, SampleGathering& to) {
  const AgentCounters& counters = view.counters;
  to.add("nvstripe_reconcile_runs_total", static_cast<double>(counters.passes));
  to.add("nvstripe_reconcile_failures_total", static_cast<double>(counters.failed_passes));
  if (counters.passes > 0) to.add("nvstripe_reconcile_duration_seconds", {}, counters.pass_seconds);
  if (counters.last_pass > 0) to.add("nvstripe_reconcile_last_success_timestamp_seconds", counters.last_pass);
  to.add("nvstripe_spec_in_force", view.spec_in_force ? 1 : 0);
  to.add("nvstripe_spec_accepted", view.spec_accepted ? 1 : 0);
  for (const auto& [action, count] : counters.actions) {
    to.add("nvstripe_actions_total", {action}, static_cast<double>(count.done + count.failed));
    to.add("nvstripe_action_failures_total", {action}, static_cast<double>(count.failed));
  }
  if (!view.looked) return;
  to.add("nvstripe_actions_pending", {"withheld"}, static_cast<double>(view.pass.withheld.size()));
  to.add("nvstripe_actions_pending", {"backed_off"}, static_cast<double>(view.pass.backed_off.size()));
  const auto& conflicts = view.pass.plan.conflicts;
  for (const Standing standing : {Standing::note, Standing::waiting, Standing::refused}) {
    const auto count = std::count_if(conflicts.begin(), conflicts.end(),
                                     [&](const Conflict& conflict) { return conflict.standing == standing; });
    to.add("nvstripe_conflicts", {std::string(to_text(standing))}, static_cast<double>(count));
  }
}

void add_spools(const CoreView& view, SampleGathering& to) {
  for (const SpoolView& spool : view.spools) {
    const std::vector<std::string> labels{spool.sink, spool.stream};
    to.add("nvstripe_spool_records", labels, static_cast<double>(spool.records));
    to.add("nvstripe_spool_bytes", labels, static_cast<double>(spool.bytes));
    to.add("nvstripe_spool_dead_letter_records", labels, static_cast<double>(spool.dead_letters));
    if (spool.oldest > 0) to.add("nvstripe_spool_oldest_timestamp_seconds", labels, spool.oldest);
  }
  for (const auto& [stream, count] : view.dropped_events)
    to.add("nvstripe_spool_dropped_total", {stream}, static_cast<double>(count));
}

void add_jobs(const CoreView& view, SampleGathering& to) {
  for (const auto& [source, count] : view.jobs.running)
    to.add("nvstripe_jobs_running", {source}, static_cast<double>(count));
  for (const auto& [source, results] : view.jobs.completed) {
    for (const auto& [result, count] : results)
      to.add("nvstripe_jobs_completed_total", {source, result}, static_cast<double>(count));
  }
  for (const auto& [source, seconds] : view.jobs.seconds) to.add("nvstripe_job_duration_seconds", {source}, seconds);
}

}  // namespace

void add_agent(const CoreView& view, SampleGathering& to) {
  add_identity(view, to);
  if (view.looked) {
    to.add("nvstripe_ready", view.ready ? 1 : 0);
    add_capabilities(view.pass.seen, to);
  }
  add_collectors(view, to);
  add_passes(view, to);
  add_spools(view, to);
  add_jobs(view, to);
}

void add_tuning(const CoreView& view, SampleGathering& to) {
  if (!view.pass.seen.records.is_known()) return;
  const Records& records = view.pass.seen.records.value();
  std::map<std::string, std::pair<double, double>> settings;  // set by us, and changed by others since
  for (const TuningRecord& record : records.tunings) {
    auto& [applied, drifted] = settings[record.attribute];
    ++applied;
    if (record.foreign_changes > 0) ++drifted;
  }
  for (const auto& [setting, counts] : settings) {
    to.add("nvstripe_tuning_applied", {setting}, counts.first);
    to.add("nvstripe_tuning_drift", {setting}, counts.second);
  }
  to.add("nvstripe_holds", static_cast<double>(records.holds.size()));
}

SampleSet core_samples(const CoreView& view) {
  SampleGathering to;
  add_agent(view, to);
  if (view.looked) {
    add_devices(view, to);
    add_health(view, to);
    add_controllers(view, to);
    add_targets(view, to);
    add_exports(view, to);
    add_arrays(view, to);
    add_volumes(view, to);
    add_tuning(view, to);
  }
  return to.take();
}

}  // namespace nvstripe

// Owns the one table of metrics, of both processes. A row is there only when something fills it.
#include <algorithm>

#include "agent/telemetry/sample.hpp"

namespace nvstripe {
namespace {

MetricRow row(std::string_view name, MetricKind kind, std::string_view help, std::vector<std::string_view> labels) {
  return {name, kind, help, std::move(labels)};
}
MetricRow gauge(std::string_view name, std::string_view help, std::vector<std::string_view> labels = {}) {
  return row(name, MetricKind::gauge, help, std::move(labels));
}
MetricRow counter(std::string_view name, std::string_view help, std::vector<std::string_view> labels = {}) {
  return row(name, MetricKind::counter, help, std::move(labels));
}
MetricRow histogram(std::string_view name, std::string_view help, std::vector<std::string_view> labels,
                    std::vector<double> bounds) {
  MetricRow made = row(name, MetricKind::histogram, help, std::move(labels));
  made.bounds = std::move(bounds);
  return made;
}
MetricRow of_uplink(MetricRow made) {
  made.source = MetricSource::uplink;
  return made;
}

const std::vector<double> kPassBounds{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300};
const std::vector<double> kRequestBounds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
const std::vector<double> kJobBounds{10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 72 * 3600, 168 * 3600};

const std::vector<MetricRow> kMetrics{
    // The agent itself.
    gauge("nvstripe_build_info", "Version of the agent; always 1.", {"version"}),
    gauge("nvstripe_target_info", "The machine: name, cloud, place and kernel; always 1. Join it where a series needs them.",
          {"hostname", "cloud", "availability_zone", "kernel"}),
    gauge("nvstripe_start_time_seconds", "When the agent was started, in seconds since 1970."),
    gauge("nvstripe_ready", "1 while all exports and volumes of the spec are as asked and nothing failed."),
    gauge("nvstripe_capability", "1 where the kernel has the module, or a port of an RDMA device is active.", {"feature"}),
    gauge(
        "nvstripe_collector_success",
        "1 when the last look of the collector could see all; at 0 the families that it feeds are left out or stay behind.",
        {"collector"}),
    gauge("nvstripe_collector_duration_seconds", "How long the last look of the collector took.", {"collector"}),
    gauge("nvstripe_collector_last_success_timestamp_seconds",
          "When the collector last could see all, in seconds since 1970.", {"collector"}),

    // Drives; partitions, arrays and volumes are not among them.
    gauge("nvstripe_device_info", "A drive with an identity of its own; always 1.",
          {"device", "model", "serial", "firmware", "transport", "role"}),
    gauge("nvstripe_device_size_bytes", "Size of a drive.", {"device"}),
    gauge("nvstripe_device_logical_block_size_bytes", "Smallest unit that a drive reads or writes.", {"device"}),
    gauge("nvstripe_devices",
          "Drives by what they are used for: free, member of a volume, exported, foreign (not ours, or not usable), system.",
          {"role"}),
    gauge("nvstripe_nvme_up", "1 while a controller that reaches the drive is live.", {"device"}),

    // SMART, of local NVMe drives whose controller is live.
    gauge("nvstripe_nvme_critical_warning",
          "1 while the drive gives this warning. Read in the background about once a minute.", {"device", "warning"}),
    gauge("nvstripe_nvme_temperature_celsius",
          "Temperature of the drive, by sensor. Read in the background about once a minute.", {"device", "sensor"}),
    gauge("nvstripe_nvme_available_spare_ratio",
          "Share of spare blocks that is left. Read in the background about once a minute.", {"device"}),
    gauge("nvstripe_nvme_available_spare_threshold_ratio",
          "Share of spare blocks below which the drive warns. Read in the background about once a minute.", {"device"}),
    gauge("nvstripe_nvme_percentage_used_ratio",
          "Share of its rated life that the drive used; may pass 1. Read in the background about once a minute.",
          {"device"}),
    counter("nvstripe_nvme_data_read_bytes_total",
            "Bytes read from the drive in its life, in steps of 512000. Read in the background about once a minute.",
            {"device"}),
    counter("nvstripe_nvme_data_written_bytes_total",
            "Bytes written to the drive in its life, in steps of 512000. Read in the background about once a minute.",
            {"device"}),
    counter("nvstripe_nvme_media_errors_total",
            "Errors of medium or data that the drive could not correct. Read in the background about once a minute.",
            {"device"}),
    counter("nvstripe_nvme_error_log_entries_total",
            "Entries that the drive ever wrote to its error log. Read in the background about once a minute.", {"device"}),
    counter("nvstripe_nvme_unsafe_shutdowns_total",
            "How often the drive lost power without notice. Read in the background about once a minute.", {"device"}),
    counter("nvstripe_nvme_power_on_seconds_total",
            "How long the drive was powered, in steps of an hour. Read in the background about once a minute.", {"device"}),

    // NVMe over fabrics, as host.
    gauge("nvstripe_nvmeof_controller_info",
          "A controller of this host to a target, named by transport, address and port; always 1.",
          {"subsystem", "controller", "connection", "nqn", "transport", "address"}),
    gauge("nvstripe_nvmeof_controller_state", "1 for the state that the controller is in.",
          {"subsystem", "controller", "state"}),
    gauge("nvstripe_nvmeof_paths", "Controllers to the subsystem.", {"subsystem"}),
    gauge("nvstripe_nvmeof_paths_live", "Controllers to the subsystem that are live; with 0 of them I/O waits or fails.",
          {"subsystem"}),
    counter("nvstripe_nvmeof_losses_total",
            "How often the controller was seen to leave the state live. What is over between two looks is not seen.",
            {"subsystem", "controller"}),
    counter("nvstripe_nvmeof_reconnects_total",
            "How often the controller was seen to be live again. What is over between two looks is not seen.",
            {"subsystem", "controller"}),
    gauge("nvstripe_connection_reachable",
          "1 while the target of the connection answers on this transport; left out while that is not known.",
          {"connection", "transport"}),

    // NVMe over fabrics, as target.
    gauge("nvstripe_export_namespaces", "Namespaces that are enabled and offered on a port.", {"transport"}),
    gauge("nvstripe_export_ports", "Ports that offer a subsystem.", {"transport"}),
    gauge("nvstripe_export_state", "1 for the state that the export is in.", {"export", "state"}),

    // Arrays and groups.
    gauge("nvstripe_md_state", "1 for the state that the kernel gives for the array.", {"device", "state"}),
    gauge("nvstripe_md_disks", "Members of the array: active, failed, spare.", {"device", "state"}),
    gauge("nvstripe_md_disks_required", "Members that the array has when it is whole.", {"device"}),
    gauge("nvstripe_md_degraded_disks", "Members that the array misses.", {"device"}),
    gauge("nvstripe_lvm_missing_devices", "Physical volumes that the volume group misses.", {"group"}),

    // Volumes. Counters start at 0 when the volume's array appears.
    gauge("nvstripe_volume_info", "A volume of the spec, or one that is left of it; always 1.",
          {"volume", "device", "stack", "transport", "fs_uuid", "mount_path"}),
    gauge("nvstripe_volume_state", "1 for the state that the volume is in, as 'nvstripe volumes' tells it.",
          {"volume", "state"}),
    gauge("nvstripe_volume_mounted", "1 while the volume is mounted where the spec says.", {"volume"}),
    gauge("nvstripe_volume_members", "Members that the volume was given.", {"volume"}),
    gauge("nvstripe_volume_members_live", "Members of the volume that can be reached.", {"volume"}),
    gauge("nvstripe_volume_size_bytes",
          "Size of the file system. Read in the background about once a minute, since it may hang where a drive is dead.",
          {"volume"}),
    gauge("nvstripe_volume_free_bytes",
          "Bytes that users may still write. Read in the background about once a minute, since it may hang where a drive is "
          "dead.",
          {"volume"}),
    gauge(
        "nvstripe_volume_inodes_free",
        "Files that may still be made. Read in the background about once a minute, since it may hang where a drive is dead.",
        {"volume"}),
    counter("nvstripe_volume_read_bytes_total", "Bytes read from the volume.", {"volume"}),
    counter("nvstripe_volume_written_bytes_total", "Bytes written to the volume.", {"volume"}),
    counter("nvstripe_volume_reads_completed_total", "Reads that were completed.", {"volume"}),
    counter("nvstripe_volume_writes_completed_total", "Writes that were completed.", {"volume"}),
    counter("nvstripe_volume_discards_completed_total", "Discards that were completed.", {"volume"}),
    counter("nvstripe_volume_read_time_seconds_total",
            "Time that reads took, summed over all; divided by their number it is the mean latency.", {"volume"}),
    counter("nvstripe_volume_write_time_seconds_total",
            "Time that writes took, summed over all; divided by their number it is the mean latency.", {"volume"}),
    counter("nvstripe_volume_flush_time_seconds_total", "Time that flushes took, summed over all.", {"volume"}),
    counter("nvstripe_volume_io_time_seconds_total", "Time during which some I/O was under way.", {"volume"}),
    counter("nvstripe_volume_io_time_weighted_seconds_total",
            "Time of all I/O, summed; its rate is the mean number of requests under way.", {"volume"}),
    gauge("nvstripe_volume_inflight", "Requests under way now.", {"volume", "op"}),

    // Settings, passes and actions.
    gauge("nvstripe_tuning_applied",
          "Drives on which the agent changed the setting, 1 for one of the whole machine; old values are kept.",
          {"setting"}),
    gauge("nvstripe_tuning_drift", "Of those, how many somebody else changed afterwards.", {"setting"}),
    gauge("nvstripe_holds", "Objects that the agent keeps its hands off, by hold, release or revert."),
    gauge("nvstripe_spec_in_force", "1 when there is a spec; without one the agent only looks."),
    gauge("nvstripe_spec_accepted",
          "0 while what lies in the spec's folders is rejected; the last good one, if there is one, stays in force."),
    counter("nvstripe_reconcile_runs_total", "Passes of the agent: looking, planning, acting."),
    counter("nvstripe_reconcile_failures_total",
            "Passes that could not run, since the agent's state could not be read or written."),
    histogram("nvstripe_reconcile_duration_seconds", "How long passes took, with all their actions.", {}, kPassBounds),
    gauge("nvstripe_reconcile_last_success_timestamp_seconds", "When a pass last could run, in seconds since 1970."),
    counter("nvstripe_actions_total", "Actions begun and ended, by noun and verb.", {"action"}),
    counter("nvstripe_action_failures_total", "Actions that failed, by noun and verb.", {"action"}),
    gauge("nvstripe_actions_pending",
          "Planned actions that wait: withheld for apply or acceptance, backed_off for a try after a failure.", {"reason"}),
    gauge("nvstripe_conflicts",
          "What will not be done as things are (refused), waits for something, or is only worth saying (note).",
          {"standing"}),

    // Waiting for upstream: from the outbox.
    gauge("nvstripe_spool_records", "Events that a sink has not acknowledged yet.", {"sink", "stream"}),
    gauge("nvstripe_spool_bytes", "Bytes of the events that a sink has not acknowledged yet.", {"sink", "stream"}),
    gauge("nvstripe_spool_oldest_timestamp_seconds",
          "When the oldest event happened that a sink has not acknowledged; left out where none waits.", {"sink", "stream"}),
    gauge("nvstripe_spool_dead_letter_records", "Events that a sink refused for good; 'nvstripe events --dead' lists them.",
          {"sink", "stream"}),
    counter("nvstripe_spool_dropped_total",
            "Events given up unacknowledged because the outbox was full; a gap record took their place.", {"stream"}),

    // Jobs: from the job records.
    gauge("nvstripe_jobs_running", "Jobs that have begun and not ended, by what told of them.", {"source"}),
    counter("nvstripe_jobs_completed_total",
            "Jobs that ended, by what told of them and how: success, failed, signalled, timeout, oom, unknown.",
            {"source", "result"}),
    histogram("nvstripe_job_duration_seconds", "How long jobs ran that ended.", {"source"}, kJobBounds),

    // What the uplink knows of itself.
    of_uplink(gauge("nvstripe_core_up",
                    "1 while the agent's root process answers the uplink; at 0 only the uplink's own metrics are shown.")),
    of_uplink(counter("nvstripe_upstream_requests_total",
                      "Requests to a sink, by the status of the answer; 'none' where no answer came.", {"sink", "code"})),
    of_uplink(counter("nvstripe_upstream_rejected_points_total",
                      "Points that a sink did not take out of a request that it took.", {"sink"})),
    of_uplink(counter("nvstripe_upstream_dropped_batches_total",
                      "Batches of metrics given up: refused by the sink, or pushed out by newer ones while it was away.",
                      {"sink"})),
    of_uplink(histogram("nvstripe_upstream_request_duration_seconds", "How long requests to a sink took.", {"sink"},
                        kRequestBounds)),
    of_uplink(gauge("nvstripe_upstream_last_success_timestamp_seconds",
                    "When a sink last took what it was sent, in seconds since 1970.", {"sink"})),
    of_uplink(gauge("nvstripe_upstream_backoff_seconds",
                    "How long the uplink waits before it tries a sink again; 0 while nothing failed.", {"sink"})),
};

}  // namespace

std::span<const MetricRow> all_metrics() { return kMetrics; }

const MetricRow* find_metric(std::string_view name) {
  const auto found = std::find_if(kMetrics.begin(), kMetrics.end(), [&](const MetricRow& row) { return row.name == name; });
  return found == kMetrics.end() ? nullptr : &*found;
}

std::string_view to_text(MetricKind kind) {
  switch (kind) {
    case MetricKind::gauge:
      return "gauge";
    case MetricKind::counter:
      return "counter";
    case MetricKind::histogram:
      return "histogram";
  }
  return "gauge";
}

std::string metric_reference() {
  std::string out = "| metric | type | labels | meaning |\n|---|---|---|---|\n";
  for (const MetricRow& row : kMetrics) {
    std::string labels;
    for (const std::string_view label : row.labels) labels.append(labels.empty() ? "" : ", ").append(label);
    out.append("| `").append(row.name).append("` | ").append(to_text(row.kind)).append(" | ");
    out.append(labels.empty() ? "none" : labels).append(" | ").append(row.help).append(" |\n");
  }
  return out;
}

}  // namespace nvstripe

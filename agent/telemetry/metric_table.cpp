// Owns the one table of metrics, of both processes. A row is there only when something fills it.
#include <algorithm>

#include "agent/telemetry/sample.hpp"

namespace nvstripe {
namespace {

using enum MetricKind;

const std::vector<double> kPassBounds{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300};
const std::vector<double> kRequestBounds{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30};
const std::vector<double> kJobBounds{10, 60, 300, 900, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 72 * 3600, 168 * 3600};

const std::vector<MetricRow> kMetrics{
    // The agent itself.
    {"nvstripe_build_info", gauge, "Version of the agent; always 1.", {"version"}, {}},
    {"nvstripe_start_time_seconds", gauge, "When the agent was started, in seconds since 1970.", {}, {}},

    // Waiting for upstream: from the outbox.
    {"nvstripe_spool_records", gauge, "Events that a sink has not acknowledged yet.", {"sink", "stream"}, {}},
    {"nvstripe_spool_bytes", gauge, "Bytes of the events that a sink has not acknowledged yet.", {"sink", "stream"}, {}},
    {"nvstripe_spool_oldest_timestamp_seconds",
     gauge,
     "When the oldest event happened that a sink has not acknowledged yet; left out where none waits.",
     {"sink", "stream"},
     {}},
    {"nvstripe_spool_dead_letter_records",
     gauge,
     "Events that a sink refused for good; 'nvstripe events --dead' lists them.",
     {"sink", "stream"},
     {}},
    {"nvstripe_spool_dropped_total",
     counter,
     "Events given up unacknowledged because the outbox was full; a gap record took their place.",
     {"stream"},
     {}},

    // Jobs: from the job records.
    {"nvstripe_jobs_running", gauge, "Jobs that have begun and not ended, by what told of them.", {"source"}, {}},
    {"nvstripe_jobs_completed_total",
     counter,
     "Jobs that ended, by what told of them and how (success, failed, signalled, timeout, unknown).",
     {"source", "result"},
     {}},
    {"nvstripe_job_duration_seconds", histogram, "How long jobs ran that ended.", {"source"}, kJobBounds},

    // What the uplink knows of itself.
    {"nvstripe_core_up",
     gauge,
     "1 while the agent's root process answers the uplink; else only metrics of the uplink are shown.",
     {},
     {},
     MetricSource::uplink},
    {"nvstripe_upstream_requests_total",
     counter,
     "Requests to a sink, by the status of the answer; 'none' where no answer came.",
     {"sink", "code"},
     {},
     MetricSource::uplink},
    {"nvstripe_upstream_request_duration_seconds",
     histogram,
     "How long requests to a sink took.",
     {"sink"},
     kRequestBounds,
     MetricSource::uplink},
    {"nvstripe_upstream_last_success_timestamp_seconds",
     gauge,
     "When a sink last took what it was sent, in seconds since 1970.",
     {"sink"},
     {},
     MetricSource::uplink},
    {"nvstripe_upstream_backoff_seconds",
     gauge,
     "How long the uplink waits before it tries a sink again; 0 while nothing failed.",
     {"sink"},
     {},
     MetricSource::uplink},
};

}  // namespace

std::span<const MetricRow> all_metrics() { return kMetrics; }

const MetricRow* find_metric(std::string_view name) {
  const auto found = std::find_if(kMetrics.begin(), kMetrics.end(), [&](const MetricRow& row) { return row.name == name; });
  return found == kMetrics.end() ? nullptr : &*found;
}

std::string_view to_text(MetricKind kind) {
  switch (kind) {
    case gauge:
      return "gauge";
    case counter:
      return "counter";
    case histogram:
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

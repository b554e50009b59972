// Owns the samples of a sink.
#include "agent/uplink/sink_figures.hpp"

#include <algorithm>

namespace nvstripe::uplink {

void SinkFigures::count(int status, double seconds, double now) {
  const std::lock_guard lock(mutex_);
  ++requests_[status];
  if (const MetricRow* row = find_metric("nvstripe_upstream_request_duration_seconds"))
    seconds_.observe(seconds, row->bounds);
  if (status >= 200 && status < 300) last_success_ = now;
}

void SinkFigures::set_backoff(const std::string& stream, double seconds) {
  const std::lock_guard lock(mutex_);
  backoff_[stream] = seconds;
}

void SinkFigures::count_rejected(double points) {
  const std::lock_guard lock(mutex_);
  rejected_ += points;
}

void SinkFigures::count_dropped(double batches) {
  const std::lock_guard lock(mutex_);
  dropped_ += batches;
}

void SinkFigures::add_to(SampleGathering& to) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [status, count] : requests_)
    to.add("nvstripe_upstream_requests_total", {sink_, status == 0 ? "none" : std::to_string(status)}, count);
  if (!requests_.empty()) to.add("nvstripe_upstream_request_duration_seconds", {sink_}, seconds_);
  if (last_success_ > 0) to.add("nvstripe_upstream_last_success_timestamp_seconds", {sink_}, last_success_);
  if (batches_) to.add("nvstripe_upstream_rejected_points_total", {sink_}, rejected_);
  if (batches_) to.add("nvstripe_upstream_dropped_batches_total", {sink_}, dropped_);
  double longest = 0;
  for (const auto& [stream, seconds] : backoff_) longest = std::max(longest, seconds);
  to.add("nvstripe_upstream_backoff_seconds", {sink_}, longest);
}

}  // namespace nvstripe::uplink

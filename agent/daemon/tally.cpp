// Owns the locking around the counters.
#include "agent/daemon/tally.hpp"

#include <utility>

namespace nvstripe::daemon {

Tally::Tally(std::function<double()> now) : now_(std::move(now)) { measured_.counters.started = now_(); }

void Tally::passed(Seconds took, const PassReport* report) {
  const std::lock_guard lock(mutex_);
  count_pass(measured_.counters, took.count(), report != nullptr, now_());
  if (report != nullptr) count_controllers(measured_.counters, report->seen);
}

void Tally::acted(const ActionOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  count_action(measured_.counters, outcome);
}

void Tally::collected(std::string_view collector, Seconds took, bool success) {
  const std::lock_guard lock(mutex_);
  count_collector(measured_.counters, collector, took.count(), success, now_());
}

void Tally::put_figures(Figures figures) {
  const std::lock_guard lock(mutex_);
  measured_.figures = std::move(figures);
}

api::Measured Tally::measured() const {
  const std::lock_guard lock(mutex_);
  return measured_;
}

}  // namespace nvstripe::daemon

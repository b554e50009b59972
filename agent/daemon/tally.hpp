// Owns Tally: the counters of a running daemon behind a lock. The engine, the collectors and the background count, the API
// reads a copy.
#pragma once
#include <chrono>
#include <functional>
#include <mutex>
#include <string_view>

#include "agent/api/metrics.hpp"

namespace nvstripe::daemon {

class Tally {
 public:
  using Seconds = std::chrono::duration<double>;
  // `now`: seconds since 1970.
  explicit Tally(std::function<double()> now);

  void passed(Seconds took, const PassReport* report);  // nullptr: the pass could not run
  void acted(const ActionOutcome& outcome);
  void collected(std::string_view collector, Seconds took, bool success);
  void put_figures(Figures figures);
  [[nodiscard]] api::Measured measured() const;

 private:
  std::function<double()> now_;
  mutable std::mutex mutex_;
  api::Measured measured_;
};

}  // namespace nvstripe::daemon

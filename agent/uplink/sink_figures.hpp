// Owns what is counted of a sink: requests by answer, how long they took, when one was taken last, how long it waits now.
#pragma once
#include <map>
#include <mutex>
#include <string>

#include "agent/telemetry/sample.hpp"

namespace nvstripe::uplink {

class SinkFigures {
 public:
  // `batches`: it takes batches of points, whose loss is counted.
  explicit SinkFigures(std::string sink, bool batches = true) : sink_(std::move(sink)), batches_(batches) {}
  void count(int status, double seconds, double now);           // status 0: no answer; now: since 1970
  void set_backoff(const std::string& stream, double seconds);  // 0: nothing failed
  void count_rejected(double points);
  void count_dropped(double batches);
  void add_to(SampleGathering& to) const;

 private:
  const std::string sink_;
  const bool batches_;
  mutable std::mutex mutex_;
  std::map<int, double> requests_;  // by status
  std::map<std::string, double> backoff_;
  Distribution seconds_;
  double last_success_ = 0, rejected_ = 0, dropped_ = 0;
};

}  // namespace nvstripe::uplink

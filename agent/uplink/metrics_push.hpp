// Owns the push of metrics to one sink: a batch each interval, kept in memory while the sink is away, oldest dropped first.
// It waits for nothing itself: each step says when the next one is due.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>

#include "agent/uplink/delivery.hpp"
#include "agent/uplink/sink_figures.hpp"

namespace nvstripe::uplink {

inline constexpr std::size_t kMaxBatches = 240;          // an hour at every 15 s
inline constexpr std::size_t kMaxBatchBytes = 4u << 20;  // of all of them, compressed

class MetricsPush {
 public:
  struct Parts {
    std::function<std::string()> take;  // a request's body of the samples now; empty: there is nothing
    Receiver& receiver;
    Verdict (*judge)(int status);
    std::function<void(const Posted&)> accepted;   // looks at what an accepting answer says
    std::function<double()> draw;                  // 0 to 1
    std::function<std::int64_t()> now;             // seconds since 1970, for Retry-After dates
    std::function<void(const std::string&)> tell;  // what is wrong upstream, or that it is fine again (empty)
    SinkFigures& figures;
  };
  MetricsPush(std::chrono::milliseconds every, Parts parts) : every_(every), parts_(std::move(parts)) {}
  // At most one request. `now`: any steady clock. Returns the time until the next step.
  [[nodiscard]] std::chrono::milliseconds step(std::chrono::milliseconds now);
  [[nodiscard]] std::size_t kept() const { return batches_.size(); }

 private:
  void take(std::chrono::milliseconds now);
  void send(std::chrono::milliseconds now);
  void drop_oldest();

  const std::chrono::milliseconds every_;
  Parts parts_;
  std::deque<std::string> batches_;
  std::size_t bytes_ = 0;
  std::chrono::milliseconds next_take_{-1}, next_send_{0};
  unsigned tries_ = 0;
  bool behind_ = false;  // there was trouble, and the backlog is not worked off
};

}  // namespace nvstripe::uplink

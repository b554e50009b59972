// Owns the delivery of one stream: which event goes when, what its answer means, and when the agent may let it go. It waits
// for nothing itself: each step says how long to pause, so that three days of outage are a test of a second.
#pragma once
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/uplink/cloud_event.hpp"
#include "agent/uplink/retry.hpp"

namespace nvstripe::uplink {

// The agent's outbox, over its socket. An error with the cause `invalid_argument` says that the agent's outbox is another
// one now: what was pulled before means nothing there.
class Outbox {
 public:
  virtual ~Outbox() = default;
  [[nodiscard]] virtual Result<std::vector<Waiting>> pull(const std::string& stream) = 0;
  [[nodiscard]] virtual Result<> acknowledge(const std::string& stream, const Waiting& event) = 0;  // and all before it
  [[nodiscard]] virtual Result<> refuse(const std::string& stream, const Waiting& event, const std::string& reason) = 0;
};

class Receiver {
 public:
  virtual ~Receiver() = default;
  [[nodiscard]] virtual Posted post(const std::string& text) = 0;
};

class Delivery {
 public:
  struct Parts {
    Outbox& outbox;
    Receiver& receiver;
    std::function<double()> draw;                  // 0 to 1
    std::function<std::int64_t()> now;             // seconds since 1970, for Retry-After dates
    std::function<void(const std::string&)> tell;  // what is wrong upstream, or that it is fine again (empty)
  };
  Delivery(std::string stream, Parts parts) : stream_(std::move(stream)), parts_(std::move(parts)) {}
  // At most one request to the receiver. Returns the pause before the next step.
  [[nodiscard]] std::chrono::milliseconds step();
  [[nodiscard]] bool failing() const { return tries_ > 0; }

 private:
  [[nodiscard]] bool pull();
  [[nodiscard]] bool settle();
  [[nodiscard]] std::chrono::milliseconds on_accepted();
  [[nodiscard]] std::chrono::milliseconds on_refused(const Posted& posted);
  [[nodiscard]] std::chrono::milliseconds on_failed(const Posted& posted);
  void forget();

  std::string stream_;
  Parts parts_;
  std::deque<Waiting> batch_;         // pulled, not delivered yet
  std::optional<Waiting> delivered_;  // the last one that arrived and is not acknowledged yet
  unsigned unacknowledged_ = 0, tries_ = 0, doubts_ = 0;
  bool trusted_ = false;  // the receiver took something since it last refused
  double pace_ms_ = 0;    // between events of a backlog, after trouble
};

}  // namespace nvstripe::uplink

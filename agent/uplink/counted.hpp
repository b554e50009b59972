// Owns Counted: a receiver whose requests are counted.
#pragma once
#include <chrono>
#include <string>

#include "agent/uplink/delivery.hpp"
#include "agent/uplink/sink_figures.hpp"

namespace nvstripe::uplink {

class Counted final : public Receiver {
 public:
  Counted(Receiver& receiver, SinkFigures& figures) : receiver_(receiver), figures_(figures) {}
  [[nodiscard]] Posted post(const std::string& text) override {
    const auto begun = std::chrono::steady_clock::now();
    Posted posted = receiver_.post(text);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    figures_.count(posted.status, took.count(), now.count());
    return posted;
  }

 private:
  Receiver& receiver_;
  SinkFigures& figures_;
};

}  // namespace nvstripe::uplink

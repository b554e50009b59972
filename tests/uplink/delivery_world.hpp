// Owns a simulated agent and receiver for deliveries: events, faults and hours pass without waiting.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/uplink/delivery.hpp"

namespace nvstripe::uplink {

// An agent's outbox of one stream that remembers what it let go.
class SimulatedOutbox final : public Outbox {
 public:
  std::uint64_t epoch = 1;
  std::uint64_t last = 0, cursor = 0;
  bool down = false;
  std::set<std::uint64_t> refused, again;  // again: refused before, to be sent once more
  std::vector<std::string> reasons;
  unsigned acknowledgements = 0;

  void happen(std::uint64_t count = 1) { last += count; }
  void begin_anew() {
    ++epoch;
    last = cursor = 0;
  }
  [[nodiscard]] std::string id(std::uint64_t sequence) const {
    return std::to_string(epoch) + "-" + std::to_string(sequence);
  }

  Result<std::vector<Waiting>> pull(const std::string&) override {
    if (down) return fail("the agent does not answer");
    std::vector<Waiting> out;
    for (const std::uint64_t one : again) out.push_back({epoch, one, true, id(one)});
    if (!out.empty()) return out;
    for (std::uint64_t i = cursor + 1; i <= last && out.size() < 100; ++i) out.push_back({epoch, i, false, id(i)});
    return out;
  }
  Result<> acknowledge(const std::string&, const Waiting& event) override {
    if (down) return fail("the agent does not answer");
    ++acknowledgements;
    if (event.again) return again.erase(event.sequence) == 1 ? Result<>() : stale();
    if (event.epoch != epoch || event.sequence > last) return stale();
    cursor = std::max(cursor, event.sequence);
    return {};
  }
  Result<> refuse(const std::string&, const Waiting& event, const std::string& reason) override {
    if (down) return fail("the agent does not answer");
    if (!event.again && (event.epoch != epoch || event.sequence != cursor + 1)) return stale();
    refused.insert(event.sequence);
    if (event.again) {
      again.erase(event.sequence);
      return {};
    }
    reasons.push_back(reason);
    cursor = event.sequence;
    return {};
  }

 private:
  static tl::unexpected<Error> stale() { return fail("not known", "", std::make_error_code(std::errc::invalid_argument)); }
};

class SimulatedReceiver final : public Receiver {
 public:
  std::function<Posted(const std::string&)> answer = [](const std::string&) { return Posted{.status = 202}; };
  std::vector<std::string> received;  // what was taken, in order of first arrival
  std::set<std::string> known;
  unsigned requests = 0, twice = 0;

  Posted post(const std::string& text) override {
    ++requests;
    Posted posted = answer(text);
    if (posted.status >= 200 && posted.status < 300) take(text);
    return posted;
  }
  void take(const std::string& text) {
    if (known.insert(text).second) {
      received.push_back(text);
    } else {
      ++twice;
    }
  }
};

// One uplink's stream in simulated time.
struct SimulatedUplink {
  SimulatedOutbox outbox;
  SimulatedReceiver receiver;
  std::uint64_t seed = 1;
  double now_ms = 0;
  std::vector<std::string> told;
  std::unique_ptr<Delivery> delivery;

  explicit SimulatedUplink(std::uint64_t seed_ = 1) : seed(seed_ * 2654435761u + 1) { start(); }
  SimulatedUplink(const SimulatedUplink&) = delete;
  SimulatedUplink& operator=(const SimulatedUplink&) = delete;

  // As after a kill: what was only in memory is gone.
  void start() {
    delivery =
        std::make_unique<Delivery>("state", Delivery::Parts{outbox, receiver, [this] { return draw(); },
                                                            [this] { return static_cast<std::int64_t>(now_ms / 1000); },
                                                            [this](const std::string& text) { told.push_back(text); }});
  }
  double draw() {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return static_cast<double>(seed >> 11) / 9007199254740992.0;
  }
  double step() {
    const auto pause = static_cast<double>(delivery->step().count());
    now_ms += pause;
    return pause;
  }
  // Until all that happened is let go, or too many steps.
  bool drain(int most = 200'000) {
    for (int i = 0; i < most; ++i) {
      if (outbox.cursor == outbox.last) return true;
      (void)step();
    }
    return false;
  }
};

}  // namespace nvstripe::uplink

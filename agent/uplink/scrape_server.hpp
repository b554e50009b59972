// Owns the scrape endpoint: HTTP on a network address, GET and HEAD of /metrics and a landing page, nothing else. Bounded in
// sessions, bytes and time, so that a slow, silent or hostile client costs a descriptor for seconds.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agent/base/endpoint.hpp"

namespace nvstripe::uplink {

// The text of /metrics, made in a thread that may wait; it should answer before the deadline.
using Expose = std::function<std::string(std::chrono::milliseconds deadline)>;

class ScrapeServer {
 public:
  // Port 0 is any free one (tests).
  [[nodiscard]] static Result<std::unique_ptr<ScrapeServer>> start(const Endpoint& endpoint, Expose expose);
  virtual ~ScrapeServer() = default;  // ends its threads; a scrape under way is waited for, at most its deadline
  [[nodiscard]] virtual std::uint16_t port() const = 0;
};

}  // namespace nvstripe::uplink

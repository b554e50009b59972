// Owns the scrape endpoint: HTTP on a network address, GET and HEAD of /metrics and a landing page, nothing else. Bounded in
// sessions, bytes and time, so that a slow, silent or hostile client costs a descriptor for seconds.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agent/base/endpoint.hpp"
#include "agent/uplink/passwords.hpp"
#include "agent/uplink/web_files.hpp"

namespace nvstripe::uplink {

// The text of /metrics, made in a thread that may wait; it should answer before the deadline.
using Expose = std::function<std::string(std::chrono::milliseconds deadline)>;

// Who may ask, and how.
struct ScrapeAccess {
  std::shared_ptr<WebFiles> files;         // none: anybody, over plain HTTP
  VerifyPassword verify = bcrypt_matches;  // called by one thread
};

class ScrapeServer {
 public:
  // Port 0 is any free one (tests). Files of which there is no good version are an error: nothing is served.
  [[nodiscard]] static Result<std::unique_ptr<ScrapeServer>> start(const Endpoint& endpoint, Expose expose,
                                                                   ScrapeAccess access = {});
  virtual ~ScrapeServer() = default;  // ends its threads; a scrape under way is waited for, at most its deadline
  [[nodiscard]] virtual std::uint16_t port() const = 0;
};

}  // namespace nvstripe::uplink

// Owns the Unix socket and its HTTP: accepts, bounds, deadlines, peer credentials. Knows nothing of routes: it hands whole
// requests to one function and writes what comes back.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "agent/base/result.hpp"

namespace nvstripe::api {

struct HttpRequest {
  std::string method, path, query, body;
  std::uint32_t uid = 0xffffffffu;  // of the peer, by SO_PEERCRED
};

struct HttpResponse {
  unsigned status = 200;
  std::string body;  // JSON
};

using Respond = std::function<HttpResponse(const HttpRequest&)>;

class Server {
 public:
  // Binds `path` (a left-over socket file is replaced; the instance lock is the caller's affair), mode 0666, and serves in
  // a thread of its own until destroyed. `tick` runs in that thread about once a second.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(const std::string& path, Respond respond,
                                                             std::function<void()> tick = {});
  virtual ~Server() = default;
};

}  // namespace nvstripe::api

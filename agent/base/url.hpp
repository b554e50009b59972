// Owns the text of an address to send to: "https://collector:8443/events".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/base/result.hpp"

namespace nvstripe {

struct Url {
  bool tls = true;   // https
  std::string host;  // name or numeric address, without brackets
  std::uint16_t port = 0;
  std::string target = "/";  // path and query
  bool operator==(const Url&) const = default;
  // Host and port as a Host header has them.
  [[nodiscard]] std::string authority() const;
};

// Only http and https; no user, password or fragment: a secret in a URL ends up in logs.
[[nodiscard]] Result<Url> parse_url(std::string_view text);

}  // namespace nvstripe

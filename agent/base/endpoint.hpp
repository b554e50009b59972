// Owns the text of an address to listen on: "10.9.0.7:9766", "[::]:9766".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/base/result.hpp"

namespace nvstripe {

struct Endpoint {
  std::string address;     // numeric, without brackets
  std::uint16_t port = 0;  // never 0
  bool operator==(const Endpoint&) const = default;
};

// Names are refused: what is listened on must not depend on a resolver.
[[nodiscard]] Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace nvstripe

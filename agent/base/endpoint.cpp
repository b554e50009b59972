// Owns reading endpoints, strictly: an IPv6 address stands in brackets.
#include "agent/base/endpoint.hpp"

#include <arpa/inet.h>

#include <array>

#include <fmt/format.h>

#include "agent/base/text.hpp"

namespace nvstripe {

Result<Endpoint> parse_endpoint(std::string_view text) {
  const auto refused = [&](std::string_view why) {
    return fail(fmt::format("'{}' {}", printable(text), why),
                "write an address and a port, such as [::]:9766 or 10.9.0.7:9766");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refused("has no port");
  const auto port = parse_number(text.substr(colon + 1));
  if (!port || *port == 0 || *port > 65535) return refused("has no port from 1 to 65535");
  std::string_view host = text.substr(0, colon);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  std::array<std::uint8_t, 16> bytes{};
  const std::string address(host);
  if (::inet_pton(brackets ? AF_INET6 : AF_INET, address.c_str(), bytes.data()) != 1)
    return refused("does not begin with an address");
  return Endpoint{address, static_cast<std::uint16_t>(*port)};
}

}  // namespace nvstripe

// Owns the comparison of address prefixes, on the bytes that inet_pton makes of the text.
#include "configurators/ip_network.hpp"

#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "agent/base/text.hpp"

namespace nvstripe::configure {
namespace {

struct Ip {
  std::array<std::uint8_t, 16> bytes{};
  unsigned bits = 0;  // 32 or 128
};

std::optional<Ip> parse_ip(std::string_view text) {
  const std::string copy(text);
  Ip ip;
  if (inet_pton(AF_INET, copy.c_str(), ip.bytes.data()) == 1) {
    ip.bits = 32;
    return ip;
  }
  if (inet_pton(AF_INET6, copy.c_str(), ip.bytes.data()) == 1) {
    ip.bits = 128;
    return ip;
  }
  return std::nullopt;
}

bool same_prefix(const Ip& a, const Ip& b, unsigned length) {
  for (unsigned bit = 0; bit < length; ++bit) {
    const unsigned mask = 0x80u >> (bit % 8);
    if ((a.bytes[bit / 8] & mask) != (b.bytes[bit / 8] & mask)) return false;
  }
  return true;
}

}  // namespace

bool in_network(std::string_view address, std::string_view cidr) {
  const std::size_t slash = cidr.find('/');
  if (slash == std::string_view::npos) return false;
  const auto length = parse_number(cidr.substr(slash + 1));
  const auto network = parse_ip(cidr.substr(0, slash));
  const auto ip = parse_ip(address);
  if (!length || !network || !ip || network->bits != ip->bits || *length > ip->bits) return false;
  return same_prefix(*network, *ip, static_cast<unsigned>(*length));
}

bool is_ipv6(std::string_view address) { return address.find(':') != std::string_view::npos; }

bool is_local_only(std::string_view address) {
  return in_network(address, "127.0.0.0/8") || in_network(address, "169.254.0.0/16") || address == "::1" ||
         in_network(address, "fe80::/10");
}

}  // namespace nvstripe::configure

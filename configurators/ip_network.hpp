// Owns the question whether an IP address lies in a network written as CIDR. Numeric text only; never resolves a name.
#pragma once
#include <string_view>

namespace nvstripe::configure {

// False for whatever is not well formed, and for an address of the other family.
[[nodiscard]] bool in_network(std::string_view address, std::string_view cidr);
[[nodiscard]] bool is_ipv6(std::string_view address);
// Loopback and link-local addresses: no consumer can name them, so they are listened on only when the network says so.
[[nodiscard]] bool is_local_only(std::string_view address);

}  // namespace nvstripe::configure

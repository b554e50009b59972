// Owns the look at this machine's IP addresses. Runs nothing; answers in the form of `ip -j addr`, so that a captured
// machine and the live one are read by the same code.
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <array>
#include <bitset>
#include <cstring>
#include <map>
#include <memory>

#include "agent/host/reader_root.hpp"

namespace nvstripe::host {
namespace {

unsigned prefix_length(const unsigned char* mask, std::size_t count) {
  unsigned bits = 0;
  for (std::size_t i = 0; i < count; ++i) bits += static_cast<unsigned>(std::bitset<8>(mask[i]).count());
  return bits;
}

template <class Socket, class Member>
std::string address_json(const ifaddrs& item, int family, Member Socket::*member, const char* name) {
  Socket address{};
  Socket mask{};
  std::memcpy(&address, item.ifa_addr, sizeof address);
  if (item.ifa_netmask != nullptr) std::memcpy(&mask, item.ifa_netmask, sizeof mask);
  std::array<unsigned char, sizeof(Member)> mask_bytes{};
  std::memcpy(mask_bytes.data(), &(mask.*member), mask_bytes.size());
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(family, &(address.*member), text.data(), text.size()) == nullptr) return {};
  return std::string(R"({"family":")") + name + R"(","local":")" + text.data() + R"(","prefixlen":)" +
         std::to_string(prefix_length(mask_bytes.data(), mask_bytes.size())) + "}";
}

}  // namespace

Result<std::string> live_addresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return fail_errno("cannot list this machine's addresses");
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  std::map<std::string, std::string> lists;
  for (const ifaddrs* item = first; item != nullptr; item = item->ifa_next) {
    std::string& list = lists[item->ifa_name];
    if (item->ifa_addr == nullptr) continue;
    std::string one;
    if (item->ifa_addr->sa_family == AF_INET) {
      one = address_json(*item, AF_INET, &sockaddr_in::sin_addr, "inet");
    } else if (item->ifa_addr->sa_family == AF_INET6) {
      one = address_json(*item, AF_INET6, &sockaddr_in6::sin6_addr, "inet6");
    }
    if (!one.empty()) list += (list.empty() ? "" : ",") + one;
  }
  std::string text = "[";
  for (const auto& [name, list] : lists) {
    text += (text.size() == 1 ? "" : ",") + std::string(R"({"ifname":")") + name + R"(","addr_info":[)" + list + "]}";
  }
  return text + "]";
}

}  // namespace nvstripe::host

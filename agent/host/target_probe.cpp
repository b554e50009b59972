// Owns names, routes and the TCP probe.
#include "agent/host/target_probe.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "agent/base/fd.hpp"

namespace nvstripe::host {
namespace {

using Clock = std::chrono::steady_clock;
using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

Result<AddressList> addresses_of(const std::string& name, const std::string& service, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(name.c_str(), service.empty() ? nullptr : service.c_str(), &hints, &found);
  if (code != 0 || found == nullptr) {
    return fail("cannot resolve '" + name + "': " + (code == 0 ? "no address" : ::gai_strerror(code)),
                "check the name and the resolver");
  }
  return AddressList(found, ::freeaddrinfo);
}

Result<std::string> numeric(const sockaddr* address, socklen_t length) {
  std::array<char, NI_MAXHOST> text{};
  if (::getnameinfo(address, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return fail("cannot print an address");
  return std::string(text.data());
}

Result<AddressList> numeric_address(const std::string& address, std::uint16_t port) {
  return addresses_of(address, std::to_string(port), AI_NUMERICHOST | AI_NUMERICSERV);
}

// Waits for `events` until `due`; false: the time is over.
bool wait_for(int fd, short events, Clock::time_point due) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due - Clock::now()).count();
    if (left <= 0) return false;
    pollfd polled{fd, events, 0};
    const int ready = ::poll(&polled, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

Reached unreached(int code) {
  const bool refused = code == ECONNREFUSED;
  return {Reach::unreachable, refused ? "nothing listens there" : std::error_code(code, std::system_category()).message()};
}

// ICReq: type 0, header and whole length 128, everything else zero: format version 0, no digests (NVMe/TCP 1.0, 3.6.2.2).
std::array<std::uint8_t, 128> first_pdu() {
  std::array<std::uint8_t, 128> pdu{};
  pdu[2] = 128;
  pdu[4] = 128;
  return pdu;
}
constexpr std::uint8_t kFirstAnswer = 0x01;  // ICResp

}  // namespace

Result<std::vector<std::string>> resolve(const std::string& name) {
  TRY(const AddressList list, addresses_of(name, "", 0));
  std::vector<std::string> all;
  for (const addrinfo* one = list.get(); one != nullptr; one = one->ai_next) {
    if (auto text = numeric(one->ai_addr, one->ai_addrlen); text && std::find(all.begin(), all.end(), *text) == all.end()) {
      all.push_back(*text);
    }
  }
  return all;
}

Result<std::string> local_address_to(const std::string& address, std::uint16_t port) {
  TRY(const AddressList list, numeric_address(address, port));
  // A datagram socket's connect sends nothing; it asks the routing table.
  const Fd fd(::socket(list->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd || ::connect(fd.get(), list->ai_addr, list->ai_addrlen) != 0) {
    return fail_errno("no route to '" + address + "'", errno, "check this machine's addresses and routes");
  }
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&own), &length) != 0)
    return fail_errno("cannot read the own address");
  return numeric(reinterpret_cast<const sockaddr*>(&own), length);
}

Reached insist(Reached first, const std::function<Reached()>& ask, const std::function<void(std::chrono::seconds)>& pause) {
  Reached last = std::move(first);
  for (const auto wait : kPauses) {
    if (last.reach == Reach::reachable || !last.may_pass) break;
    pause(wait);
    last = ask();
  }
  return last;
}

Reached probe_tcp(const std::string& address, std::uint16_t port, std::chrono::milliseconds deadline) {
  const auto list = numeric_address(address, port);
  if (!list) return {Reach::unreachable, list.error().what};
  const Fd fd(::socket((*list)->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return {Reach::unknown, "cannot make a socket"};
  if (::connect(fd.get(), (*list)->ai_addr, (*list)->ai_addrlen) != 0 && errno != EINPROGRESS) return unreached(errno);
  if (!wait_for(fd.get(), POLLOUT, Clock::now() + deadline))
    return {Reach::unreachable, "no answer to a TCP connection attempt"};
  int code = 0;
  socklen_t length = sizeof code;
  if (::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &code, &length) != 0 || code != 0)
    return unreached(code == 0 ? errno : code);
  const auto pdu = first_pdu();
  if (::send(fd.get(), pdu.data(), pdu.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(pdu.size())) {
    return {Reach::unreachable, "it closed the connection at once"};
  }
  if (!wait_for(fd.get(), POLLIN, Clock::now() + deadline))
    return {Reach::silent, "it accepts TCP connections and then says nothing"};
  std::uint8_t type = 0xff;
  if (::recv(fd.get(), &type, 1, 0) != 1) return {Reach::unreachable, "it closed the connection when spoken to by NVMe/TCP"};
  if (type != kFirstAnswer) return {Reach::unreachable, "what listens there does not speak NVMe/TCP"};
  return {Reach::reachable, ""};
}

}  // namespace nvstripe::host

// Owns the RDMA probe: the connection manager's events, each awaited with a deadline on a descriptor that never blocks.
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <memory>

#include "agent/base/fd.hpp"
#include "agent/host/target_probe.hpp"

namespace nvstripe::host {
namespace {

using Clock = std::chrono::steady_clock;

struct DestroyChannel {
  void operator()(rdma_event_channel* channel) const { rdma_destroy_event_channel(channel); }
};
struct DestroyId {
  void operator()(rdma_cm_id* id) const { rdma_destroy_id(id); }
};
struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Addresses numeric_address(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), port == 0 ? nullptr : std::to_string(port).c_str(), &hints, &found) != 0)
    return nullptr;
  return Addresses(found);
}

struct Told {
  bool in_time = false;
  rdma_cm_event_type type = RDMA_CM_EVENT_DEVICE_REMOVAL;
  int status = 0;
};

Told next_event(rdma_event_channel* channel, std::chrono::milliseconds deadline) {
  const auto due = Clock::now() + deadline;
  for (;;) {
    rdma_cm_event* event = nullptr;
    if (rdma_get_cm_event(channel, &event) == 0) {
      const Told told{true, event->event, event->status};
      rdma_ack_cm_event(event);
      return told;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due - Clock::now()).count();
    if ((errno != EAGAIN && errno != EINTR) || left <= 0) return {};
    pollfd polled{channel->fd, POLLIN, 0};
    (void)::poll(&polled, 1, static_cast<int>(left));  // whatever it says, the event is asked for again
  }
}

bool has_rdma_device() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/sys/class/infiniband"), ::closedir);
  if (!folder) return false;
  while (const auto* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] != '.') return true;
  }
  return false;
}

// The first fields of what NVMe/RDMA sends along (record format, queue id, two queue sizes). Format 0 is the only one there
// is: every target rejects this one before it makes anything (nvmet_rdma_parse_cm_connect_req).
constexpr std::array<std::uint8_t, 32> kNoSuchFormat = {0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff};

// Reasons of a rejection (IBTA, 12.6.7.2).
constexpr int kInvalidServiceId = 8;
constexpr int kConsumerDefined = 28;

Reached meaning_of(const Told& told) {
  if (!told.in_time) return {Reach::silent, "no answer to an RDMA connection request"};
  switch (told.type) {
    case RDMA_CM_EVENT_REJECTED:
      if (told.status == kConsumerDefined) return {Reach::reachable, ""};
      if (told.status == kInvalidServiceId) return {Reach::unreachable, "nothing listens there by RDMA"};
      return {Reach::unreachable, "it rejects RDMA connections, reason " + std::to_string(told.status)};
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
    case RDMA_CM_EVENT_ESTABLISHED:
      return {Reach::reachable, ""};
    default:
      return {Reach::unreachable, std::string("RDMA connection failed: ") + rdma_event_str(told.type)};
  }
}

}  // namespace

Reached probe_rdma(const std::string& address, std::uint16_t port, const std::string& local_address,
                   std::chrono::milliseconds deadline) {
  if (!has_rdma_device()) return {Reach::unreachable, "this machine has no RDMA device"};
  const std::unique_ptr<rdma_event_channel, DestroyChannel> channel(rdma_create_event_channel());
  if (!channel) return {Reach::unknown, "cannot ask the RDMA connection manager: load module 'rdma_ucm'"};
  if (::fcntl(channel->fd, F_SETFL, O_NONBLOCK) != 0) return {Reach::unknown, "cannot set up the RDMA connection manager"};
  rdma_cm_id* raw = nullptr;
  if (rdma_create_id(channel.get(), &raw, nullptr, RDMA_PS_TCP) != 0)
    return {Reach::unknown, "cannot set up an RDMA connection"};
  const std::unique_ptr<rdma_cm_id, DestroyId> id(raw);
  const auto to = numeric_address(address, port), from = numeric_address(local_address, 0);
  if (!to) return {Reach::unreachable, "'" + address + "' is no numeric address"};
  const int wait_ms = static_cast<int>(deadline.count());
  if (rdma_resolve_addr(id.get(), from ? from->ai_addr : nullptr, to->ai_addr, wait_ms) != 0) {
    return {Reach::unreachable,
            "no RDMA device serves the route: " + std::error_code(errno, std::system_category()).message()};
  }
  const auto resolved = next_event(channel.get(), deadline);
  if (!resolved.in_time || resolved.type != RDMA_CM_EVENT_ADDR_RESOLVED)
    return {Reach::unreachable, "its address is not resolved by RDMA"};
  if (rdma_resolve_route(id.get(), wait_ms) != 0) return {Reach::unreachable, "no RDMA route"};
  const auto routed = next_event(channel.get(), deadline);
  if (!routed.in_time || routed.type != RDMA_CM_EVENT_ROUTE_RESOLVED) return {Reach::unreachable, "no RDMA route"};
  rdma_conn_param ask{};
  ask.private_data = kNoSuchFormat.data();
  ask.private_data_len = kNoSuchFormat.size();
  ask.responder_resources = 1;
  ask.initiator_depth = 1;
  ask.qp_num = 1;  // no queue pair exists; a target never gets so far as to use the number
  if (rdma_connect(id.get(), &ask) != 0) {
    return {Reach::unreachable,
            "cannot ask for an RDMA connection: " + std::error_code(errno, std::system_category()).message()};
  }
  return meaning_of(next_event(channel.get(), deadline));
}

}  // namespace nvstripe::host

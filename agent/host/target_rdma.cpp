// Owns the RDMA probe, spoken to the kernel's connection manager directly (rdma_user_cm.h). librdmacm would need a verbs
// library for each vendor's adapter (ibverbs-providers), for a queue pair that is never made.
#include <dirent.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "agent/base/fd.hpp"
#include "agent/host/target_probe.hpp"

namespace nvstripe::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kConnectionManager = "/dev/infiniband/rdma_cm";
constexpr std::uint8_t kReliableConnection = 2;  // IB_QPT_RC

// Numbers of enum rdma_cm_event_type, which is part of the kernel's interface.
enum Event : std::uint32_t {
  address_resolved = 0,
  route_resolved = 2,
  connect_response = 5,
  rejected = 8,
  established = 9,
  none = 0xffff
};
constexpr std::array<const char*, 10> kEventNames = {
    "address resolved", "address not resolved", "route resolved", "no route", "connect request",
    "connect response", "connect error",        "unreachable",    "rejected", "established"};

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
  Event event = none;  // none: not in time
  std::uint32_t status = 0;
};

// One connection id; closing the descriptor destroys it in the kernel.
class ConnectionId {
 public:
  explicit ConnectionId(const char* node) : fd_(::open(node, O_RDWR | O_CLOEXEC | O_NONBLOCK)) {}
  [[nodiscard]] bool is_open() const { return static_cast<bool>(fd_); }

  template <class Request>
  bool command(std::uint32_t number, const Request& request, std::size_t answer_size = 0) {
    struct {
      rdma_ucm_cmd_hdr header;
      Request body;
    } message{{number, sizeof request, static_cast<__u16>(answer_size)}, request};
    return ::write(fd_.get(), &message, sizeof message) == static_cast<ssize_t>(sizeof message);
  }
  bool create() {
    rdma_ucm_create_id_resp answer{};
    rdma_ucm_create_id request{};
    request.response = reinterpret_cast<std::uintptr_t>(&answer);
    request.uid = 1;  // events of an id without a context are dropped (ucma_event_handler)
    request.ps = RDMA_PS_TCP;
    request.qp_type = kReliableConnection;
    const bool made = command(RDMA_USER_CM_CMD_CREATE_ID, request, sizeof answer);
    id_ = answer.id;
    return made;
  }
  [[nodiscard]] std::uint32_t id() const { return id_; }
  Told next(std::chrono::milliseconds deadline) {
    const auto due = Clock::now() + deadline;
    for (;;) {
      rdma_ucm_event_resp answer{};
      rdma_ucm_get_event request{};
      request.response = reinterpret_cast<std::uintptr_t>(&answer);
      if (command(RDMA_USER_CM_CMD_GET_EVENT, request, sizeof answer))
        return {static_cast<Event>(answer.event), answer.status};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due - Clock::now()).count();
      if ((errno != EAGAIN && errno != EINTR) || left <= 0) return {};
      pollfd polled{fd_.get(), POLLIN, 0};
      (void)::poll(&polled, 1, static_cast<int>(left));  // whatever it says, the event is asked for again
    }
  }

 private:
  Fd fd_;
  std::uint32_t id_ = 0;
};

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
constexpr std::array<std::uint8_t, 8> kNoSuchFormat = {0xff, 0xff, 0, 0, 0xff, 0xff, 0xff, 0xff};
constexpr std::uint8_t kPrivateSize = 32;

// Reasons of a rejection (IBTA, 12.6.7.2).
constexpr std::uint32_t kInvalidServiceId = 8;
constexpr std::uint32_t kConsumerDefined = 28;

std::string errno_text() { return std::error_code(errno, std::system_category()).message(); }

Reached meaning_of(const Told& told) {
  switch (told.event) {
    case none:
      return {Reach::silent, "no answer to an RDMA connection request"};
    case connect_response:
    case established:
      return {Reach::reachable, ""};
    case rejected:
      if (told.status == kConsumerDefined) return {Reach::reachable, ""};
      if (told.status == kInvalidServiceId) return {Reach::unreachable, "nothing listens there by RDMA"};
      return {Reach::unreachable, "it rejects RDMA connections, reason " + std::to_string(told.status)};
    default:
      break;
  }
  const char* name = told.event < kEventNames.size() ? kEventNames[told.event] : "the device went away";
  return {Reach::unreachable, std::string("RDMA connection failed: ") + name};
}

bool resolve_address(ConnectionId& manager, const addrinfo* from, const addrinfo& to, std::uint32_t wait_ms) {
  rdma_ucm_resolve_addr request{};
  request.id = manager.id();
  request.timeout_ms = wait_ms;
  if (from != nullptr) {
    request.src_size = static_cast<__u16>(from->ai_addrlen);
    std::memcpy(&request.src_addr, from->ai_addr, from->ai_addrlen);
  }
  request.dst_size = static_cast<__u16>(to.ai_addrlen);
  std::memcpy(&request.dst_addr, to.ai_addr, to.ai_addrlen);
  return manager.command(RDMA_USER_CM_CMD_RESOLVE_ADDR, request);
}

bool ask_to_connect(ConnectionId& manager) {
  rdma_ucm_connect request{};
  request.id = manager.id();
  request.conn_param.qp_num = 1;  // no queue pair exists; a target never gets so far as to use the number
  std::copy(kNoSuchFormat.begin(), kNoSuchFormat.end(), request.conn_param.private_data);
  request.conn_param.private_data_len = kPrivateSize;
  request.conn_param.responder_resources = 1;
  request.conn_param.initiator_depth = 1;
  request.conn_param.retry_count = 7;
  request.conn_param.rnr_retry_count = 7;
  request.conn_param.valid = 1;
  return manager.command(RDMA_USER_CM_CMD_CONNECT, request);
}

}  // namespace

Reached probe_rdma(const std::string& address, std::uint16_t port, const std::string& local_address,
                   std::chrono::milliseconds deadline) {
  if (!has_rdma_device()) return {Reach::unreachable, "this machine has no RDMA device"};
  ConnectionId manager(kConnectionManager);
  if (!manager.is_open()) return {Reach::unknown, "cannot ask the RDMA connection manager: load module 'rdma_ucm'"};
  const auto to = numeric_address(address, port), from = numeric_address(local_address, 0);
  if (!to) return {Reach::unreachable, "'" + address + "' is no numeric address"};
  if (!manager.create()) return {Reach::unknown, "cannot set up an RDMA connection: " + errno_text()};
  const auto wait_ms = static_cast<std::uint32_t>(deadline.count());
  if (!resolve_address(manager, from.get(), *to, wait_ms))
    return {Reach::unreachable, "no RDMA device serves the route: " + errno_text(), true};
  if (manager.next(deadline).event != address_resolved)
    return {Reach::unreachable, "its address is not resolved by RDMA", true};
  if (!manager.command(RDMA_USER_CM_CMD_RESOLVE_ROUTE, rdma_ucm_resolve_route{manager.id(), wait_ms}))
    return {Reach::unreachable, "no RDMA route: " + errno_text(), true};
  if (manager.next(deadline).event != route_resolved) return {Reach::unreachable, "no RDMA route", true};
  if (!ask_to_connect(manager)) return {Reach::unreachable, "cannot ask for an RDMA connection: " + errno_text()};
  return meaning_of(manager.next(deadline));
}

}  // namespace nvstripe::host

// Owns the single questions put to a target, each with a deadline of its own: its address, our address, whether something
// speaks NVMe there by TCP or listens by RDMA, and what its discovery log offers. Children only: names and logs may block.
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/host/targets.hpp"
#include "agent/model/inventory.hpp"

namespace nvstripe::host {

inline constexpr std::chrono::milliseconds kReachDeadline{2000};

[[nodiscard]] Result<std::vector<std::string>> resolve(
    const std::string& name);  // numeric addresses, in the resolver's order
[[nodiscard]] Result<std::string> local_address_to(const std::string& address, std::uint16_t port);

struct Reached {
  Reach reach = Reach::unknown;
  std::string problem;
  bool may_pass = false;  // the answer may be another one shortly, without anybody doing anything
};
// Asks again while the answer may pass, after each of these pauses. For `transport: auto`, which would otherwise settle for
// TCP because it asked while an RDMA device was coming up: its address table is filled by a worker, and until then no
// address is resolved (seen after boot with rdma_rxe, kernel 6.1).
inline constexpr std::array<std::chrono::seconds, 3> kPauses{std::chrono::seconds(1), std::chrono::seconds(2),
                                                             std::chrono::seconds(2)};
[[nodiscard]] Reached insist(Reached first, const std::function<Reached()>& ask,
                             const std::function<void(std::chrono::seconds)>& pause);

// Connects and sends the first PDU of NVMe/TCP: a listener that stays silent is found here, in user space, and not by the
// kernel, which waits for that answer while every other connect waits behind it.
[[nodiscard]] Reached probe_tcp(const std::string& address, std::uint16_t port,
                                std::chrono::milliseconds deadline = kReachDeadline);
// Resolves address and route, then asks for a connection that every NVMe target must reject: the rejection proves that
// somebody listens, and no queue is made on either side.
[[nodiscard]] Reached probe_rdma(const std::string& address, std::uint16_t port, const std::string& local_address,
                                 std::chrono::milliseconds deadline = kReachDeadline);

struct Discovery {
  std::vector<DiscoveredSubsystem> subsystems;
  std::size_t referrals = 0;
};
// Records of one transport: those at the address that was asked, else the first of each subsystem. Referrals are counted.
[[nodiscard]] Result<Discovery> parse_discovery_log(std::span<const std::uint8_t> log, const std::string& transport,
                                                    const std::string& address);
[[nodiscard]] Result<Discovery> discover(const TargetQuestion& question, const std::string& transport,
                                         const TargetView& view);

}  // namespace nvstripe::host

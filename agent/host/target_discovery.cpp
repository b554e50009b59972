// Owns the discovery log: a short-lived discovery controller, the log's records, which of them fit. Uses libnvme for the
// log.
#include <fcntl.h>
#include <libnvme.h>

#include <algorithm>
#include <cstring>

#include "agent/base/fd.hpp"
#include "agent/base/text.hpp"
#include "agent/host/fabrics.hpp"
#include "agent/host/target_probe.hpp"

namespace nvstripe::host {
namespace {

constexpr std::size_t kRecord = sizeof(nvmf_disc_log_entry);  // 1024, and so is the log's header
constexpr std::uint64_t kMostRecords = 4096;
static_assert(kRecord == 1024);

std::uint64_t little(std::span<const std::uint8_t> bytes, std::size_t offset, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i > 0; --i) value = value << 8u | bytes[offset + i - 1];
  return value;
}

std::string field(const char* text, std::size_t size) {
  const std::string_view all(text, size);
  return std::string(trim(all.substr(0, all.find('\0'))));
}

std::string transport_of(std::uint8_t trtype) {
  if (trtype == NVMF_TRTYPE_RDMA) return "rdma";
  if (trtype == NVMF_TRTYPE_TCP) return "tcp";
  return {};
}

// One record a subsystem: at the address that was asked if there is one, for that is known to be reached.
void add(std::vector<DiscoveredSubsystem>& all, DiscoveredSubsystem fresh, const std::string& address) {
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const DiscoveredSubsystem& one) { return one.nqn == fresh.nqn; });
  if (known == all.end()) {
    all.push_back(std::move(fresh));
  } else if (same_address(fresh.traddr, address) && !same_address(known->traddr, address)) {
    *known = std::move(fresh);
  }
}

Result<std::vector<std::uint8_t>> read_log(int fd) {
  std::vector<std::uint8_t> log(kRecord);
  const auto read = [&](std::size_t offset, std::size_t count) {
    return nvme_get_log_discovery(fd, false, static_cast<__u32>(offset), static_cast<__u32>(count), log.data() + offset);
  };
  // A log that changes while it is read has another generation afterwards.
  for (int attempt = 0; attempt < 3; ++attempt) {
    log.resize(kRecord);
    if (read(0, kRecord) != 0) return fail("cannot read the discovery log", "check the target's log");
    const auto generation = little(log, 0, 8), records = little(log, 8, 8);
    if (records > kMostRecords)
      return fail("the discovery log claims " + std::to_string(records) + " records", "check the target");
    log.resize(kRecord * (1 + records));
    if (records > 0 && read(kRecord, kRecord * records) != 0)
      return fail("cannot read the discovery log's records", "check the target's log");
    std::vector<std::uint8_t> again(kRecord);
    if (nvme_get_log_discovery(fd, false, 0, static_cast<__u32>(kRecord), again.data()) != 0) continue;
    if (little(again, 0, 8) == generation) return log;
  }
  return fail("the discovery log keeps changing", "it is tried again");
}

}  // namespace

Result<Discovery> parse_discovery_log(std::span<const std::uint8_t> log, const std::string& transport,
                                      const std::string& address) {
  if (log.size() < kRecord) return fail("the discovery log is shorter than its header", "check the target");
  const auto records = little(log, 8, 8);
  if (records > log.size() / kRecord - 1) return fail("the discovery log is shorter than it says", "check the target");
  Discovery found;
  for (std::uint64_t i = 0; i < records; ++i) {
    nvmf_disc_log_entry entry{};
    std::memcpy(&entry, log.data() + kRecord * (1 + i), kRecord);
    if (entry.subtype == NVME_NQN_DISC) ++found.referrals;
    if (entry.subtype != NVME_NQN_NVME || transport_of(entry.trtype) != transport) continue;
    DiscoveredSubsystem one{field(entry.subnqn, sizeof entry.subnqn), transport, field(entry.traddr, sizeof entry.traddr),
                            field(entry.trsvcid, sizeof entry.trsvcid)};
    // Nothing that would break the option line of a connect.
    const bool clean = (one.nqn + one.traddr + one.trsvcid).find_first_of(",\n\r") == std::string::npos;
    if (clean && !one.nqn.empty() && one.nqn != kDiscoveryNqn) add(found.subsystems, std::move(one), address);
  }
  std::sort(found.subsystems.begin(), found.subsystems.end());
  return found;
}

Result<Discovery> discover(const TargetQuestion& question, const std::string& transport, const TargetView& view) {
  Connect step;
  step.nqn = kDiscoveryNqn;
  step.transport = transport;
  step.traddr = view.resolved_address;
  step.trsvcid = std::to_string(question.connection.port);
  step.host_traddr = view.local_address;
  step.hostnqn = question.hostnqn;
  step.hostid = question.hostid;
  TRY(const std::string name, fabrics_connect(step));
  if (name.empty()) return fail("the kernel keeps a discovery controller of somebody else", "it is tried again");
  Result<std::vector<std::uint8_t>> log = fail("");
  {
    const Fd fd(::open(("/dev/" + name).c_str(), O_RDWR | O_CLOEXEC));
    log = fd ? read_log(fd.get()) : fail_errno("cannot open '/dev/" + name + "'");
  }
  // Whether or not the log was read; a failure leaves a controller that the kernel gives up by itself.
  (void)fabrics_delete({name, step.nqn, transport, step.traddr, step.trsvcid});
  if (!log) return tl::unexpected(log.error());
  return parse_discovery_log(*log, transport, step.traddr);
}

}  // namespace nvstripe::host

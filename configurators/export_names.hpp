// Owns how everything an export makes is called and recognised: subsystem, serial, port, namespace identity, slices.
// All is derived from the host identity before it exists, so that a half-made thing is known as ours and a reboot gives the
// same names. Never looks at what is there, except to find a free port id.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/model/inventory.hpp"
#include "agent/model/record.hpp"

namespace nvstripe::configure {

inline constexpr std::string_view kNvmet = "/sys/kernel/config/nvmet";
inline constexpr std::string_view kSubsystemPrefix = "nqn.2026-11.io.nvstripe:";
inline constexpr std::string_view kTargetModel = "nvstripe";  // nvmet takes up to 40 bytes
inline constexpr std::uint32_t kMaxSlices = 128;  // a bound for loops; one drive shared by more hosts serves none well
inline constexpr std::string_view kExportRules = "/etc/udev/rules.d/62-nvstripe-exports.rules";

[[nodiscard]] std::string subsystem_nqn(const Uuid& host, const std::string& export_name, const std::string& consumer);
// 19 characters; nvmet takes up to 20 and no control characters.
[[nodiscard]] std::string subsystem_serial(const Uuid& host, const std::string& nqn);
[[nodiscard]] std::string subsystem_path(const std::string& nqn);
[[nodiscard]] std::string namespace_path(const std::string& nqn, std::uint32_t nsid);
[[nodiscard]] std::string host_path(const std::string& consumer);
[[nodiscard]] std::string namespace_fact(const std::string& nqn, std::uint32_t nsid);

// What the namespace's UUID and NGUID are derived from: device key, '#', slice (0: the whole drive).
[[nodiscard]] std::string share_name(const DeviceKey& drive, std::uint32_t slice);
[[nodiscard]] Uuid namespace_identity(const Uuid& host, const ExportRecord& record);

struct PortAddress {
  std::string trtype, traddr, trsvcid;
  auto operator<=>(const PortAddress&) const = default;
};
[[nodiscard]] std::string port_path(const std::string& id);
[[nodiscard]] std::string to_text(const PortAddress& address);  // "rdma 10.9.0.1 port 4420"
// The port of ours with this address, or the first derived id that is free; nullopt when all of them are taken by others.
[[nodiscard]] std::optional<std::string> port_id(const PortAddress& address, const TargetConfiguration& exports);
// Whether the port's id is one that we derive from its own address.
[[nodiscard]] bool is_our_port(const TargetPort& port);

[[nodiscard]] std::string slices_group(const Uuid& host, const std::string& export_name, const DeviceKey& drive);
[[nodiscard]] std::string slice_name(std::uint32_t slice);                         // "s1"
[[nodiscard]] DeviceKey slice_key(const std::string& group, std::uint32_t slice);  // lv:<vg>/s1
// Whether the drive carries a PV, and nothing else, whose UUID is the one we give to a drive when we cut it.
[[nodiscard]] bool has_our_physical(const BlockDevice& drive, const Uuid& host);
// The owner as a tag may hold it: the consumer's UUID, or 16 hex digits of its NQN's hash.
[[nodiscard]] std::string owner_tag(const std::string& consumer);

}  // namespace nvstripe::configure

// Owns the derivations behind the names of exports. Changing one here breaks every machine that made something before.
#include "configurators/export_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/base/text.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::string_view kUuidNqn = "nqn.2014-08.org.nvmexpress:uuid:";
constexpr unsigned kPortTries = 16;

// A port's name is a 16-bit number (nvmet parses it so and answers EINVAL else). Low ids are what people and other tools
// choose by hand, so ours start at 1024.
std::string derived_port_id(const PortAddress& address, unsigned attempt) {
  const std::uint64_t hash = derive64(Uuid{}, "port", address.trtype + "\n" + address.traddr + "\n" + address.trsvcid);
  return std::to_string(1024 + (hash + attempt) % (65536 - 1024));
}

bool has_address(const TargetPort& port, const PortAddress& address) {
  return port.trtype == address.trtype && port.traddr == address.traddr && port.trsvcid == address.trsvcid;
}

}  // namespace

std::string subsystem_nqn(const Uuid& host, const std::string& export_name, const std::string& consumer) {
  return fmt::format("{}{}:{:016x}", kSubsystemPrefix, export_name,
                     derive64(host, "subsystem", export_name + "\n" + consumer));
}

std::string subsystem_serial(const Uuid& host, const std::string& nqn) {
  return fmt::format("NVS{:016x}", derive64(host, "serial", nqn));
}

std::string subsystem_path(const std::string& nqn) { return fmt::format("{}/subsystems/{}", kNvmet, nqn); }
std::string namespace_path(const std::string& nqn, std::uint32_t nsid) {
  return fmt::format("{}/namespaces/{}", subsystem_path(nqn), nsid);
}
std::string host_path(const std::string& consumer) { return fmt::format("{}/hosts/{}", kNvmet, consumer); }
std::string namespace_fact(const std::string& nqn, std::uint32_t nsid) { return fmt::format("namespace:{}/{}", nqn, nsid); }

std::string share_name(const DeviceKey& drive, std::uint32_t slice) { return fmt::format("{}#{}", drive.text, slice); }

Uuid namespace_identity(const Uuid& host, const ExportRecord& record) {
  return derive(host, "namespace", share_name(record.drive, record.slice), record.generation);
}

std::string port_path(const std::string& id) { return fmt::format("{}/ports/{}", kNvmet, id); }

std::string to_text(const PortAddress& address) {
  return fmt::format("{} {} port {}", address.trtype, address.traddr, address.trsvcid);
}

std::optional<std::string> port_id(const PortAddress& address, const TargetConfiguration& exports) {
  std::optional<std::string> free;
  for (unsigned attempt = 0; attempt < kPortTries; ++attempt) {
    const std::string id = derived_port_id(address, attempt);
    const auto same = [&](const TargetPort& port) { return port.id == id; };
    const auto taken = std::find_if(exports.ports.begin(), exports.ports.end(), same);
    // A port of ours whose address writes did not happen (crash) has no traddr yet and no links: it is completed.
    const bool half_made = taken != exports.ports.end() && taken->subsystems.empty() && taken->traddr.empty();
    if (taken == exports.ports.end() || half_made) {
      if (!free) free = id;
    } else if (has_address(*taken, address)) {
      return id;
    }
  }
  return free;
}

bool is_our_port(const TargetPort& port) {
  const PortAddress address{port.trtype, port.traddr, port.trsvcid};
  for (unsigned attempt = 0; attempt < kPortTries; ++attempt) {
    if (port.id == derived_port_id(address, attempt)) return true;
  }
  return false;
}

std::string slices_group(const Uuid& host, const std::string& export_name, const DeviceKey& drive) {
  return fmt::format("nvx_{}_{:08x}", export_name, derive64(host, "slices", drive.text) >> 32);
}

std::string slice_name(std::uint32_t slice) { return fmt::format("s{}", slice); }
DeviceKey slice_key(const std::string& group, std::uint32_t slice) {
  return {fmt::format("lv:{}/{}", group, slice_name(slice))};
}

bool has_our_physical(const BlockDevice& drive, const Uuid& host) {
  if (drive.signatures.size() != 1 || drive.signatures.front().type != "LVM2_member") return false;
  const auto uuid = parse_uuid(drive.signatures.front().uuid);
  return uuid && derived_from(*uuid, host, "slices", drive.key.text);
}

std::string owner_tag(const std::string& consumer) {
  if (consumer.starts_with(kUuidNqn)) {
    if (const auto uuid = parse_uuid(std::string_view(consumer).substr(kUuidNqn.size())))
      return "nvstripe.host=" + nvstripe::to_text(*uuid);
  }
  return fmt::format("nvstripe.host={:016x}", derive64(Uuid{}, "host", consumer));
}

}  // namespace nvstripe::configure

// Owns the look at RDMA devices: port state, network device, and the addresses that have a RoCE v2 entry in the GID table,
// whose rows are in vendor-dependent order. Opens no device.
#include <arpa/inet.h>

#include <array>

#include "agent/base/text.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

constexpr std::string_view kClass = "/sys/class/infiniband";
// The kernel puts a new address into the first free row (ib_cache_gid_add): holes are as many as addresses were taken away.
// Soft-RoCE has 1024 rows, and reading all of them in each look costs more than all else together.
constexpr std::size_t kMaxUnusedRows = 64;

// "0000:0000:0000:0000:0000:ffff:0a09:0001" → "10.9.0.1"; empty for an unused row.
std::string address_of(const std::string& gid) {
  in6_addr address{};
  if (::inet_pton(AF_INET6, gid.c_str(), &address) != 1 || IN6_IS_ADDR_UNSPECIFIED(&address)) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool mapped = IN6_IS_ADDR_V4MAPPED(&address);
  const void* bytes = mapped ? static_cast<const void*>(&address.s6_addr[12]) : &address;
  if (::inet_ntop(mapped ? AF_INET : AF_INET6, bytes, text.data(), text.size()) == nullptr) return {};
  return text.data();
}

// "4: ACTIVE" → "ACTIVE"
std::string state_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  return colon == std::string::npos ? text : std::string(trim(std::string_view(text).substr(colon + 1)));
}

RdmaDevice read_device(const host::Reader& reader, const std::string& name, Inventory& seen) {
  RdmaDevice device;
  device.name = name;
  const std::string port = std::string(kClass) + "/" + name + "/ports/1/";
  device.port_state = state_of(reader.attribute(port + "state"));
  const auto rows = reader.list(port + "gids");
  if (!rows) seen.notes.push_back("the addresses of RDMA device '" + name + "' cannot be seen: " + rows.error().what);
  std::size_t unused = 0;
  for (std::size_t number = 0; rows && number < rows->size() && unused < kMaxUnusedRows; ++number) {
    const std::string row = std::to_string(number);
    // Reading the type of an unused row is EINVAL.
    const std::string type = reader.attribute(port + "gid_attrs/types/" + row);
    unused = type.empty() ? unused + 1 : 0;
    if (type != "RoCE v2") continue;
    const std::string address = address_of(reader.attribute(port + "gids/" + row));
    if (address.empty()) continue;
    device.roce_v2_addresses.push_back(address);
    const std::string netdev = reader.attribute(port + "gid_attrs/ndevs/" + row);
    if (device.netdev.empty()) device.netdev = netdev;
  }
  if (device.netdev.empty()) {
    const auto nets = reader.list(std::string(kClass) + "/" + name + "/device/net");
    if (nets && nets->size() == 1) device.netdev = nets->front();
  }
  return device;
}

}  // namespace

void observe_rdma(const host::Reader& reader, const Spec&, Inventory& seen) {
  using Devices = Facet<std::vector<RdmaDevice>>;
  const auto names = reader.list(kClass);
  if (!names) {
    const bool none = is_errno(names.error(), ENOENT) && is_class_absent(reader, "infiniband");
    seen.rdma = none ? Devices::known({}) : Devices::unavailable(names.error().what);
    return;
  }
  std::vector<RdmaDevice> devices;
  for (const std::string& name : *names) devices.push_back(read_device(reader, name, seen));
  seen.rdma = Devices::known(std::move(devices));
}

}  // namespace nvstripe::collectors

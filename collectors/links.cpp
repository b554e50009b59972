// Owns the look at network links and their addresses. Asks the kernel's tables only; sends nothing.
#include <algorithm>

#include "agent/base/text.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"
#include "collectors/reports.hpp"

namespace nvstripe::collectors {
namespace {

constexpr std::string_view kClass = "/sys/class/net";

NetworkLink read_link(const host::Reader& reader, const std::string& name) {
  const std::string folder = std::string(kClass) + "/" + name + "/";
  NetworkLink link;
  link.name = name;
  link.operstate = reader.attribute(folder + "operstate");
  link.mtu = number(reader, folder + "mtu").value_or(0);
  link.speed_mbits = number(reader, folder + "speed").value_or(0);  // EINVAL while down, -1 where nobody knows
  if (const auto queues = reader.list(folder + "queues")) {
    link.rx_queues = static_cast<std::uint64_t>(
        std::count_if(queues->begin(), queues->end(), [](const std::string& queue) { return has_prefix(queue, "rx-"); }));
  }
  return link;
}

void add_addresses(const std::vector<LinkAddresses>& table, NetworkLink& link) {
  for (const LinkAddresses& row : table) {
    // "eth0.5@eth0" is eth0.5 to sysfs
    if (row.name.substr(0, row.name.find('@')) != link.name) continue;
    for (Row address : row.addresses) {
      const auto prefix = parse_number(address["prefixlen"]);
      if (prefix && !address["local"].empty())
        link.addresses.push_back({address["local"], static_cast<std::uint32_t>(*prefix)});
    }
  }
}

}  // namespace

void observe_links(const host::Reader& reader, const Spec&, Inventory& seen) {
  using Links = Facet<std::vector<NetworkLink>>;
  const auto names = reader.list(kClass);
  if (!names || names->empty()) {
    seen.links = Links::unavailable(names ? "'/sys/class/net' lists nothing" : names.error().what);
    return;
  }
  const auto output = reader.output("ip.addr");
  const auto table = output ? link_addresses(*output) : tl::unexpected(output.error());
  if (!table) {
    seen.links = Links::unavailable("the addresses of this machine cannot be seen: " + table.error().what);
    return;
  }
  std::vector<NetworkLink> links;
  for (const std::string& name : *names) {
    if (name == "bonding_masters") continue;  // a file, not a link
    links.push_back(read_link(reader, name));
    add_addresses(*table, links.back());
  }
  seen.links = Links::known(std::move(links));
}

}  // namespace nvstripe::collectors

// Owns the table of collectors. Order matters: block looks at identity and
// nvme before it, md and lvm at block, and relations comes last.
#include <array>

#include "collectors/collectors.hpp"

namespace nvstripe {
namespace {

using namespace collectors;

constexpr FacetSet only(FacetName name) { return static_cast<FacetSet>(name); }

constexpr std::array<Collector, 14> kCollectors{{
    {"identity", "DMI, machine-id, provider and place", only(FacetName::identity), observe_identity},
    {"kernel", "release, CPUs, memory, modules and connect options", only(FacetName::kernel), observe_kernel},
    {"nvme", "NVMe controllers", only(FacetName::controllers), observe_nvme},
    {"mounts", "mounts, swap, fstab, mount points", only(FacetName::mounts), observe_mounts},
    {"block", "disks, partitions, arrays and their stack", only(FacetName::blocks), observe_block},
    {"nvmet", "what this machine exports", only(FacetName::exports), observe_nvmet},
    {"md", "md arrays and their members", only(FacetName::arrays), observe_md},
    {"lvm", "LVM's groups and volumes", only(FacetName::lvm), observe_lvm},
    {"links", "network links and addresses", only(FacetName::links), observe_links},
    {"rdma", "RDMA devices and their addresses", only(FacetName::rdma), observe_rdma},
    {"tools", "installed programs", only(FacetName::tools), observe_tools},
    {"sysctls", "kernel settings and who else sets them", only(FacetName::sysctls), observe_sysctls},
    {"units", "files of ours in /etc", only(FacetName::units), observe_units},
    {"relations", "what carries the system, and keys that are not unique", only(FacetName::blocks), observe_relations},
}};

}  // namespace

std::span<const Collector> all_collectors() { return kCollectors; }

}  // namespace nvstripe

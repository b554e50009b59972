// Owns the names by which facets are spoken of.
#include "configurators/sight.hpp"

namespace nvstripe::configure {

std::vector<std::string> unseen(const Inventory& seen, FacetSet needed) {
  std::vector<std::string> out;
  const auto ask = [&](FacetName name, const char* what, const auto& facet) {
    if (contains(needed, name) && !facet.is_known()) out.push_back(std::string(what) + " cannot be seen: " + facet.reason());
  };
  ask(FacetName::blocks, "block devices", seen.blocks);
  ask(FacetName::controllers, "NVMe controllers", seen.controllers);
  ask(FacetName::exports, "the nvmet configuration", seen.exports);
  ask(FacetName::arrays, "md arrays", seen.arrays);
  ask(FacetName::lvm, "volume groups", seen.lvm);
  ask(FacetName::mounts, "mounts", seen.mounts);
  ask(FacetName::units, "unit files", seen.units);
  ask(FacetName::links, "network links", seen.links);
  ask(FacetName::rdma, "RDMA devices", seen.rdma);
  ask(FacetName::kernel, "kernel features", seen.kernel);
  ask(FacetName::tools, "installed programs", seen.tools);
  ask(FacetName::identity, "the host identity", seen.identity);
  ask(FacetName::targets, "targets", seen.targets);
  ask(FacetName::records, "the agent's records", seen.records);
  ask(FacetName::sysctls, "kernel settings", seen.sysctls);
  return out;
}

}  // namespace nvstripe::configure

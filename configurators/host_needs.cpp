// Owns the check for programs and kernel modules that a volume needs, before anything of it is begun.
#include <algorithm>
#include <map>

#include "configurators/volume.hpp"

namespace nvstripe::configure {
namespace {

std::vector<Conflict> missing_programs(const VolumeSurvey& volume, const Inventory& seen) {
  std::map<std::string, std::string> needed{{"mkfs.xfs", "xfsprogs"}, {"systemctl", "systemd"}};
  if (volume.stack == Stack::md) {
    needed["mdadm"] = "mdadm";
  } else {
    for (const char* program : {"lvcreate", "pvcreate", "vgchange", "vgcreate"}) needed[program] = "lvm2";
  }
  if (volume.wanted->wipe_foreign_data) needed["wipefs"] = "util-linux";
  std::vector<Conflict> out;
  const auto& tools = seen.tools.value();
  for (const auto& [program, package] : needed) {
    if (std::find(tools.begin(), tools.end(), program) != tools.end()) continue;
    out.push_back(volume_conflict(volume.wanted->name, "host.tool_missing", "program '" + program + "' is not installed",
                                  "install package '" + package + "'"));
  }
  return out;
}

}  // namespace

std::vector<Conflict> missing_of_host(const VolumeSurvey& volume, const Inventory& seen) {
  std::vector<Conflict> out = missing_programs(volume, seen);
  const Kernel& kernel = seen.kernel.value();
  for (const std::string_view name :
       {std::string_view("xfs"), std::string_view(volume.stack == Stack::md ? "raid0" : "dm_mod")}) {
    if (!kernel.lacks_module(name)) continue;
    out.push_back(volume_conflict(volume.wanted->name, "host.kernel_feature_missing",
                                  "kernel '" + kernel.release + "' has no module '" + std::string(name) + "'",
                                  "install the modules of the running kernel, or boot one that has them"));
  }
  return out;
}

}  // namespace nvstripe::configure

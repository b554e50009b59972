// Owns the table of programs and read-only calls; where they are looked up; what their messages mean is in
// tool_messages.cpp.
#include "agent/host/tools.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

namespace nvstripe::host {
namespace {

constexpr std::array kTools = {
    Tool{"mdadm", "mdadm", "creates, assembles and stops md arrays"},
    Tool{"pvcreate", "lvm2", "marks drives as LVM's"},
    Tool{"vgcreate", "lvm2", "creates volume groups"},
    Tool{"vgchange", "lvm2", "activates and deactivates volume groups, sets their tags"},
    Tool{"vgremove", "lvm2", "removes own, unfinished volume groups"},
    Tool{"lvcreate", "lvm2", "creates striped volumes and slices"},
    Tool{"lvchange", "lvm2", "activates single volumes, sets their tags"},
    Tool{"lvremove", "lvm2", "removes own, unfinished volumes"},
    Tool{"pvs", "lvm2", "reads physical volumes"},
    Tool{"vgs", "lvm2", "reads volume groups"},
    Tool{"lvs", "lvm2", "reads logical volumes"},
    Tool{"mkfs.xfs", "xfsprogs", "makes file systems"},
    Tool{"wipefs", "util-linux", "removes signatures, with consent only"},
    Tool{"systemctl", "systemd", "mounts and unmounts through units, reloads them"},
    Tool{"systemd-run", "systemd", "starts a user's job as a unit of its own"},
    Tool{"udevadm", "udev", "reloads rules and asks for events of named devices"},
    Tool{"modprobe", "kmod", "loads kernel modules"},
    Tool{"rdma", "iproute2", "reads RDMA links"},
};

const std::string kBytes = "--units=b";

const std::vector<Reading>& readings() {
  static const std::vector<Reading> table = {
      {"lvm.pvs",
       {"pvs", "--reportformat", "json", kBytes, "--nosuffix", "-a", "-o",
        "pv_name,pv_uuid,vg_name,pv_duplicate,pv_missing,pv_size"}},
      {"lvm.vgs",
       {"vgs", "--reportformat", "json", kBytes, "--nosuffix", "-o",
        "vg_name,vg_uuid,vg_tags,vg_missing_pv_count,pv_count,vg_size,vg_free,vg_extent_size"}},
      {"lvm.lvs",
       {"lvs", "--reportformat", "json", kBytes, "--nosuffix", "-o",
        "vg_name,lv_name,lv_uuid,lv_tags,lv_size,stripes,stripe_size,lv_active,segtype"}},
  };
  return table;
}

}  // namespace

std::span<const Tool> all_tools() { return kTools; }

const Tool* find_tool(std::string_view name) {
  const auto* found = std::find_if(kTools.begin(), kTools.end(), [&](const Tool& tool) { return tool.name == name; });
  return found == kTools.end() ? nullptr : found;
}

Result<std::string> tool_path(std::string_view name) {
  const Tool* tool = find_tool(name);
  if (tool == nullptr) {
    return fail("program '" + std::string(name) + "' is not one that nvstripe calls", "report this as a defect",
                std::error_code(EPERM, std::system_category()));
  }
  for (const auto folder : kToolFolders) {
    std::string path = std::string(folder) + "/" + std::string(name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return fail("program '" + std::string(name) + "' is not installed",
              "install the package '" + std::string(tool->package) + "'", std::error_code(ENOENT, std::system_category()));
}

std::span<const Reading> all_readings() { return readings(); }

const Reading* find_reading(std::string_view name) {
  const auto& table = readings();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Reading& reading) { return reading.name == name; });
  return found == table.end() ? nullptr : &*found;
}

Result<std::string> read_output(Runner& runner, std::string_view name, const std::vector<std::string>& devices) {
  const Reading* reading = find_reading(name);
  if (reading == nullptr) return fail("reading '" + std::string(name) + "' is not in the list", "report this as a defect");
  Command command;
  command.argv = reading->argv;
  for (const auto& device : devices) command.argv.insert(command.argv.end(), {"--devices", device});
  command.deadline = reading->deadline;
  TRY(CommandResult result, runner.run(command));
  if (result.exit_status != 0) return tl::unexpected(explain(reading->argv, result));
  if (result.truncated)
    return fail("output of '" + std::string(name) + "' is longer than " + std::to_string(kMaxOutputBytes) + " bytes");
  return std::move(result.out);
}

}  // namespace nvstripe::host

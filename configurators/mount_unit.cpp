// Owns the text and name of the .mount unit, and where a volume is mounted.
#include <algorithm>

#include "agent/base/text.hpp"
#include "agent/model/guard_ours.hpp"
#include "configurators/filesystem.hpp"
#include "configurators/mount.hpp"

namespace nvstripe::configure {
namespace {

// In a unit file a percent sign begins a specifier.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    out += c;
    if (c == '%') out += c;
  }
  return out;
}

// The array's link and the VG's path do not flip to another device; a by-uuid link goes to whatever was seen last with it.
std::string what_of(const VolumeSurvey& volume) {
  if (volume.stack == Stack::lvm) return "/dev/" + volume.group + "/data";
  return "/dev/disk/by-id/md-uuid-" + to_mdadm(volume.array);
}

// systemd's own order for _netdev keeps the network up until it is unmounted; nofail keeps boot from waiting for it.
std::string options_of(const VolumeSurvey& volume) {
  std::string options = "noatime,nofail";
  if (volume.remote) options += ",_netdev";
  // The log buffer is a multiple of the log stripe unit, which is a power of two up to 256 KiB.
  return options + ",logbsize=256k";
}

}  // namespace

std::string unit_name(const std::string& mount_path) { return guard::mount_unit_name(mount_path); }
std::string unit_path(const std::string& mount_path) { return "/etc/systemd/system/" + unit_name(mount_path); }

std::string unit_text(const VolumeSurvey& volume) {
  const std::string& name = volume.wanted->name;
  std::string text = "# Made by nvstripe for volume '" + name + "'. Edits are overwritten.\n\n[Unit]\n";
  text += "Description=nvstripe volume " + escaped(name) + "\n";
  // No dependency on the agent's units, only order: stopping or upgrading the agent unmounts nothing.
  text += "After=nvstripe-fabric.service\nBefore=nvstripe-drain.service\n\n[Mount]\n";
  text += "What=" + escaped(what_of(volume)) + "\nWhere=" + escaped(volume.wanted->mount.path) + "\nType=xfs\n";
  text += "Options=" + options_of(volume) + "\nTimeoutSec=90\n";
  return text;
}

Run stop_unit(const std::string& unit) {
  Run run;
  run.argv = {"systemctl", "stop", unit};
  run.deadline = std::chrono::seconds(100);  // TimeoutSec of the unit and a little
  run.ok_exits = {0, 5};                     // 5: the unit is not loaded
  return run;
}

std::string mounted_at(const VolumeSurvey& volume, const Inventory& seen) {
  const BlockDevice* device = seen.find(volume.device);
  if (device == nullptr) return {};
  std::vector<std::string> paths = device->mount_points;
  for (const Mount& mount : seen.mounts.value().mounts) {
    if (!device->device_number.empty() && mount.device_number == device->device_number) paths.push_back(mount.path);
  }
  for (const std::string& preferred :
       {volume.wanted->mount.path, volume.record != nullptr ? volume.record->mount_path : std::string()}) {
    if (!preferred.empty() && std::find(paths.begin(), paths.end(), preferred) != paths.end()) return preferred;
  }
  return paths.empty() ? std::string() : paths.front();
}

bool is_mounted(const VolumeSurvey& volume, const Inventory& seen) { return !mounted_at(volume, seen).empty(); }

}  // namespace nvstripe::configure

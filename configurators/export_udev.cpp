// Owns /etc/udev/rules.d/62-nvstripe-exports.rules: the list of exported drives that the storage VM's own udev must leave
// alone. Without it udev assembles the consumer's md array and activates its VG from the drives while nvmet serves them
// (seen on Debian 12). It is written before a drive is served for the first time, and read again at every boot.
#include "configurators/export_udev.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "configurators/export_names.hpp"
#include "configurators/exports.hpp"

namespace nvstripe::configure {
namespace {

// How each line keeps whom off, by the rules of Debian 12 (read), and as it was tried there in a guest:
//   ANACONDA=1                     64-md-raid-assembly.rules goes to its end. Tried: on a change event and at boot (the
//   rules
//                                  are in the initramfs too) a raid0 stayed down that was assembled without them
//   DM_MULTIPATH_DEVICE_PATH=1     69-lvm.rules goes to its end: no pvscan, no activation. SYSTEMD_READY=0 alone does not
//                                  do it, since that file sets it back to 1. Tried: at boot a VG that activates by itself
//                                  stayed inactive, and 'lvchange -ay --devices' still activated it
//   SYSTEMD_READY=0                systemd makes no device unit active for the drive, so no .mount or .swap is pulled in
// 62 is after 60-persistent-storage.rules, which reads the signatures and makes the by-id links, and before the two above.
constexpr std::string_view kHead =
    "# Made by nvstripe; edits are overwritten. Drives served to other hosts: this host's udev assembles, activates and\n"
    "# mounts nothing that it finds on them.\n"
    "ACTION==\"remove\", GOTO=\"nvstripe_exports_end\"\n"
    "SUBSYSTEM!=\"block\", GOTO=\"nvstripe_exports_end\"\n";
constexpr std::string_view kTail =
    "GOTO=\"nvstripe_exports_end\"\n"
    "LABEL=\"nvstripe_exports_found\"\n"
    "ENV{ANACONDA}=\"1\", ENV{DM_MULTIPATH_DEVICE_PATH}=\"1\", ENV{SYSTEMD_READY}=\"0\"\n"
    "LABEL=\"nvstripe_exports_end\"\n";

// udev matches values as shell patterns with '|' between alternatives, and '"' ends them (A-18: odd bytes in identifiers).
std::string pattern(const std::string& value) {
  std::string text;
  for (const char byte : value) {
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                       byte == '.' || byte == '-' || byte == '_' || byte == ':';
    text += plain ? byte : '?';
  }
  return text;
}

// ATTRS looks at the device and then at its parents, so that a consumer's partitions are left alone with their drive.
std::string line(const BlockDevice& device) {
  const std::string nsid = device.nsid == 0 ? std::string() : fmt::format(", ATTRS{{nsid}}==\"{}\"", device.nsid);
  return fmt::format("ATTRS{{wwid}}==\"{}\"{}, GOTO=\"nvstripe_exports_found\"\n", pattern(device.wwid), nsid);
}

// nvme:<wwid>/<nsid> of a drive that is not there now; empty for keys of other kinds.
BlockDevice from_key(const DeviceKey& key) {
  BlockDevice device;
  const std::size_t slash = key.text.rfind('/');
  if (!key.text.starts_with("nvme:") || slash == std::string::npos) return device;
  device.wwid = key.text.substr(5, slash - 5);
  device.nsid = static_cast<std::uint32_t>(std::strtoul(key.text.c_str() + slash + 1, nullptr, 10));
  return device;
}

// A slice is an LV: matched by the device-mapper name, in which dashes of VG and LV names are doubled.
std::string slice_line(const std::string& group) {
  std::string doubled;
  for (const char byte : group) doubled += byte == '-' ? "--" : std::string(1, byte);
  return fmt::format("ENV{{DM_NAME}}==\"{}-s*\", GOTO=\"nvstripe_exports_found\"\n", pattern(doubled));
}

}  // namespace

RuleState export_rules(const ExportWishes& wishes, const Inventory& seen) {
  std::vector<std::string> lines;
  const auto add = [&](const DeviceKey& key) {
    const BlockDevice* device = seen.find(key);
    const BlockDevice named = device != nullptr && !device->wwid.empty() ? *device : from_key(key);
    if (!named.wwid.empty()) lines.push_back(line(named));
  };
  for (const DeviceKey& key : wishes.drives) add(key);
  for (const ExportRecord& record : seen.records.value().exports) {
    if (!record.retired) add(record.drive);
  }
  for (const SubsystemWish& subsystem : wishes.subsystems) {
    for (const NamespaceWish& wish : subsystem.namespaces) {
      if (wish.record.slice == 0) continue;
      lines.push_back(slice_line(slices_group(seen.host(), subsystem.wanted->name, wish.record.drive)));
    }
  }
  std::string there;
  for (const UnitFile& file : seen.units.value()) {
    if (file.path == kExportRules) there = file.text;
  }
  // A drive whose content cannot be told just now (udev works on it, say) is not known to be exported no more.
  for (const BlockDevice& device : seen.blocks.value()) {
    const bool untold = device.kind == DeviceKind::local_ssd && device.look == Look::unknown && !device.wwid.empty();
    if (untold && there.find(line(device)) != std::string::npos) lines.push_back(line(device));
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  RuleState state;
  if (!lines.empty()) {
    state.text = std::string(kHead);
    for (const std::string& one : lines) state.text += one;
    state.text += kTail;
  }
  state.current = seen.units.is_known() && there == state.text;
  state.fact = fmt::format("path:{}#{:016x}", kExportRules, derive64(Uuid{}, "rules", state.text));
  return state;
}

Draft export_udev(const Spec& spec, const Inventory& seen) {
  Draft draft;
  if (!seen.units.is_known() || !export_blindness(spec, seen).empty()) return draft;
  const ExportWishes wishes = export_wishes(spec, seen);
  const RuleState rules = export_rules(wishes, seen);
  if (rules.current) return draft;
  Action action;
  action.id = "export.rules:udev";
  action.object = "exports";
  action.gives = {rules.fact};
  if (rules.text.empty()) {
    action.sentence = "remove the udev rules of exported drives";
    action.reason = "no drive is exported any more";
    action.steps = {Remove{std::string(kExportRules)}};
  } else {
    action.sentence = "keep this host's udev off the exported drives";
    action.reason = "else it assembles and activates what their consumers put on them";
    action.steps = {PutFile{std::string(kExportRules), rules.text, 0644}};
  }
  action.steps.push_back(Run{{"udevadm", "control", "--reload"}});
  draft.actions.push_back(std::move(action));
  return draft;
}

}  // namespace nvstripe::configure

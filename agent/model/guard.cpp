// Owns the vetoes on devices: laws 1, 2, 5, 8, 10 and 12 as far as one look shows them. What an action may do with a device
// is in guard_judge.cpp. Absence is evidence only where the facet that would show presence is known.
#include "agent/model/guard.hpp"

#include <algorithm>

#include "agent/base/text.hpp"

namespace nvstripe::guard {
namespace {

using Vetoes = std::vector<Veto>;

void add(Vetoes& out, std::string id, std::string sentence) {
  out.push_back({"guard." + std::move(id), std::move(sentence)});
}

bool ends_with_component(std::string_view path, std::string_view name) {
  return !name.empty() && path.size() > name.size() && path.ends_with(name) && path[path.size() - name.size() - 1] == '/';
}

void check_kind(const BlockDevice& device, Vetoes& out) {
  switch (device.kind) {
    case DeviceKind::local_ssd:
    case DeviceKind::remote_namespace:
      break;
    case DeviceKind::system:
      add(out, "system_device", device.evidence.empty() ? "it carries the system" : device.evidence);
      break;
    case DeviceKind::network_disk:
      add(out, "network_disk", "it is a network disk" + (device.evidence.empty() ? "" : " (" + device.evidence + ")"));
      break;
    case DeviceKind::array:
      add(out, "not_a_drive", "it is an array or a logical volume");
      break;
    case DeviceKind::other:
      add(out, "no_evidence",
          device.evidence.empty() ? "nothing proves what it is" : "nothing proves what it is: " + device.evidence);
      break;
  }
  if (!device.parent.empty() || device.key.text.starts_with("part:")) add(out, "not_a_drive", "it is a partition");
}

void check_identity(const BlockDevice& device, const Inventory& seen, Vetoes& out) {
  if (device.key.empty() || device.key.text.starts_with("name:"))
    add(out, "unstable_name", "no stable identity was found for it");
  if (seen.is_double(device)) {
    add(out, "duplicate_identity", "another device answers with the same identity '" + printable(device.key.text) + "'");
  }
}

void check_use(const BlockDevice& device, const Inventory& seen, Vetoes& out) {
  if (!seen.mounts.is_known()) add(out, "facet_unknown", "mounts cannot be seen: " + seen.mounts.reason());
  if (!device.mount_points.empty()) add(out, "mounted", "it is mounted at '" + printable(device.mount_points.front()) + "'");
  for (const Mount& mount : seen.mounts.value().mounts) {
    if (!device.mount_points.empty() || device.device_number.empty()) break;
    if (mount.device_number == device.device_number) add(out, "mounted", "it is mounted at '" + printable(mount.path) + "'");
  }
  const auto& swaps = seen.mounts.value().swaps;
  const bool listed = std::any_of(swaps.begin(), swaps.end(),
                                  [&](const std::string& path) { return ends_with_component(path, device.kernel_name); });
  if (device.swap || listed) add(out, "swap", "it is used as swap");
  if (!device.holders.empty()) {
    add(out, "holder", "'" + printable(device.holders.front().text) + "' is stacked on it");
    return;
  }
  for (const MdArray& array : seen.arrays.value()) {
    for (const ArrayMember& member : array.members) {
      if (member.device == device.key) add(out, "holder", "it is a member of array '" + printable(array.uuid) + "'");
    }
  }
}

void check_exports(const BlockDevice& device, const Inventory& seen, Vetoes& out) {
  if (!seen.exports.is_known()) {
    add(out, "facet_unknown", "the nvmet configuration cannot be seen: " + seen.exports.reason());
    return;
  }
  if (is_exported(device, seen.exports.value())) add(out, "exported", "it is exported by nvmet");
  const auto matches_some = [&](const std::string& path) {
    if (!path.starts_with("/dev/disk/")) return true;  // a kernel name or an LV's path says itself which device it means
    const auto& all = seen.blocks.value();
    TargetConfiguration one{true, {}, {{"", "", "", false, {}, {{1, path, "", "", true}}}}, {}};
    return std::any_of(all.begin(), all.end(), [&](const BlockDevice& other) { return is_exported(other, one); });
  };
  for (const TargetSubsystem& subsystem : seen.exports.value().subsystems) {
    for (const TargetNamespace& ns : subsystem.namespaces) {
      if (ns.device_path.empty() || matches_some(ns.device_path)) continue;
      if (subsystem.nqn.starts_with("nqn.2026-11.io.nvstripe:")) continue;  // ours: the ledger names the drive
      add(out, "exports_unclear",
          "nvmet exports '" + printable(ns.device_path) + "', and which drive that is cannot be told");
    }
  }
}

// A remote namespace that is an own export comes back under another wwid (the local one is nvme.…, the remote uuid.…), so
// it is told by the NQN or the namespace UUID that our own target gives out.
void check_loop(const BlockDevice& device, const Inventory& seen, Vetoes& out) {
  if (device.kind != DeviceKind::remote_namespace) return;
  for (const TargetSubsystem& subsystem : seen.exports.value().subsystems) {
    const bool same_nqn = !device.subsystem_nqn.empty() && subsystem.nqn == device.subsystem_nqn;
    const bool same_id =
        std::any_of(subsystem.namespaces.begin(), subsystem.namespaces.end(), [&](const TargetNamespace& ns) {
          return !ns.uuid.empty() && (ns.uuid == device.uuid || device.wwid == "uuid." + ns.uuid);
        });
    if (same_nqn || same_id) {
      add(out, "loop", "it is this host's own export '" + printable(subsystem.nqn) + "', seen through the fabric");
      return;
    }
  }
}

void check_live(const BlockDevice& device, const Inventory& seen, Vetoes& out) {
  const bool remote = device.kind == DeviceKind::remote_namespace;
  if (!remote && device.kind != DeviceKind::local_ssd) return;
  if (!seen.controllers.is_known()) {
    if (remote) add(out, "facet_unknown", "NVMe controllers cannot be seen: " + seen.controllers.reason());
    return;
  }
  bool any = false;
  for (const NvmeController& controller : seen.controllers.value()) {
    const auto& names = device.controllers;
    if (std::find(names.begin(), names.end(), controller.kernel_name) == names.end()) continue;
    if (controller.state == "live") return;
    any = true;
  }
  if (any || remote) add(out, "not_live", "no controller that reaches it is live");
}

void check_content(const BlockDevice& device, const Inventory& seen, Vetoes& out) {
  const std::string why = device.look_reason.empty() ? "" : ": " + device.look_reason;
  if (device.look == Look::unknown) add(out, "look_unknown", "its signatures could not be read" + why);
  if (device.look == Look::ambiguous) add(out, "look_ambiguous", "the look for signatures was ambiguous" + why);
  if (device.look == Look::found || !device.signatures.empty()) {
    const std::string type = device.signatures.empty() ? "unknown" : device.signatures.front().type;
    add(out, "signature", "it carries a signature: '" + printable(type) + "'");
  }
  if (seen.lvm.is_known() && device.signatures.empty()) {
    for (const LvmPhysical& physical : seen.lvm.value().physicals) {
      if (physical.device == device.key) add(out, "signature", "LVM says that it is a physical volume");
    }
  }
  if (device.content == Content::data && device.signatures.empty()) {
    add(out, "content", "it has no signature, but sampled ranges are not zero");
  }
  const bool sampled = device.content == Content::zero || device.content == Content::data;
  if (!sampled && !(seen.captured && device.content == Content::presumed) && device.signatures.empty()) {
    add(out, "content_unknown", "its content could not be sampled");
  }
}

void check_ledger(const BlockDevice& device, const Inventory& seen, Vetoes& out) {
  if (!seen.records.is_known()) {
    add(out, "facet_unknown", "the agent's records cannot be read: " + seen.records.reason());
    return;
  }
  for (const ExportRecord& record : seen.records.value().exports) {
    if (record.drive == device.key && !record.retired) {
      add(out, "ledger", "it is exported to '" + printable(record.host_nqn) + "' by the ledger");
      return;
    }
  }
}

}  // namespace

bool is_exported(const BlockDevice& device, const TargetConfiguration& exports) {
  const auto backed_by = [&](const std::string& path) {
    if (path.empty()) return false;
    if (ends_with_component(path, device.kernel_name) || ends_with_component(path, device.dm_name)) return true;
    if (device.key.text.starts_with("lv:") && path == "/dev/" + device.key.text.substr(3)) return true;
    if (!path.starts_with("/dev/disk/by-")) return false;
    for (const std::string& id : {device.wwid, device.uuid, device.nguid, device.eui64}) {
      if (!id.empty() && path.ends_with(id)) return true;
    }
    return false;
  };
  for (const TargetSubsystem& subsystem : exports.subsystems) {
    for (const TargetNamespace& ns : subsystem.namespaces) {
      if (backed_by(ns.device_path)) return true;
    }
  }
  return false;
}

std::vector<Veto> unusable(const BlockDevice& device, const Inventory& seen, bool ignore_content) {
  Vetoes out;
  check_kind(device, out);
  check_identity(device, seen, out);
  check_use(device, seen, out);
  if (device.partitions > 0)
    add(out, "partition_table",
        "it has " + std::to_string(device.partitions) + (device.partitions == 1 ? " partition" : " partitions"));
  if (device.read_only) add(out, "read_only", "it is read-only");
  check_exports(device, seen, out);
  check_loop(device, seen, out);
  check_live(device, seen, out);
  if (!ignore_content) {
    check_ledger(device, seen, out);
    check_content(device, seen, out);
  }
  return out;
}

}  // namespace nvstripe::guard

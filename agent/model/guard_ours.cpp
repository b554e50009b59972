// Owns the answers to "is this ours?": derived identities, tags and names.
#include "agent/model/guard_ours.hpp"

#include <algorithm>

#include "agent/base/text.hpp"
#include "agent/model/guard.hpp"

namespace nvstripe::guard {
namespace {

// "nvs_<volume>_<8 hex digits>"; the volume's name, or nothing.
std::optional<std::string> volume_of_group(std::string_view vg) {
  if (!vg.starts_with("nvs_") || vg.size() < 4 + 1 + 9 || vg[vg.size() - 9] != '_') return std::nullopt;
  if (!parse_number(vg.substr(vg.size() - 8), 16)) return std::nullopt;
  return std::string(vg.substr(4, vg.size() - 13));
}

const LvmGroup* find_group(std::string_view vg, const Inventory& seen) {
  for (const LvmGroup& group : seen.lvm.value().groups) {
    if (group.name == vg) return &group;
  }
  return nullptr;
}

std::string tag_value(const std::vector<std::string>& tags, std::string_view name) {
  for (const std::string& tag : tags) {
    if (tag.starts_with(name) && tag.size() > name.size() && tag[name.size()] == '=') return tag.substr(name.size() + 1);
  }
  return {};
}

bool slice_group_of_a_drive(std::string_view vg, const Inventory& seen) {
  if (!vg.starts_with("nvx_") || vg.size() < 14 || vg[vg.size() - 9] != '_') return false;
  const auto digits = parse_number(vg.substr(vg.size() - 8), 16);
  if (!digits) return false;
  const auto matches = [&](const DeviceKey& key) {
    const std::uint64_t derived = derive64(seen.host(), "slices", key.text);
    return *digits == (derived >> 32) || *digits == (derived & 0xffffffffu);
  };
  for (const BlockDevice& device : seen.blocks.value()) {
    if (matches(device.key)) return true;
  }
  const auto& ledger = seen.records.value().exports;
  return std::any_of(ledger.begin(), ledger.end(), [&](const ExportRecord& record) { return matches(record.drive); });
}

bool same_uuid(std::string_view text, const Uuid& uuid) {
  const auto parsed = parse_uuid(text);
  return parsed && *parsed == uuid;
}

bool is_physical_of(const BlockDevice& device, const VolumeRecord& record, const Inventory& seen) {
  for (const LvmPhysical& physical : seen.lvm.value().physicals) {
    if (physical.device != device.key) continue;
    const auto volume = volume_of_group(physical.vg);
    if (!volume || *volume != record.name) return false;
    const auto digits = parse_number(std::string_view(physical.vg).substr(physical.vg.size() - 8), 16);
    return digits && (*digits == (record.generation >> 32) || *digits == (record.generation & 0xffffffffu));
  }
  return false;
}

// A PV that vgcreate has not taken yet shows no group; it is ours when its UUID is the one that we derived for it.
bool is_derived_physical(const Signature& signature, const BlockDevice& device, const VolumeRecord& record,
                         const Uuid& host) {
  std::string digits;
  for (const char c : signature.uuid) {
    if (c != '-') digits.push_back(c);
  }
  return digits == to_hex(derive(host, "pv", record.name + "\n" + device.key.text, record.generation));
}

bool explained_by(const Signature& signature, const BlockDevice& device, const VolumeRecord& record, const Inventory& seen) {
  const Uuid host = seen.host();
  const auto& members = record.members;
  const bool member = std::find(members.begin(), members.end(), device.key) != members.end();
  if (signature.type == "linux_raid_member") {
    return member && record.stage == Stage::intended &&
           same_uuid(signature.uuid, derive(host, "array", record.name, record.generation));
  }
  if (signature.type == "LVM2_member") {
    return member && record.stage == Stage::intended &&
           (is_physical_of(device, record, seen) || is_derived_physical(signature, device, record, host));
  }
  if (signature.type == "xfs") {
    return !member && record.stage != Stage::made &&
           same_uuid(signature.uuid, derive(host, "fs", record.name, record.generation));
  }
  return false;
}

}  // namespace

bool is_our_array(std::string_view uuid, const Spec& spec, const Inventory& seen) {
  const auto parsed = parse_uuid(uuid);
  if (!parsed || seen.host().is_none()) return false;
  const auto derived = [&](const auto& volume) { return derived_from(*parsed, seen.host(), "array", volume.name); };
  const auto& records = seen.records.value().volumes;
  return std::any_of(records.begin(), records.end(), derived) ||
         std::any_of(spec.volumes.begin(), spec.volumes.end(), derived);
}

bool is_our_group(std::string_view vg, const Spec& spec, const Inventory& seen) {
  if (vg.starts_with("nvx_")) return slice_group_of_a_drive(vg, seen);
  const auto volume = volume_of_group(vg);
  const auto named = [&](const auto& one) { return one.name == *volume; };
  const auto& records = seen.records.value().volumes;
  if (!volume ||
      (std::none_of(records.begin(), records.end(), named) && std::none_of(spec.volumes.begin(), spec.volumes.end(), named)))
    return false;
  const LvmGroup* group = find_group(vg, seen);
  if (group == nullptr) return true;  // about to be made
  const auto id = parse_uuid(tag_value(group->tags, "nvstripe.id"));
  return id && derived_from(*id, seen.host(), "vg", *volume);
}

std::string mount_unit_name(std::string_view path) {
  std::string name;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (c == '/') {
      if (!name.empty() && i + 1 < path.size() && path[i + 1] != '/') name.push_back('-');
      continue;
    }
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
                       (c == '.' && !name.empty());
    if (plain) {
      name.push_back(c);
    } else {
      const auto byte = static_cast<std::uint8_t>(c);
      name += "\\x" + hex(&byte, 1);
    }
  }
  return (name.empty() ? std::string("-") : name) + ".mount";
}

bool is_our_mount_path(std::string_view path, const Spec& spec, const Inventory& seen) {
  for (const VolumeSpec& volume : spec.volumes) {
    if (volume.mount.path == path) return true;
  }
  const auto& records = seen.records.value().volumes;
  return std::any_of(records.begin(), records.end(),
                     [&](const VolumeRecord& record) { return !record.mount_path.empty() && record.mount_path == path; });
}

bool is_our_unit(std::string_view unit, const Spec& spec, const Inventory& seen) {
  if (unit.starts_with("nvstripe")) return true;
  for (const VolumeSpec& volume : spec.volumes) {
    if (unit == mount_unit_name(volume.mount.path)) return true;
  }
  for (const VolumeRecord& record : seen.records.value().volumes) {
    if (!record.mount_path.empty() && unit == mount_unit_name(record.mount_path)) return true;
  }
  return false;
}

bool is_our_stack(const DeviceKey& key, const Spec& spec, const Inventory& seen) {
  if (key.text.starts_with("md:")) return is_our_array(std::string_view(key.text).substr(3), spec, seen);
  if (!key.text.starts_with("lv:")) return false;
  const auto slash = key.text.find('/');
  return slash != std::string::npos && is_our_group(std::string_view(key.text).substr(3, slash - 3), spec, seen);
}

bool is_named_as_ours(const BlockDevice& device, const Inventory& seen) {
  std::vector<std::string> names;
  for (const Signature& signature : device.signatures) {
    if (signature.type == "linux_raid_member") names.push_back(signature.label.substr(signature.label.rfind(':') + 1));
  }
  for (const LvmPhysical& physical : seen.lvm.value().physicals) {
    if (physical.device == device.key) names.push_back(physical.vg);
  }
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.starts_with("nvs-") || name.starts_with("nvs_") || name.starts_with("nvx_");
  });
}

const VolumeRecord* volume_with(const DeviceKey& key, const Records& records) {
  for (const VolumeRecord& record : records.volumes) {
    if (std::find(record.members.begin(), record.members.end(), key) != record.members.end()) return &record;
  }
  return nullptr;
}

const VolumeRecord* unfinished_owner(const BlockDevice& device, const Inventory& seen) {
  if (device.signatures.empty()) return nullptr;
  for (const VolumeRecord& record : seen.records.value().volumes) {
    const auto& found = device.signatures;
    if (std::all_of(found.begin(), found.end(),
                    [&](const Signature& signature) { return explained_by(signature, device, record, seen); })) {
      return &record;
    }
  }
  return nullptr;
}

bool is_our_slice_drive(const BlockDevice& device, const Spec& spec, const Inventory& seen) {
  const auto& found = device.signatures;
  if (found.size() != 1 || found.front().type != "LVM2_member") return false;
  const auto uuid = parse_uuid(found.front().uuid);
  const bool derived = uuid && derived_from(*uuid, seen.host(), "slices", device.key.text);
  for (const LvmPhysical& physical : seen.lvm.value().physicals) {
    if (physical.device == device.key && physical.vg.empty()) return derived;  // pvcreate ended, vgcreate did not begin
    if (physical.device == device.key) return physical.vg.starts_with("nvx_") && is_our_group(physical.vg, spec, seen);
  }
  return false;
}

std::string text_of(const Arg& arg) {
  if (const auto* reference = std::get_if<DeviceRef>(&arg)) return reference->key.text;
  return std::get<std::string>(arg);
}

std::string program_of(const Run& run) {
  if (run.argv.empty()) return {};
  std::string name = text_of(run.argv[0]);
  if (const auto slash = name.rfind('/'); slash != std::string::npos) name = name.substr(slash + 1);
  return name == "lvm" && run.argv.size() > 1 ? text_of(run.argv[1]) : name;
}

}  // namespace nvstripe::guard

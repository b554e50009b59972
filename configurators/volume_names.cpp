// Owns the names and identities of a volume's parts, and small values that its layers share.
#include <fmt/format.h>

#include "agent/base/text.hpp"
#include "configurators/volume.hpp"

namespace nvstripe::configure {

std::string array_name(const std::string& volume) { return "nvs-" + volume; }

std::string group_name(const std::string& volume, std::uint64_t generation) {
  return fmt::format("nvs_{}_{:08x}", volume, generation & 0xffffffffu);
}

Uuid physical_uuid(const Uuid& host, const std::string& volume, const DeviceKey& device, std::uint64_t generation) {
  return derive(host, "pv", volume + "\n" + device.text, generation);
}

std::string to_lvm(const Uuid& uuid) {
  const std::string digits = to_hex(uuid);
  std::string text;
  for (std::size_t at = 0; at < digits.size(); ++at) {
    if (at == 6 || at == 10 || at == 14 || at == 18 || at == 22 || at == 26) text += '-';
    text += digits[at];
  }
  return text;
}

std::optional<std::uint64_t> own_generation(const BlockDevice& device, const std::string& name, const Uuid& host) {
  for (const Signature& signature : device.signatures) {
    const bool md = signature.type == "linux_raid_member", lvm = signature.type == "LVM2_member";
    if (!md && !lvm) continue;
    // LVM's own UUIDs have letters beyond f: those are never ours.
    const auto uuid = parse_uuid(signature.uuid);
    if (!uuid) continue;
    if (md && derived_from(*uuid, host, "array", name)) return generation_of(*uuid);
    if (lvm && derived_from(*uuid, host, "pv", name + "\n" + device.key.text)) return generation_of(*uuid);
  }
  return std::nullopt;
}

VolumeRecord record_at(const VolumeSurvey& volume, Stage stage) {
  VolumeRecord record;
  if (volume.record != nullptr) record = *volume.record;
  record.name = volume.wanted->name;
  record.stack = std::string(to_text(volume.stack));
  record.generation = volume.generation;
  record.members = volume.members;
  record.stage = stage;
  return record;
}

Conflict volume_conflict(const std::string& volume, std::string id, std::string why, std::string remedy, Standing standing) {
  return {"volume '" + volume + "'", "volume:" + volume, std::move(why), std::move(remedy), standing, std::move(id)};
}

Fact block_fact(const DeviceKey& key) { return "block:" + key.text; }

std::string many(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::vector<Step> last_looks(const VolumeSurvey& volume, const Inventory& seen) {
  std::vector<Step> steps;
  for (const DeviceKey& key : volume.members) {
    const BlockDevice* device = seen.find(key);
    RequireContent look;
    look.device = key;
    if (device != nullptr) {
      look.diskseq = device->diskseq;
      look.expected = device->signatures;
      for (const DeviceKey& wiped : volume.wiped) look.any_content = look.any_content || wiped == key;
    }
    steps.push_back(std::move(look));
  }
  return steps;
}

}  // namespace nvstripe::configure

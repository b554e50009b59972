// Owns the survey of a volume: everything that the layers (array, file system, mount) must agree about, found out once from
// Spec and Inventory. Members are chosen once, when nothing of the volume exists and all that it names can be seen (law 4).
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::configure {

enum class Phase {
  blocked,  // refused, or something is not there yet: the conflicts say why, and no layer plans anything
  create,   // nothing exists; members are chosen and judged
  redo,     // an own creation that did not finish: its members carry nothing or exactly its identity
  present,  // the array exists: it runs, or all members carry its identity
};

struct VolumeSurvey {
  const VolumeSpec* wanted = nullptr;
  const VolumeRecord* record = nullptr;  // nullptr: none
  Phase phase = Phase::blocked;
  Stack stack = Stack::md;  // of the record where there is one: a stack cannot be changed in place
  std::uint64_t generation = 0;
  Uuid array, filesystem;          // as derived for that generation
  std::string group;               // LVM: name of the VG
  std::vector<DeviceKey> members;  // in slot order
  std::vector<DeviceKey> wiped;    // create only: members that carry foreign content which the spec lets us wipe
  bool members_ready = false;      // every member is seen and live
  bool remote = false;             // a member is reached over the fabric
  bool trim = false;               // members differ in size and are used up to the smallest
  DeviceKey device;                // "md:<uuid>" or "lv:<vg>/data"
  Fact fact;                       // that it runs
  bool running = false;
  std::string state;                // md: array_state; empty where there is no such array
  std::vector<Conflict> conflicts;  // said once, by the row 'volume'
  [[nodiscard]] bool made() const { return record != nullptr && record->stage == Stage::made; }
};

// One survey a volume of the spec, in its order; later volumes get what earlier ones leave.
[[nodiscard]] std::vector<VolumeSurvey> survey_volumes(const Spec& spec, const Inventory& seen);

// Only what exists, by record or identity; nothing is chosen. `wanted` need not be in the spec and must outlive the survey.
[[nodiscard]] VolumeSurvey survey_existing(const VolumeSpec& wanted, const Spec& spec, const Inventory& seen);

[[nodiscard]] std::string array_name(const std::string& volume);  // "nvs-<volume>"
[[nodiscard]] std::string group_name(const std::string& volume, std::uint64_t generation);
[[nodiscard]] Uuid physical_uuid(const Uuid& host, const std::string& volume, const DeviceKey& device,
                                 std::uint64_t generation);
[[nodiscard]] std::string to_lvm(const Uuid& uuid);  // xxxxxx-xxxx-xxxx-xxxx-xxxx-xxxx-xxxxxx

// The generation of volume `name` of this host whose identity the device carries; nullopt: it carries none.
[[nodiscard]] std::optional<std::uint64_t> own_generation(const BlockDevice& device, const std::string& name,
                                                          const Uuid& host);

// Programs and kernel modules that making the volume needs and this host has not.
[[nodiscard]] std::vector<Conflict> missing_of_host(const VolumeSurvey& volume, const Inventory& seen);

[[nodiscard]] VolumeRecord record_at(const VolumeSurvey& volume, Stage stage);
[[nodiscard]] Conflict volume_conflict(const std::string& volume, std::string id, std::string why, std::string remedy,
                                       Standing standing = Standing::refused);
[[nodiscard]] Fact block_fact(const DeviceKey& key);
[[nodiscard]] std::string many(std::size_t count, const std::string& noun);  // "4 members"
// Looks at every member just before the first write, each as it was seen in this look.
[[nodiscard]] std::vector<Step> last_looks(const VolumeSurvey& volume, const Inventory& seen);

// Says what stands in the way of volumes, and what is remembered without being wanted.
[[nodiscard]] Draft plan_volume(const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::configure

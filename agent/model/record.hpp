// Owns what the agent remembers between looks: the journal's records. A record may veto; it permits one thing only, to
// redo an own creation whose intent is recorded and whose outcome is not (law 3). Kept by agent/store, one row a record.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/base/uuid.hpp"
#include "agent/model/device_key.hpp"

namespace nvstripe {

struct IdentityRecord {  // key: "host"
  Uuid host;
  std::string source;  // spec, dmi, machine_id
  bool operator==(const IdentityRecord&) const = default;
};

// made_array: the array or VG/LV is complete. made: the file system is complete too, data may be on it.
enum class Stage { intended, made_array, made };

struct VolumeRecord {       // key: volume name
  std::string name, stack;  // stack: md or lvm
  std::uint64_t generation = 0;
  std::vector<DeviceKey> members;  // in slot order; chosen once (law 4)
  Stage stage = Stage::intended;
  std::string vg_uuid, lv_uuid;  // lvm, once seen
  std::string mount_path;        // where it was mounted last, so that a change of the spec is seen
  bool operator==(const VolumeRecord&) const = default;
};

struct ExportRecord {  // key: device key + "#" + slice number + "@" + subsystem NQN: the ledger (device identity
                       // → host, slice). One that moved on keeps its old entry, retired, so that the nsid it
                       // had in the other subsystem stays used up.
  DeviceKey drive;
  std::uint32_t slice = 0;  // 0: the whole drive
  std::string export_name, host_nqn, subsystem_nqn;
  std::uint32_t nsid = 0;        // never given out again within its subsystem
  std::uint64_t generation = 0;  // of the namespace's identity
  std::string lv_uuid;           // slices only
  bool served = false;  // it was enabled once; until then the entry only keeps the nsid, and the drive must be blank
  bool consumer_data_seen = false;  // a signature was on it: blank later means it was re-made, and is another drive
  bool retired = false;             // no longer exported; kept so that its nsid stays used up
  bool operator==(const ExportRecord&) const = default;
};

struct ConnectionRecord {  // key: nqn@transport:traddr:trsvcid; a controller that we made, during this boot
  std::string connection, nqn, transport, traddr, trsvcid, host_traddr, boot_id;
  bool operator==(const ConnectionRecord&) const = default;
};

struct TuningRecord {     // key: object + " " + attribute
  std::string object;     // "sysctl" or a device key
  std::string attribute;  // "vm.dirty_bytes" or "queue/scheduler"
  std::string old_value, set_value;
  std::uint32_t foreign_changes = 0;  // how often somebody else changed it after us (A-77)
  std::string instance;  // boot, or disk and its controllers, that it was set on: a new one starts from defaults
  bool operator==(const TuningRecord&) const = default;
};

struct HoldRecord {    // key: object; the agent's hands are off it
  std::string object;  // "volume:train", "export:pool", "tuning", "all"
  std::string why;     // hold, release, revert
  bool operator==(const HoldRecord&) const = default;
};

struct IntentRecord {  // key: action id; begun and not done: it failed, or was cut off
  std::string action_id, digest;
  bool reported = false;  // that it was cut off was said as an event
  bool operator==(const IntentRecord&) const = default;
};

struct Forget {  // removes the record of that kind ("volume", "export", …) and key
  std::string kind, key;
  bool operator==(const Forget&) const = default;
};

using Record = std::variant<IdentityRecord, VolumeRecord, ExportRecord, ConnectionRecord, TuningRecord, HoldRecord,
                            IntentRecord, Forget>;

struct Records {
  std::optional<IdentityRecord> identity;
  std::vector<VolumeRecord> volumes;
  std::vector<ExportRecord> exports;
  std::vector<ConnectionRecord> connections;
  std::vector<TuningRecord> tunings;
  std::vector<HoldRecord> holds;
  std::vector<IntentRecord> intents;
  std::uint64_t fresh_generation = 0;         // random, new for each look: what a creation planned now would use
  std::vector<std::string> accepted_digests;  // by `apply --accept`, not used up yet
  bool operator==(const Records&) const = default;

  [[nodiscard]] const VolumeRecord* volume(const std::string& name) const;
  [[nodiscard]] bool held(const std::string& object) const;  // by itself or by "all"
  void put(const Record& record);                            // replaces by key, or removes for Forget
};

[[nodiscard]] std::string record_kind(
    const Record& record);  // "identity", "volume", "export", "connection", "tuning", "hold", "intent"
[[nodiscard]] std::string record_key(const Record& record);
[[nodiscard]] std::string_view to_text(Stage stage);

}  // namespace nvstripe

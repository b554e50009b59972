// Owns what the agent remembers between looks: the journal's records. A record may veto; it permits one thing only, to
// redo an own creation whose intent is recorded and whose outcome is not (law 3). Kept by agent/store, one row a record.
#pragma once
#include <array>
#include <cstddef>
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

// How the agent learned of a job: it started it, the job told of itself, a unit's ExecStopPost, Slurm's epilog, or a file
// that another program left.
enum class JobSource { run, report, unit, slurm, marker };
enum class JobResult { success, failed, signalled, timeout, oom, unknown };

struct JobVolume {            // of a volume's block device
  std::string name;           // the volume's
  std::uint64_t diskseq = 0;  // which disk the counts belong to; a volume that was made or assembled anew counts from 0
  std::uint64_t read_bytes = 0, written_bytes = 0;
  bool operator==(const JobVolume&) const = default;
};

// Times are milliseconds since 1970; 0: not known. One that ended stays, so that another word of the same end is known
// for one; kJobsKept bounds how many.
struct JobRecord {  // key: id
  std::string id, name;
  JobSource source = JobSource::report;
  std::uint32_t uid = 0;
  std::string unit, invocation_id, boot_id;
  std::uint64_t started = 0, last_seen = 0, ended = 0;  // ended is 0 while it runs
  JobResult result = JobResult::unknown;                // once ended
  std::string reason;                                   // a word more on the result: "reboot", "watchdog"
  std::optional<std::uint32_t> exit_status;             // right or not there, never made up
  std::string signal;                                   // without SIG: "TERM"
  std::optional<double> accelerator_utilization;        // 0 to 1
  std::string accelerator_source;                       // reported: by the job itself; proxy: what a driver counted
  std::vector<JobVolume> counts_at_start;
  std::vector<JobVolume> volumes;  // what was read and written while it ran; of volumes seen at both ends
  std::optional<std::uint64_t> memory_peak_bytes;
  bool operator==(const JobRecord&) const = default;
};
inline constexpr std::size_t kJobsKept = 1000;  // of those that ended, the newest

struct Forget {  // removes the record of that kind ("volume", "export", …) and key
  std::string kind, key;
  bool operator==(const Forget&) const = default;
};

using Record = std::variant<IdentityRecord, VolumeRecord, ExportRecord, ConnectionRecord, TuningRecord, HoldRecord,
                            IntentRecord, JobRecord, Forget>;

struct Records {
  std::optional<IdentityRecord> identity;
  std::vector<VolumeRecord> volumes;
  std::vector<ExportRecord> exports;
  std::vector<ConnectionRecord> connections;
  std::vector<TuningRecord> tunings;
  std::vector<HoldRecord> holds;
  std::vector<IntentRecord> intents;
  std::vector<JobRecord> jobs;
  std::uint64_t fresh_generation = 0;         // random, new for each look: what a creation planned now would use
  std::vector<std::string> accepted_digests;  // by `apply --accept`, not used up yet
  bool operator==(const Records&) const = default;

  [[nodiscard]] const VolumeRecord* volume(const std::string& name) const;
  [[nodiscard]] bool held(const std::string& object) const;  // by itself or by "all"
  void put(const Record& record);                            // replaces by key, or removes for Forget
};

[[nodiscard]] std::string record_kind(
    const Record& record);  // "identity", "volume", "export", "connection", "tuning", "hold", "intent", "job"
[[nodiscard]] std::string record_key(const Record& record);
[[nodiscard]] std::string_view to_text(Stage stage);
[[nodiscard]] std::string_view to_text(JobSource source);
[[nodiscard]] std::string_view to_text(JobResult result);
inline constexpr std::array kJobSources{JobSource::run, JobSource::report, JobSource::unit, JobSource::slurm,
                                        JobSource::marker};
inline constexpr std::array kJobResults{JobResult::success, JobResult::failed, JobResult::signalled,
                                        JobResult::timeout, JobResult::oom,    JobResult::unknown};

}  // namespace nvstripe

// Owns Plan and its parts: what will be done, why, and what will not be done and why not. Plain values; the executor
// performs steps and decides nothing. Kinds of steps are closed and few; actions are open.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "agent/model/device_key.hpp"
#include "agent/model/inventory.hpp"
#include "agent/model/record.hpp"

namespace nvstripe {

// A fact is what an action gives or needs, and what Await waits for; the only edges of a plan. Kind first:
//   block:<key>  array:<uuid> (running)  lv:<vg>/<lv> (active)  fs:<uuid> (visible)  mount:<path>
//   controller:<nqn>@<transport>:<traddr>:<trsvcid> (live)  path:<path>  namespace:<nqn>/<nsid>  port:<trtype>:<addr>:<svc>
//   identity:<host uuid> (recorded)
using Fact = std::string;

struct DeviceRef {  // becomes /dev/<kernel name> from a fresh look, just before use
  DeviceKey key;
  bool operator==(const DeviceRef&) const = default;
};
using Arg = std::variant<std::string, DeviceRef>;

// ---- steps --------------------------------------------------------------------------------------------------------------

struct Run {  // an external program of agent/host/tools.hpp, no shell, stdin is /dev/null
  std::vector<Arg> argv;
  std::chrono::seconds deadline{60};
  std::vector<int> ok_exits{0};
  std::vector<DeviceKey> udev_lock;  // devices whose udev events wait meanwhile (flock, as `udevadm lock` does)
  bool operator==(const Run&) const = default;
};
struct WriteAttribute {  // sysfs, configfs, procfs. With a device, path is relative to its /sys/block folder
  std::optional<DeviceKey> device;
  std::string path, value;
  std::optional<DeviceKey> value_device;  // instead of value: /dev/<kernel name> of it, from a fresh look
  bool if_present = false;                // an attribute that this kernel does not have is fine
  bool of_paths = false;                  // with a device: of every hidden NVMe path behind it, not of the device itself
  bool operator==(const WriteAttribute&) const = default;
};
struct PutFile {  // atomically: temporary file, fsync, rename, fsync of the folder
  std::string path, text;
  unsigned mode = 0644;
  bool operator==(const PutFile&) const = default;
};
struct MakeDir {  // existing is fine; configfs included
  std::string path;
  bool operator==(const MakeDir&) const = default;
};
struct MakeMountPoint {  // an empty folder, mode 000 and immutable, so that nothing writes beside a missing volume
  std::string path;
  bool operator==(const MakeMountPoint&) const = default;
};
struct Link {  // symbolic; existing with the same target is fine
  std::string target, path;
  bool operator==(const Link&) const = default;
};
struct Remove {  // a file, link or empty folder; absent is fine
  std::string path;
  bool operator==(const Remove&) const = default;
};
struct SetOwner {  // of the root of a mounted volume; empty text leaves that part
  std::string path, owner, group, mode;
  bool operator==(const SetOwner&) const = default;
};
struct Connect {  // one line for /dev/nvme-fabrics, written by a child that can be abandoned
  std::string nqn, transport, traddr, trsvcid, host_traddr, hostnqn, hostid;
  std::uint32_t nr_io_queues = 0, queue_size = 0, keep_alive_tmo = 0, reconnect_delay = 0;
  std::int32_t ctrl_loss_tmo = -1, fast_io_fail_tmo = -1;
  std::chrono::seconds deadline{15};
  bool operator==(const Connect&) const = default;
};
struct Disconnect {  // resolved to the controller by address and NQN in a fresh look
  std::string nqn, transport, traddr, trsvcid;
  std::chrono::seconds deadline{30};
  bool operator==(const Disconnect&) const = default;
};
// The last look before the first write (law 5): S_ISBLK, identity and diskseq as planned, exclusively openable, in no nvmet
// configuration, not held, and carrying exactly `expected` (empty: no signature by both looks and sampled ranges read
// zero). Keeps a plain descriptor open until the action ends.
struct RequireContent {
  DeviceKey device;
  std::uint64_t diskseq = 0;
  std::vector<Signature> expected;
  bool any_content = false;  // with consent and acceptance: signatures must be `expected`, other content may be anything
  bool operator==(const RequireContent&) const = default;
};
struct Await {
  Fact fact;
  std::chrono::seconds deadline{30};
  bool operator==(const Await&) const = default;
};

// Each kind has its fields in json_plan.cpp and its sentence in plan.cpp.
using Step = std::variant<Run, WriteAttribute, PutFile, MakeDir, MakeMountPoint, Link, Remove, SetOwner, Connect, Disconnect,
                          RequireContent, Await>;

// ---- actions and plans --------------------------------------------------------------------------------------------------

enum class Risk { reversible, disruptive, writes_blank, destroys_data };
// The order of danger is reversible < disruptive < writes_blank < destroys_data; the daemon does reversible and
// writes_blank by itself, disruptive waits for `apply`, destroys_data for `apply --accept DIGEST`.

struct Action {
  std::string id;        // noun.verb:name, stable between plans: "md.create:train"
  std::string object;    // what hold and release speak of: "volume:train", "export:pool", "connection:s1", "tuning"
  std::string sentence;  // "make a raid0 array of 4 members with 128 KiB chunks for volume 'train'"
  std::string reason;    // "volume 'train' does not exist and all 4 members are blank"
  Risk risk = Risk::reversible;
  bool suspect = false;  // may block for long: ordered after everything that does not need it
  std::vector<Fact> needs, gives;
  std::vector<DeviceKey> writes;  // devices whose content this action writes; each has a RequireContent step first
  std::vector<Step> steps;
  std::vector<Step> undo;             // empty where no honest inverse exists
  std::vector<Record> before;         // written with the intent, before the first step
  std::vector<Record> after;          // written with the outcome
  std::vector<std::string> destroys;  // destroys_data only: sorted lines "<key> <size> <signatures>" that the digest covers
  bool operator==(const Action&) const = default;
};

// waiting: nothing is wrong with the spec, something is not there yet. refused: will not be done as things are.
// note: worth saying, nothing is withheld (a foreign tuning setter, say).
enum class Standing { note, waiting, refused };

struct Conflict {
  std::string subject;  // "volume 'train'"
  std::string object;   // as Action::object, so that status can show it with its volume
  std::string why, remedy;
  Standing standing = Standing::refused;
  std::string id;  // stable word for programs and tests: "volume.data_lost", "guard.signature", …
  bool operator==(const Conflict&) const = default;
};

struct Draft {  // what one configurator wants
  std::vector<Action> actions;
  std::vector<Conflict> conflicts;
  bool operator==(const Draft&) const = default;
};

struct Plan {
  std::vector<Action> actions;  // in the order they will be done
  std::vector<Conflict> conflicts;
  std::string digest;  // of the destructive actions only; empty when there are none
  bool operator==(const Plan&) const = default;
};

[[nodiscard]] std::string_view to_text(Risk risk);
[[nodiscard]] std::string_view to_text(Standing standing);
[[nodiscard]] std::string to_sentence(const Step& step);  // one line for people and for the tape

}  // namespace nvstripe

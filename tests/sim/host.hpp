// Owns a simulated machine in memory: drives, targets, controllers, arrays, LVM, mounts, units, nvmet and settings. Steps
// change it as the kernel and the tools do; argument vectors that it does not know end the test. A crash can be ordered
// before, within or after any step.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/engine/journal.hpp"
#include "agent/engine/world.hpp"
#include "tests/sim/media.hpp"

namespace nvstripe::sim {

struct Crash {};  // thrown through the loop, as a power cut would end it

// Counts everything durable that happens; a crash is ordered by that count.
class Clock {
 public:
  enum class When { before, torn };  // after one is before the next
  void crash_at(int operation, When when) { at_ = operation, when_ = when; }
  void never() { at_ = -1; }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] bool can_tear(int operation) const { return tears_.at(static_cast<std::size_t>(operation)); }
  // Runs one operation under the order; `torn` does a part of it, where it has parts.
  template <class Whole, class Torn>
  void operate(const Whole& whole, const Torn& torn, bool has_parts) {
    tears_.push_back(has_parts);
    const bool now = count_++ == at_;
    if (now && when_ == When::before) throw Crash{};
    if (now && when_ == When::torn) {
      torn();
      throw Crash{};
    }
    whole();
  }

 private:
  std::vector<bool> tears_;
  int count_ = 0, at_ = -1;
  When when_ = When::before;
};

class MemoryJournal : public Journal {
 public:
  explicit MemoryJournal(Clock& clock) : clock_(clock) {}
  Result<Records> records() override;
  Result<> write(const std::vector<Record>& records, const std::vector<EventDraft>& events) override;
  [[nodiscard]] int count_events(const std::string& type) const;
  Records kept;
  std::vector<EventDraft> events;
  bool full = false;  // every write fails

 private:
  Clock& clock_;
  std::uint64_t drawn_ = 0x1000;
};

struct Controller {
  std::string name, nqn, transport, traddr, trsvcid, host_traddr;
  bool ours = true;
};
struct Array {
  std::string uuid, name;
  std::uint32_t raid_disks = 0;
  Bytes chunk;
  std::vector<DeviceKey> members;
  std::string state = "clean";
  MediaPtr media;
  bool ours = true;
};

class Host : public World {
 public:
  explicit Host(Clock& clock);

  // ---- World ----
  Inventory look(const Spec& spec, FacetSet wanted) override;
  void begin_action(const Action& action) override;
  void end_action() override;
  Result<> perform(const Step& step) override;

  // ---- what is there ----
  Inventory base;  // facets that no step changes: links, rdma, kernel, tools, identity
  std::vector<Drive> drives;
  std::vector<Target> targets;
  std::vector<Controller> controllers;
  std::vector<Array> arrays;                    // running or inactive
  std::map<std::string, MediaPtr> array_media;  // by array UUID: what the members carry together
  std::vector<Group> groups;
  std::set<std::string> active;              // "vg/lv"
  std::map<std::string, DeviceKey> mounted;  // path → device
  std::map<std::string, SetOwner> owners;    // path → of the root of what is mounted there
  std::map<std::string, std::string> path_kinds;
  std::vector<Mount> foreign_mounts;
  std::map<std::string, std::string> files;         // units, rules and the like
  std::map<std::string, std::string> loaded_units;  // as of the last daemon-reload
  TargetConfiguration nvmet;
  std::map<std::string, std::string> settings;  // "<device key> queue/…" and /proc/sys/…
  std::vector<Sysctl> sysctls;
  bool deaf = false;                  // settings are written without effect
  std::set<DeviceKey> exported_once;  // a consumer may have data on it

  // ---- what happened ----
  std::vector<std::string> tape;         // every step, in words
  std::vector<std::string> destructive;  // "<action id>: <program and its verb>"
  std::vector<FacetSet> looks;
  int boots = 1;

  // ---- events from outside ----
  void reboot();  // memory is lost, media stays
  void set_target(const std::string& connection, bool up);
  void use_volume(const std::string& path);  // a user writes: what is mounted there becomes precious
  [[nodiscard]] MediaPtr media_of(const DeviceKey& key) const;
  [[nodiscard]] Drive* drive(const DeviceKey& key);

 private:
  friend struct Performer;
  friend class Programs;
  [[nodiscard]] std::vector<BlockDevice> blocks() const;
  void relate(std::vector<BlockDevice>& out) const;
  [[nodiscard]] bool is_live(const Controller& controller) const;
  [[nodiscard]] std::vector<DeviceKey> holders_of(const DeviceKey& key) const;
  [[nodiscard]] bool is_busy(const DeviceKey& key) const;
  void put_content(BlockDevice& device, const Media& media, Look forced) const;

  Clock& clock_;
  Spec spec_;
  std::string action_id_;
  std::set<DeviceKey> checked_;  // had their last look in this action
};

// nvmet's configfs, by path; EBUSY and the like as the kernel answers.
[[nodiscard]] Result<> nvmet_make(TargetConfiguration& nvmet, const std::string& path);
[[nodiscard]] Result<> nvmet_write(TargetConfiguration& nvmet, const std::string& path, const std::string& value);
[[nodiscard]] Result<> nvmet_link(TargetConfiguration& nvmet, const std::string& target, const std::string& path);
[[nodiscard]] Result<> nvmet_remove(TargetConfiguration& nvmet, const std::string& path);

}  // namespace nvstripe::sim

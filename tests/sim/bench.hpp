// Owns one simulated machine with its journal, spec and daemon, and how it is started anew after a crash.
#pragma once
#include <memory>

#include "agent/engine/planner.hpp"
#include "agent/engine/reconcile.hpp"
#include "tests/sim/host.hpp"

namespace nvstripe::sim {

struct Bench {
  Clock clock;
  MemoryJournal journal{clock};
  Host host{clock};
  Spec spec;
  std::unique_ptr<Reconciler> daemon = std::make_unique<Reconciler>(host, journal);
  std::int64_t now_ms = 0;
  PassReport last;

  // One pass; errors end the test.
  const PassReport& pass(const Permission& permission = {});
  // Passes until nothing is left that may be done, with waiting times skipped; ends the test when that does not come.
  const PassReport& settle(const Permission& permission = {});
  // The daemon was killed: memory of the process is gone, the machine goes on.
  void restart_daemon() { daemon = std::make_unique<Reconciler>(host, journal); }
  void reboot() {
    host.reboot();
    restart_daemon();
  }
  // As settle(); true when the ordered crash came.
  [[nodiscard]] bool settle_or_crash(const Permission& permission = {});

  // A command of the CLI: its draft is carried out with everything permitted.
  const PassReport& command(const Reconciler::DraftOf& draft);

  [[nodiscard]] Inventory look();
  [[nodiscard]] int destructive(const std::string& what) const;  // how often a line of the tape of destruction has this text
  [[nodiscard]] bool has_conflict(const std::string& id) const;  // in the last plan
};

// ---- machines
// ---------------------------------------------------------------------------------------------------------------

// Connections s1 and s2 to targets with `drives` blank drives each, and volume 'train' over `members` of them at /mnt/train.
void add_targets_and_volume(Bench& bench, unsigned drives, unsigned members, Stack stack);
void add_local_ssds(Bench& bench, unsigned count);
void add_local_volume(Bench& bench, const std::string& name, unsigned members, Stack stack);
void add_pool(Bench& bench, const std::string& name, const std::vector<std::string>& hosts, unsigned slices);

// What must be the same after whatever crash: what is mounted where, what arrays and groups run, what is served.
[[nodiscard]] std::string end_state(Bench& bench);

}  // namespace nvstripe::sim

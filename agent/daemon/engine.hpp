// Owns the engine thread: when to look, plan and act again, and what to do with requests. It decides nothing about devices;
// that is the reconciler's and the configurators' affair. It unmounts nothing when it ends (law 7).
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/api/board.hpp"
#include "agent/api/shared_store.hpp"
#include "agent/api/status.hpp"
#include "agent/daemon/spec_source.hpp"
#include "agent/daemon/tally.hpp"
#include "agent/engine/reconcile.hpp"
#include "agent/engine/world.hpp"

namespace nvstripe::daemon {

// A descriptor that says "something changed". `drain` empties it and says whether it matters.
struct ChangeSource {
  int fd = -1;
  short events = 0;  // poll's
  std::function<bool()> drain;
};

struct EngineParts {
  World& world;
  api::SharedStore& store;
  api::Board& board;
  SpecSource& specs;
  ParseSpec parse;
  int wake_fd = -1;                     // an eventfd: requests and target views write to it
  std::vector<ChangeSource> sources;    // uevents, mounts, arrays
  std::function<std::string()> pulse;   // cheap text that differs when no event tells of a change
  std::function<void()> volumes_ready;  // all volumes of the spec are mounted: told once
  std::function<Draft(const Spec&, const Inventory&, const std::string&)> release_volume;
  std::function<Draft(const Spec&, const Inventory&)> revert_tuning;
  std::function<std::int64_t()> now_ms;   // boot time
  std::function<std::string()> now_text;  // RFC 3339
  std::function<void()> watch_specs;      // (re)arms the watches of the spec folders
  int spec_fd = -1;                       // inotify of the spec folders
  Tally* tally = nullptr;                 // told of passes and actions; nullptr: nobody counts
};

class Engine {
 public:
  explicit Engine(EngineParts parts);
  void run();   // until stop(); never throws
  void stop();  // from any thread or signal context: prompt between passes
  // One round of the loop without waiting, for tests: requests, spec, pass if one is due.
  void turn();

 private:
  void wait();
  void read_sources(const std::vector<short>& revents);
  void refresh_spec(bool confirmed);
  void pass(const Permission& permission, std::uint64_t request);
  void show_progress(const Action& action, const ActionOutcome* outcome, std::uint64_t request);
  void look_only();
  void publish();
  void serve(const api::Request& request);
  [[nodiscard]] std::vector<ActionOutcome> pass_until_settled(const api::Request& request);
  void plan(const api::Request& request);
  void apply(const api::Request& request);
  void hold(const api::Request& request);
  void release(const api::Request& request);
  void revert(const api::Request& request);
  void adopt(const api::Request& request);
  void carry_out(const api::Request& request, const Reconciler::DraftOf& draft);
  void finish(const api::Request& request, const Error& error);
  void tell_ready();
  void want_pass(std::int64_t now);
  [[nodiscard]] std::int64_t retry_due_ms() const;
  [[nodiscard]] std::int64_t timeout_ms() const;

  class WatchedWorld;

  EngineParts parts_;
  std::shared_ptr<WatchedWorld> world_;  // parts_.world with a heartbeat and a memory
  Reconciler reconciler_;
  PassReport report_;
  std::string pass_error_, taken_, pulse_;
  bool looked_ = false, ready_told_ = false;
  std::int64_t pass_due_ms_ = 0;   // the next pass for what changed
  std::int64_t drift_due_ms_ = 0;  // the slow one
  std::int64_t pulse_due_ms_ = 0;
  std::int64_t passed_ms_ = 0, not_before_ms_ = 0;  // the last pass ended; events wait until then
  int idle_passes_ = 0;
  std::int64_t settle_due_ms_ = -1, settle_latest_ms_ = -1;  // a spec file is being written until then
  std::atomic<bool> stopping_{false};
};

}  // namespace nvstripe::daemon

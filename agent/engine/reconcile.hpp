// Owns the loop's one pass: look, plan, do one action, look again, until nothing more may be done now.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/engine/journal.hpp"
#include "agent/engine/world.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe {

struct ActionOutcome {
  std::string id, sentence, error, remedy;  // error empty: done
  bool operator==(const ActionOutcome&) const = default;
};

struct PassReport {
  Inventory seen;                       // the last look
  Plan plan;                            // what remains, with what it waits for
  std::vector<ActionOutcome> outcomes;  // of this pass, in order
  std::vector<std::string> withheld;    // action ids that wait for apply or acceptance
  bool operator==(const PassReport&) const = default;
};

// How far the agent may go. The daemon by itself: writes_blank but not disruptive.
struct Permission {
  bool disruptive = false;      // this pass was asked for by `apply`
  std::string accepted_digest;  // by `apply --accept`; covers destroys_data when it equals the plan's digest
  bool operator==(const Permission&) const = default;
};

// Failed actions wait longer each time: attempts and the earliest next try, by action id; lives in the daemon's memory.
struct Backoff {
  std::map<std::string, int> attempts;
  std::map<std::string, std::int64_t> not_before_ms;
};

class Reconciler {
 public:
  Reconciler(World& world, Journal& journal) : world_(world), journal_(journal) {}
  // now_ms: boot time clock, passed in so that tests need no waiting. `progress` is told each action as it begins.
  [[nodiscard]] Result<PassReport> pass(const Spec& spec, const Permission& permission, std::int64_t now_ms,
                                        const std::function<void(const Action&)>& progress = {});
  // Does the actions of a draft made outside the tables (release, revert): judged, ordered, journalled and performed like
  // those of a pass. The report's plan is what remains of the draft.
  [[nodiscard]] Result<PassReport> carry_out(const Spec& spec, const Draft& draft, const Permission& permission,
                                             std::int64_t now_ms,
                                             const std::function<void(const Action&)>& progress = {});
  // When the earliest backed-off action may be tried again; nullopt: none waits.
  [[nodiscard]] std::optional<std::int64_t> next_try_ms() const;

 private:
  World& world_;
  Journal& journal_;
  Backoff backoff_;
};

}  // namespace nvstripe

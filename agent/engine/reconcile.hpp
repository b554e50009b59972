// Owns the loop's one pass: look, plan, do one action, look again, until nothing more may be done now. After a crash nothing
// is resumed in the middle: an intent without outcome becomes an event, and the next look decides.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <set>
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
  std::vector<std::string> backed_off;  // action ids that failed before and wait for their next try
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

inline constexpr std::int64_t kFirstRetryMs = 2'000;
inline constexpr std::int64_t kLastRetryMs = 120'000;     // a target that comes back is used within two minutes
inline constexpr std::size_t kMaxActionsOfAPass = 2'000;  // a bound against configurators that disagree for ever

class Reconciler {
 public:
  // How a plan is drafted from what is seen; make_plan, except for commands.
  using Drafting = std::function<Plan(const Spec&, const Inventory&)>;
  // Told each action as it begins, without an outcome, and as it ends, with it.
  using Progress = std::function<void(const Action&, const ActionOutcome*)>;

  Reconciler(World& world, Journal& journal) : world_(world), journal_(journal) {}
  // now_ms: boot time clock, passed in so that tests need no waiting.
  // An error means that the journal could not be read or written: nothing is done without it.
  [[nodiscard]] Result<PassReport> pass(const Spec& spec, const Permission& permission, std::int64_t now_ms,
                                        const Progress& progress = {});
  // The same loop for a command (release, revert) whose object is on hold: what `draft` wants after each look is judged,
  // ordered and done alike. It ends at the first failure, since later actions of a command build on earlier ones.
  using DraftOf = std::function<Draft(const Spec&, const Inventory&)>;
  [[nodiscard]] Result<PassReport> carry_out(const Spec& spec, const DraftOf& draft, const Permission& permission,
                                             std::int64_t now_ms, const Progress& progress = {});
  // Each action of the draft once.
  [[nodiscard]] Result<PassReport> carry_out(const Spec& spec, const Draft& draft, const Permission& permission,
                                             std::int64_t now_ms, const Progress& progress = {});
  // When the earliest backed-off action may be tried again; nullopt: none waits.
  [[nodiscard]] std::optional<std::int64_t> next_try_ms() const;

 private:
  struct Pass;  // what one pass keeps between its actions

  [[nodiscard]] Result<PassReport> loop(Pass& pass);
  [[nodiscard]] Result<> report_interrupted();
  [[nodiscard]] Result<> look(Pass& pass, FacetSet wanted);
  [[nodiscard]] static bool was_tried(Pass& pass, const Action& action);
  [[nodiscard]] const Action* choose(Pass& pass);
  [[nodiscard]] Result<> carry_one(Pass& pass, const Action& action);
  [[nodiscard]] Result<> finish(Pass& pass);
  void failed(Pass& pass, const Action& action, const Error& error);
  static void ended(Pass& pass, const Action& action, ActionOutcome outcome);

  World& world_;
  Journal& journal_;
  Backoff backoff_;
  bool started_ = false;
  std::map<std::string, Conflict> said_;            // conflicts told as events, by object, id and why
  std::map<std::string, std::string> controllers_;  // our controllers by record key → state last seen
  std::map<std::string, std::int64_t> lost_at_ms_;
};

}  // namespace nvstripe

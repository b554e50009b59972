// Owns the loop. Each action: intent (with the records it needs first) in one transaction, steps, outcome in one
// transaction, and another look, which alone decides what comes next.
#include "agent/engine/reconcile.hpp"

#include <algorithm>

#include "agent/engine/happened.hpp"
#include "agent/engine/planner.hpp"

namespace nvstripe {

struct Reconciler::Pass {
  const Spec& spec;
  const Permission& permission;
  std::int64_t now_ms;
  const Progress& progress;
  const Drafting& drafting;
  PassReport report;
  std::map<std::string, Action> tried;  // done or failed in this pass, by id: none is done twice in one
  std::map<std::string, int> renewed;   // how often one was wanted again with other steps
  std::set<std::string> done;
  std::set<std::string> accepted_lines;  // what the accepted digest covers, once it matched
  bool looked_fully = false;             // since the last action
  bool is_command = false;               // each action once, and the first failure ends it
};

namespace {

std::int64_t retry_after_ms(int attempts) {
  std::int64_t wait = kFirstRetryMs;
  for (int i = 1; i < attempts && wait < kLastRetryMs; ++i) wait *= 2;
  return std::min(wait, kLastRetryMs);
}

constexpr int kMaxRenewals = 3;

bool only_looks(const Step& step) { return std::holds_alternative<RequireContent>(step); }

// What a refused connect was to make is nobody's. One whose end is not known (its time was over, its child was lost) may
// still come about, and is ours then.
void forget_connections(const Action& action, const Error& error, std::vector<Record>& records) {
  if (is_errno(error, ETIMEDOUT) || is_errno(error, EPIPE)) return;
  for (const Record& record : action.before) {
    if (std::holds_alternative<ConnectionRecord>(record)) records.emplace_back(Forget{"connection", record_key(record)});
  }
}

bool is_open(const std::string& action_id, const Inventory& seen) {
  const auto& intents = seen.records.value().intents;
  return std::any_of(intents.begin(), intents.end(), [&](const IntentRecord& one) { return one.action_id == action_id; });
}

std::string conflict_key(const Conflict& conflict) { return conflict.object + "\n" + conflict.id + "\n" + conflict.subject; }

bool all_hold(const std::vector<Fact>& facts, const Inventory& seen) {
  return std::all_of(facts.begin(), facts.end(), [&](const Fact& fact) { return holds(fact, seen); });
}

}  // namespace

Result<> Reconciler::report_interrupted() {
  if (started_) return {};
  TRY(const Records records, journal_.records());
  std::vector<Record> written;
  std::vector<EventDraft> events;
  for (IntentRecord intent : records.intents) {
    if (intent.reported) continue;
    events.push_back(event_of_interruption(intent));
    intent.reported = true;
    written.emplace_back(intent);
  }
  if (!written.empty()) CHECKED(journal_.write(written, events));
  started_ = true;
  return {};
}

Result<> Reconciler::look(Pass& pass, FacetSet wanted) {
  pass.report.seen = world_.look(pass.spec, wanted);
  TRY(Records records, journal_.records());
  pass.report.seen.records = Facet<Records>::known(std::move(records));
  pass.report.plan = pass.drafting(pass.spec, pass.report.seen);
  if (pass.is_command)
    std::erase_if(pass.report.plan.actions, [&](const Action& action) { return pass.done.contains(action.id); });
  pass.looked_fully = wanted == kAllFacets;
  const Plan& plan = pass.report.plan;
  if (pass.accepted_lines.empty() && !plan.digest.empty() && plan.digest == pass.permission.accepted_digest) {
    for (const Action& action : plan.actions) {
      if (action.risk == Risk::destroys_data) pass.accepted_lines.insert(action.destroys.begin(), action.destroys.end());
    }
  }
  return {};
}

// Whether it was done or failed in this pass. One that does no writing and is wanted with other steps by now (a file that
// lists what other actions made, say) is another action of the same name, a few times.
bool Reconciler::was_tried(Pass& pass, const Action& action) {
  const auto tried = pass.tried.find(action.id);
  if (tried == pass.tried.end()) return false;
  const bool other = pass.done.contains(action.id) && action.risk == Risk::reversible && action.steps != tried->second.steps;
  return !other || pass.renewed[action.id] >= kMaxRenewals;
}

// The first action of the order that may be done now. Withheld, failed and waiting ones are passed over, and with them what
// needs them, since their facts do not hold.
const Action* Reconciler::choose(Pass& pass) {
  pass.report.withheld.clear();
  pass.report.backed_off.clear();
  const Action* chosen = nullptr;
  for (const Action& action : pass.report.plan.actions) {
    const auto covered = [&](const std::string& line) { return pass.accepted_lines.contains(line); };
    const bool permitted =
        action.risk == Risk::destroys_data
            ? std::all_of(action.destroys.begin(), action.destroys.end(), covered) && !action.destroys.empty()
            : action.risk != Risk::disruptive || pass.permission.disruptive;
    if (!permitted) {
      pass.report.withheld.push_back(action.id);
      continue;
    }
    const auto wait = backoff_.not_before_ms.find(action.id);
    if (was_tried(pass, action) || (wait != backoff_.not_before_ms.end() && pass.now_ms < wait->second)) {
      pass.report.backed_off.push_back(action.id);
      continue;
    }
    if (chosen == nullptr && all_hold(action.needs, pass.report.seen)) chosen = &action;
  }
  return chosen;
}

void Reconciler::failed(Pass& pass, const Action& action, const Error& error) {
  const int attempts = ++backoff_.attempts[action.id];
  backoff_.not_before_ms[action.id] = pass.now_ms + retry_after_ms(attempts);
  ended(pass, action, {action.id, action.sentence, error.what, error.remedy});
}

void Reconciler::ended(Pass& pass, const Action& action, ActionOutcome outcome) {
  if (pass.progress) pass.progress(action, &outcome);
  pass.report.outcomes.push_back(std::move(outcome));
}

Result<> Reconciler::carry_one(Pass& pass, const Action& action) {
  if (pass.progress) pass.progress(action, nullptr);
  std::vector<Record> before = action.before;
  std::vector<EventDraft> begun;
  const bool destroys = action.risk == Risk::destroys_data;
  before.emplace_back(IntentRecord{action.id, destroys ? pass.permission.accepted_digest : std::string{}, false});
  if (destroys) begun.push_back(event_of_acceptance(pass.permission.accepted_digest));
  CHECKED(journal_.write(before, begun));
  world_.begin_action(action);
  Result<> done;
  bool touched = is_open(action.id, pass.report.seen);  // whether anything may have been changed, now or before
  for (const Step& step : action.steps) {
    touched = touched || !only_looks(step);
    done = world_.perform(step);
    if (!done) break;
  }
  world_.end_action();
  if (!pass.tried.insert_or_assign(action.id, action).second) ++pass.renewed[action.id];
  pass.done.erase(action.id);
  if (!done) {
    failed(pass, action, done.error());
    // Its end is said by this event; it stays, since a redo may need it. Where a last look refused, nothing was begun: an
    // intent left behind would let the next plan take what the look found for the rest of an own creation.
    std::vector<Record> left{touched ? Record(IntentRecord{action.id, {}, true}) : Record(Forget{"intent", action.id})};
    forget_connections(action, done.error(), left);
    return journal_.write(left, events_of_failure(action, done.error()));
  }
  std::vector<Record> after = action.after;
  after.emplace_back(Forget{"intent", action.id});
  pass.done.insert(action.id);
  CHECKED(journal_.write(after, events_of_success(action, pass.report.seen)));
  ended(pass, action, {action.id, action.sentence, {}, {}});
  return {};
}

// Says what changed since the last pass, and forgets intents once all is quiet.
Result<> Reconciler::finish(Pass& pass) {
  std::vector<EventDraft> events = events_of_controllers(controllers_, lost_at_ms_, pass.report.seen, pass.now_ms);
  std::map<std::string, Conflict> now;
  for (const Conflict& conflict : pass.report.plan.conflicts) {
    if (conflict.standing == Standing::note) continue;
    now.emplace(conflict_key(conflict), conflict);
    if (said_.contains(conflict_key(conflict))) continue;
    for (EventDraft& found : events_of_conflict(conflict)) events.push_back(std::move(found));
  }
  for (const auto& [key, conflict] : said_) {
    if (!now.contains(key)) events.push_back(event_of_cleared(conflict));
  }
  std::vector<Record> forgotten;
  if (pass.report.plan.actions.empty() && now.empty()) {
    for (const IntentRecord& intent : pass.report.seen.records.value().intents) {
      forgotten.emplace_back(Forget{"intent", intent.action_id});
    }
  }
  if (!events.empty() || !forgotten.empty()) CHECKED(journal_.write(forgotten, events));
  said_ = std::move(now);
  std::erase_if(backoff_.attempts, [&](const auto& entry) {
    const auto& left = pass.report.plan.actions;
    return std::none_of(left.begin(), left.end(), [&](const Action& action) { return action.id == entry.first; });
  });
  std::erase_if(backoff_.not_before_ms, [&](const auto& entry) { return !backoff_.attempts.contains(entry.first); });
  return {};
}

Result<PassReport> Reconciler::loop(Pass& pass) {
  CHECKED(report_interrupted());
  CHECKED(look(pass, kAllFacets));
  for (std::size_t count = 0; count < kMaxActionsOfAPass; ++count) {
    const Action* next = choose(pass);
    if (next == nullptr) {
      if (pass.looked_fully) break;
      CHECKED(look(pass, kAllFacets));
      continue;
    }
    const Action action = *next;  // the plan it stands in is replaced by the look
    CHECKED(carry_one(pass, action));
    if (pass.done.contains(action.id)) {
      backoff_.not_before_ms.erase(action.id);
    } else if (pass.is_command) {
      CHECKED(look(pass, kAllFacets));
      break;
    }
    CHECKED(look(pass, facets_changed_by(action)));
    pass.looked_fully = false;
  }
  for (const Action& action : pass.report.plan.actions) {
    if (!pass.done.contains(action.id) || !was_tried(pass, action)) continue;
    failed(pass, action, Error{"'" + action.sentence + "' was done and had no effect", "see what undoes it", {}});
  }
  CHECKED(finish(pass));
  return std::move(pass.report);
}

Result<PassReport> Reconciler::pass(const Spec& spec, const Permission& permission, std::int64_t now_ms,
                                    const Progress& progress) {
  const Drafting drafting = [](const Spec& wanted, const Inventory& seen) { return make_plan(wanted, seen); };
  if (permission.disruptive) backoff_.not_before_ms.clear();  // a person asked: try at once
  Pass pass{spec, permission, now_ms, progress, drafting, {}, {}, {}, {}, {}, false, false};
  return loop(pass);
}

Result<PassReport> Reconciler::carry_out(const Spec& spec, const DraftOf& draft, const Permission& permission,
                                         std::int64_t now_ms, const Progress& progress) {
  const Drafting drafting = [&](const Spec& wanted, const Inventory& seen) {
    return plan_of(draft(wanted, seen), wanted, seen, Holds::ignore);
  };
  Pass pass{spec, permission, now_ms, progress, drafting, {}, {}, {}, {}, {}, false, true};
  return loop(pass);
}

Result<PassReport> Reconciler::carry_out(const Spec& spec, const Draft& draft, const Permission& permission,
                                         std::int64_t now_ms, const Progress& progress) {
  std::set<std::string> begun;
  const DraftOf rest = [&](const Spec&, const Inventory&) {
    Draft left = draft;
    std::erase_if(left.actions, [&](const Action& action) { return begun.contains(action.id); });
    return left;
  };
  const Progress note = [&](const Action& action, const ActionOutcome* outcome) {
    begun.insert(action.id);
    if (progress) progress(action, outcome);
  };
  return carry_out(spec, rest, permission, now_ms, note);
}

std::optional<std::int64_t> Reconciler::next_try_ms() const {
  std::optional<std::int64_t> earliest;
  for (const auto& [id, at] : backoff_.not_before_ms) {
    if (!earliest || at < *earliest) earliest = at;
  }
  return earliest;
}

}  // namespace nvstripe

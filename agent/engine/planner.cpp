// Owns drafting by all configurators, the guard's judgement on each draft, and the order. Pure; the same input in any order
// gives the same bytes.
#include "agent/engine/planner.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "agent/base/digest.hpp"
#include "agent/base/text.hpp"
#include "agent/engine/tables.hpp"
#include "agent/model/guard.hpp"

namespace nvstripe {
namespace {

struct FacetView {
  FacetName name;
  std::string_view text;
  bool known;
  std::string reason;
};

template <class T>
FacetView view(FacetName name, std::string_view text, const Facet<T>& facet) {
  return {name, text, facet.is_known(), facet.reason()};
}

std::vector<FacetView> facets(const Inventory& seen) {
  using enum FacetName;
  return {view(blocks, "block devices", seen.blocks),
          view(controllers, "NVMe controllers", seen.controllers),
          view(exports, "nvmet", seen.exports),
          view(arrays, "md arrays", seen.arrays),
          view(lvm, "LVM", seen.lvm),
          view(mounts, "mounts", seen.mounts),
          view(units, "unit files", seen.units),
          view(links, "network links", seen.links),
          view(rdma, "RDMA devices", seen.rdma),
          view(kernel, "the kernel's features", seen.kernel),
          view(tools, "tools", seen.tools),
          view(identity, "the host's identity", seen.identity),
          view(targets, "targets", seen.targets),
          view(records, "the agent's records", seen.records),
          view(sysctls, "sysctls", seen.sysctls)};
}

Draft draft_of(const Configurator& configurator, const Spec& spec, const Inventory& seen) {
  Draft blind;
  for (const FacetView& facet : facets(seen)) {
    if (!contains(configurator.reads, facet.name) || facet.known) continue;
    blind.conflicts.push_back({std::string(configurator.name), std::string(configurator.name),
                               "cannot see " + std::string(facet.text) + ": " + facet.reason,
                               "make it readable; nothing is planned on missing information", Standing::waiting,
                               "plan.cannot_see"});
  }
  return blind.conflicts.empty() ? configurator.plan(spec, seen) : blind;
}

void append(Draft& to, Draft from) {
  std::move(from.actions.begin(), from.actions.end(), std::back_inserter(to.actions));
  std::move(from.conflicts.begin(), from.conflicts.end(), std::back_inserter(to.conflicts));
}

Conflict against(const Action& action, std::string id, std::string why, std::string remedy, Standing standing) {
  return {subject_of(action.object), action.object, std::move(why), std::move(remedy), standing, std::move(id)};
}

// Held objects plan nothing and complain of nothing.
void drop_held(Draft& draft, const Records& records) {
  std::erase_if(draft.actions, [&](const Action& action) { return records.held(action.object); });
  std::erase_if(draft.conflicts, [&](const Conflict& conflict) { return records.held(conflict.object); });
  for (const HoldRecord& hold : records.holds) {
    draft.conflicts.push_back({subject_of(hold.object), hold.object, "on hold by '" + hold.why + "'",
                               "'nvstripe apply' lifts the hold", Standing::note, "hold"});
  }
}

// Two drafts of one id: equal ones are one action, others are a defect that must not be done half.
void merge_doubles(Draft& draft) {
  auto& actions = draft.actions;
  std::stable_sort(actions.begin(), actions.end(), [](const Action& a, const Action& b) { return a.id < b.id; });
  std::vector<Action> kept;
  for (std::size_t i = 0; i < actions.size();) {
    std::size_t end = i + 1;
    while (end < actions.size() && actions[end].id == actions[i].id) ++end;
    const bool equal =
        std::all_of(actions.begin() + static_cast<std::ptrdiff_t>(i), actions.begin() + static_cast<std::ptrdiff_t>(end),
                    [&](const Action& other) { return other == actions[i]; });
    if (equal) {
      kept.push_back(std::move(actions[i]));
    } else {
      draft.conflicts.push_back(against(actions[i], "plan.double_action",
                                        "two different actions are called '" + actions[i].id + "'",
                                        "report this as a defect", Standing::refused));
    }
    i = end;
  }
  actions = std::move(kept);
}

void judge_all(Draft& draft, const Spec& spec, const Inventory& seen) {
  std::vector<Action> allowed;
  for (Action& action : draft.actions) {
    const guard::Veto veto = guard::judge(action, spec, seen);
    if (veto.id.empty()) {
      allowed.push_back(std::move(action));
    } else {
      draft.conflicts.push_back(against(action, veto.id, "will not " + action.sentence + ": " + veto.sentence,
                                        std::string(guard::remedy_of(veto.id)), Standing::refused));
    }
  }
  draft.actions = std::move(allowed);
}

// Takes out actions whose needs nobody gives and nobody sees, until none is left.
void drop_unmet(Draft& draft, const Inventory& seen) {
  std::map<Fact, bool> known;
  const auto seen_already = [&](const Fact& fact) {
    const auto [at, fresh] = known.try_emplace(fact, false);
    if (fresh) at->second = holds(fact, seen);
    return at->second;
  };
  for (bool changed = true; changed;) {
    changed = false;
    std::set<Fact> given;
    for (const Action& action : draft.actions) given.insert(action.gives.begin(), action.gives.end());
    std::vector<Action> kept;
    for (Action& action : draft.actions) {
      const auto unmet = std::find_if(action.needs.begin(), action.needs.end(),
                                      [&](const Fact& fact) { return !given.contains(fact) && !seen_already(fact); });
      if (unmet == action.needs.end()) {
        kept.push_back(std::move(action));
        continue;
      }
      changed = true;
      draft.conflicts.push_back(against(action, "plan.unmet_need",
                                        "cannot " + action.sentence + " before '" + printable(*unmet) + "' is there",
                                        "see what keeps it away", Standing::waiting));
    }
    draft.actions = std::move(kept);
  }
}

// By facts; ties by id, since actions come sorted by it. A suspect is taken only when nothing else is ready.
std::vector<Action> order(Draft& draft) {
  auto& actions = draft.actions;
  std::map<Fact, std::vector<std::size_t>> givers;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    for (const Fact& fact : actions[i].gives) givers[fact].push_back(i);
  }
  std::vector<std::set<std::size_t>> waits(actions.size());
  std::vector<std::vector<std::size_t>> dependants(actions.size());
  for (std::size_t i = 0; i < actions.size(); ++i) {
    for (const Fact& fact : actions[i].needs) {
      for (const std::size_t giver : givers[fact]) {
        if (giver != i && waits[i].insert(giver).second) dependants[giver].push_back(i);
      }
    }
  }
  std::set<std::pair<bool, std::size_t>> ready;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (waits[i].empty()) ready.insert({actions[i].suspect, i});
  }
  std::vector<Action> ordered;
  std::vector<bool> done(actions.size(), false);
  while (!ready.empty()) {
    const std::size_t next = ready.begin()->second;
    ready.erase(ready.begin());
    done[next] = true;
    for (const std::size_t dependant : dependants[next]) {
      waits[dependant].erase(next);
      if (waits[dependant].empty()) ready.insert({actions[dependant].suspect, dependant});
    }
    ordered.push_back(std::move(actions[next]));
  }
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (done[i]) continue;
    draft.conflicts.push_back(against(actions[i], "plan.cycle",
                                      "'" + actions[i].id + "' waits for something that waits for it",
                                      "report this as a defect", Standing::refused));
  }
  return ordered;
}

void sort_conflicts(std::vector<Conflict>& conflicts) {
  const auto key = [](const Conflict& c) { return std::tie(c.object, c.id, c.why, c.subject, c.remedy, c.standing); };
  std::sort(conflicts.begin(), conflicts.end(), [&](const Conflict& a, const Conflict& b) { return key(a) < key(b); });
  conflicts.erase(std::unique(conflicts.begin(), conflicts.end()), conflicts.end());
}

}  // namespace

Plan plan_of(Draft draft, const Spec& spec, const Inventory& seen, Holds policy) {
  if (policy == Holds::respect) drop_held(draft, seen.records.value());
  merge_doubles(draft);
  judge_all(draft, spec, seen);
  drop_unmet(draft, seen);
  Plan plan;
  plan.actions = order(draft);
  plan.conflicts = std::move(draft.conflicts);
  sort_conflicts(plan.conflicts);
  plan.digest = digest_of(plan.actions);
  return plan;
}

Plan make_plan(const Spec& spec, const Inventory& seen) {
  Draft draft;
  for (const Configurator& configurator : all_configurators()) append(draft, draft_of(configurator, spec, seen));
  return plan_of(std::move(draft), spec, seen, Holds::respect);
}

std::string digest_of(const std::vector<Action>& actions) {
  std::set<std::string> lines;
  for (const Action& action : actions) {
    if (action.risk == Risk::destroys_data) lines.insert(action.destroys.begin(), action.destroys.end());
  }
  if (lines.empty()) return {};
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return sha256_hex(text);
}

std::string subject_of(const std::string& object) {
  const auto colon = object.find(':');
  if (colon == std::string::npos) return object;
  return object.substr(0, colon) + " '" + object.substr(colon + 1) + "'";
}

}  // namespace nvstripe

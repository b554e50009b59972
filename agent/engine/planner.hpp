// Owns the way from Spec and Inventory to Plan: draft all, judge, order by facts. Pure.
#pragma once
#include <string>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe {

// Same input, same bytes: ties are ordered by id. Vetoed actions become conflicts, and so do those that need them. A need
// that nobody gives and nobody sees is a conflict. Held objects plan nothing; a note says that they are held.
[[nodiscard]] Plan make_plan(const Spec& spec, const Inventory& seen);

// The same for one draft, for commands such as release and revert, whose object is on hold meanwhile.
enum class Holds { respect, ignore };
[[nodiscard]] Plan plan_of(Draft draft, const Spec& spec, const Inventory& seen, Holds holds);

// Whether a fact holds in what is seen.
[[nodiscard]] bool holds(const Fact& fact, const Inventory& seen);
// The facets that tell whether it holds.
[[nodiscard]] FacetSet facets_of(const Fact& fact);
// The facets that doing the action may change: by what it gives and by its steps. Unknown steps change all.
[[nodiscard]] FacetSet facets_changed_by(const Action& action);

// SHA-256 hex over the sorted `destroys` lines of the destructive actions; empty when there are none.
[[nodiscard]] std::string digest_of(const std::vector<Action>& actions);

// "volume:train" → "volume 'train'".
[[nodiscard]] std::string subject_of(const std::string& object);
[[nodiscard]] std::string plan_text(const Plan& plan);  // one sentence an action with its reason, then conflicts with remedy

}  // namespace nvstripe

// Owns the way from Spec and Inventory to Plan: draft all, judge, order by facts. Pure.
#pragma once
#include <string>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe {

// Same input, same bytes: ties are ordered by id. Vetoed actions become conflicts, and so do those that need them. A need
// that nobody gives and nobody sees is a conflict. Held objects plan nothing.
[[nodiscard]] Plan make_plan(const Spec& spec, const Inventory& seen);

// Whether a fact holds in what is seen.
[[nodiscard]] bool holds(const Fact& fact, const Inventory& seen);
// The facets that tell whether it holds.
[[nodiscard]] FacetSet facets_of(const Fact& fact);

// SHA-256 hex over the sorted `destroys` lines of the destructive actions; empty when there are none.
[[nodiscard]] std::string digest_of(const std::vector<Action>& actions);

[[nodiscard]] std::string plan_text(const Plan& plan);  // one sentence an action with its reason, then conflicts with remedy

}  // namespace nvstripe

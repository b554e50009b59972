// Owns short questions about drafts for the tests of configurators: what is planned, refused, vetoed, in words.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::drafts {

[[nodiscard]] Draft all(const Spec& spec,
                        const Inventory& seen);                  // of every row of the table, tuning off, settings left out
[[nodiscard]] std::vector<std::string> ids(const Draft& draft);  // of the actions, sorted
[[nodiscard]] std::vector<std::string> conflict_ids(const Draft& draft);  // sorted
[[nodiscard]] std::optional<Action> action(const Draft& draft, const std::string& id);
[[nodiscard]] std::optional<Conflict> conflict(const Draft& draft, const std::string& id);
[[nodiscard]] std::string text(const Draft& draft);  // actions with steps, then conflicts
[[nodiscard]] std::string vetoes(const Draft& draft, const Spec& spec, const Inventory& seen);  // of the guard; empty: none
[[nodiscard]] std::string golden(const std::string& name, const Draft& draft);
[[nodiscard]] std::string steps(const Action& action);  // one line a step

// What a look would show after the action: facts it gives, records it writes. Enough to walk from layer to layer.
void perform(Inventory& seen, const Action& action);

}  // namespace nvstripe::drafts

// Owns which events an action, a conflict or a changed controller becomes. Pure.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/engine/journal.hpp"
#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"

namespace nvstripe {

[[nodiscard]] std::string event_subject(const std::string& object);  // "volume:train" → "volume/train"

// action.succeeded and what it means in the domain: told by the steps and records of the action, not by its name.
[[nodiscard]] std::vector<EventDraft> events_of_success(const Action& action, const Inventory& seen);
[[nodiscard]] std::vector<EventDraft> events_of_failure(const Action& action, const Error& error);
[[nodiscard]] EventDraft event_of_interruption(const IntentRecord& intent);
[[nodiscard]] EventDraft event_of_acceptance(const std::string& digest);
[[nodiscard]] std::vector<EventDraft> events_of_conflict(const Conflict& conflict);
[[nodiscard]] EventDraft event_of_cleared(const Conflict& conflict);

// connection.lost and connection.restored for controllers of ours, told by their states then and now.
[[nodiscard]] std::vector<EventDraft> events_of_controllers(std::map<std::string, std::string>& states,
                                                            std::map<std::string, std::int64_t>& lost_at_ms,
                                                            const Inventory& seen, std::int64_t now_ms);

}  // namespace nvstripe

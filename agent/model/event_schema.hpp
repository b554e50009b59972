// Owns the JSON schemas of events' data: made from the table of types, so that neither knows a key that the other does not.
#pragma once
#include <string>
#include <string_view>

namespace nvstripe {

// One JSON schema 2020-12 with a definition a type: docs/event-schemas.json. Keys may be added to a type later, so others
// are allowed.
[[nodiscard]] std::string event_schemas();
// What of `data` is not as the schema of `type` says; empty: nothing.
[[nodiscard]] std::string schema_problem(std::string_view type, std::string_view data);

}  // namespace nvstripe

// Tests the table of event types.
#include "agent/model/event.hpp"

#include <regex>
#include <set>

#include "tests/support/catch.hpp"

namespace nvstripe {

TEST_CASE("every event type is named noun, past verb and version, once, with a summary") {
  const std::regex shape("io\\.nvstripe\\.[a-z]+\\.[a-z_]+\\.v[0-9]+");
  std::set<std::string_view> names;
  for (const EventType& type : all_event_types()) {
    CAPTURE(std::string(type.name));
    CHECK(std::regex_match(std::string(type.name), shape));
    CHECK(names.insert(type.name).second);
    CHECK_FALSE(type.summary.empty());
    CHECK_FALSE(type.subject.empty());
  }
  CHECK(is_event_type(event::kVolumeMounted));
  CHECK_FALSE(is_event_type("io.nvstripe.volume.mounted"));
}

}  // namespace nvstripe

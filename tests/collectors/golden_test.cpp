// Each captured machine against its golden summary: what is seen, of which kind, and whether it may be used.
#include "tests/support/golden.hpp"
#include "tests/collectors/host_fixture.hpp"
#include "tests/support/catch.hpp"

namespace nvstripe {

TEST_CASE("every captured machine reads as its golden summary says") {
  const auto names = fixture::host_names();
  REQUIRE(names.size() >= 13);
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(golden_difference("hosts/" + name + ".txt", fixture::summary(fixture::look_at(name))) == "");
  }
}

}  // namespace nvstripe

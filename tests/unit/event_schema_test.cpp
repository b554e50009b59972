// Tests the schemas of events' data, and that the file of them is what the table makes.
#include "agent/model/event_schema.hpp"

#include <fstream>
#include <iterator>

#include "agent/model/event.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;

TEST_CASE("docs/event-schemas.json is what the table makes") {
  const std::string path = std::string(NVSTRIPE_SOURCE_DIR) + "/docs/event-schemas.json";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << event_schemas();
  std::ifstream file(path);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == event_schemas());
}

TEST_CASE("data is held against its type's keys and their kinds") {
  const std::string made = R"({"members":["a"],"stack":"md","generation":"00"})";
  CHECK(schema_problem(event::kVolumeCreated, made).empty());
  CHECK(schema_problem(event::kVolumeReleased, "{}").empty());
  CHECK(schema_problem(event::kVolumeCreated, "{}") == "'members' is missing");
  CHECK(schema_problem(event::kVolumeCreated, R"({"members":[1],"stack":"md","generation":"00"})") ==
        "'members' is of another kind");
  CHECK(schema_problem(event::kHoldLifted, R"({"x":1})") == "'x' is not in the table");
  CHECK(schema_problem("io.nvstripe.no.such.v1", "{}") == "there is no type 'io.nvstripe.no.such.v1'");
  CHECK(schema_problem(event::kSpecLoaded, R"({"files":1,"exports":0,"connections":0,"volumes":2})").empty());
}

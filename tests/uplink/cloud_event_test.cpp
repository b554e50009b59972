// Owns the checks of the CloudEvents text.
#include "agent/uplink/cloud_event.hpp"

#include <boost/json.hpp>

#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::uplink;

namespace {
const std::string kAnswer =
    R"({"api_version":1,"source":"urn:uuid:deadbeef-0011-2233-4455-66778899aabb","events":[{"epoch":1765000000000,"sequence":7,)"
    R"("id":"1765000000000-7","time":"2026-12-07T10:00:00.123Z","type":"io.nvstripe.volume.mounted.v1",)"
    R"("subject":"volume/train","data":{"members":["a","b"]},"again":false}]})";
}

TEST_CASE("an event becomes a CloudEvent with the attributes that make it unique and ordered") {
  const auto events = waiting_events(kAnswer);
  REQUIRE(events);
  REQUIRE(events->size() == 1);
  CHECK(events->at(0).sequence == 7);
  const auto made = boost::json::parse(events->at(0).text).as_object();
  const auto text = [&](const char* key) { return std::string(made.at(key).as_string()); };
  CHECK(text("specversion") == "1.0");
  CHECK(text("id") == "1765000000000-7");
  CHECK(text("source") == "urn:uuid:deadbeef-0011-2233-4455-66778899aabb");
  CHECK(text("type") == "io.nvstripe.volume.mounted.v1");
  CHECK(text("subject") == "volume/train");
  CHECK(text("sequence") == "00000000000000000007");
  CHECK(text("epoch") == "1765000000000");
  CHECK(made.at("data").as_object().at("members").as_array().size() == 2);
  for (const auto& [name, value] : made) {
    CHECK(name.size() <= 20);
    CHECK(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") == boost::json::string_view::npos);
  }
}

TEST_CASE("an answer that is not whole yields no event") {
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string(R"({"events":[{}],"source":"x"})"), std::string(R"({"events":{}})"),
        std::string(R"({"events":[{"epoch":1,"sequence":-1,"id":"x"}],"source":"x"})"), kAnswer.substr(0, 200)})
    CHECK_FALSE(waiting_events(text));
}

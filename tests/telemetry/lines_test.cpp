// Tests the line text of samples and their gathering.
#include <cmath>
#include <limits>

#include "agent/telemetry/sample.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;

TEST_CASE("samples survive the line text exactly, whatever is in their labels") {
  SampleSet samples;
  samples.push_back(Family{"a_bytes", {{{}, 0.1, {}}, {{"x\ty", "a\\nb\n\"c\"", ""}, 9007199254740993.0, {}}}});
  samples.push_back(Family{"empty", {}});
  samples.push_back(Family{"b_seconds", {{{"s"}, 1e-300, {1, 2, 18446744073709551615u}}}});
  samples.push_back(Family{"c", {{{}, std::numeric_limits<double>::infinity(), {}}, {{"-"}, -0.0, {}}}});
  const auto back = from_lines(to_lines(samples));
  REQUIRE(back.has_value());
  CHECK(*back == samples);
}

TEST_CASE("a value that is no number survives the line text as such") {
  const auto back = from_lines(to_lines({Family{"a", {{{}, std::nan(""), {}}}}}));
  REQUIRE(back.has_value());
  CHECK(std::isnan(back->at(0).samples.at(0).value));
}

TEST_CASE("line text that is cut off, of another version or no such text is refused") {
  const std::string good = to_lines({Family{"a", {{{"x"}, 1, {}}}}, Family{"h", {{{"x"}, 1, {1, 2}}}}});
  CHECK(from_lines(good).has_value());
  for (std::size_t length = 0; length < good.size(); ++length) {
    INFO(length);
    CHECK_FALSE(from_lines(std::string_view(good).substr(0, length)).has_value());
  }
  for (const char* bad : {"s\t1\n", "f\ta\ns\tone\n", "f\ta\ns\t1\tx\\q\n", "f\ta\ns\t1\tx\\\n", "f\ta\nh\t1\n",
                          "f\ta\nh\t1\t1,,2\n", "f\ta\ns\n", "f\n", "x\n", "\n", "end\n"}) {
    INFO(bad);
    CHECK_FALSE(from_lines(std::string("nvstripe-metrics 1\n") + bad + "end\n").has_value());
  }
  CHECK_FALSE(from_lines("nvstripe-metrics 2\nend\n").has_value());
  CHECK_FALSE(from_lines("").has_value());
  CHECK(from_lines("nvstripe-metrics 1\nend\n").has_value());
}

TEST_CASE("gathered samples come in the order of the table, made printable, and the first of two doubles stays") {
  SampleGathering gathering;
  gathering.add("nvstripe_spool_records", {"events", "st\xffte"}, 2);
  gathering.add("nvstripe_build_info", {"1"}, 1);
  gathering.add("nvstripe_spool_records", {"events", "st\xffte"}, 3);
  gathering.add("nvstripe_spool_records", {"events", "job"}, 4);
  gathering.add("nvstripe_spool_records", {std::string("a\0b\n", 4), "\xc3\xa9"}, 5);
  const SampleSet expected{
      Family{"nvstripe_build_info", {{{"1"}, 1, {}}}},
      Family{"nvstripe_spool_records",
             {{{"a\\x00b\\x0a", "\xc3\xa9"}, 5, {}}, {{"events", "job"}, 4, {}}, {{"events", "st\\xffte"}, 2, {}}}}};
  CHECK(gathering.take() == expected);
  CHECK(gathering.take().empty());
}

TEST_CASE("a distribution counts a value in every bucket that is not below it") {
  const std::vector<double> bounds{1, 2, 5};
  Distribution distribution;
  for (const double value : {0.5, 2.0, 3.0, 100.0}) distribution.observe(value, bounds);
  CHECK(distribution.counts == std::vector<std::uint64_t>{1, 2, 3, 4});
  CHECK(distribution.sum == 105.5);
}

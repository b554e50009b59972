// Tests the text that Prometheus reads.
#include "agent/uplink/exposition.hpp"

#include <regex>
#include <sstream>

#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"
#include "tests/telemetry/full_host.hpp"

using namespace nvstripe;

namespace {

SampleSet full_samples() {
  const test::Folder folder;
  full::write_io_counts(folder.path());
  return full::samples(folder.path());
}

}  // namespace

// `promtool check metrics` reads the golden file, see tests/telemetry/run.
TEST_CASE("the exposition of a host with everything is the golden one, also by way of the socket's lines") {
  const SampleSet samples = full_samples();
  std::string text = uplink::exposition(samples);
  const auto back = from_lines(to_lines(samples));
  REQUIRE(back.has_value());
  CHECK(uplink::exposition(*back) == text);
  text = std::regex_replace(text, std::regex("version=\"[0-9.]+\""), "version=\"VERSION\"");
  CHECK(golden_difference("metrics/full-host.prom", text) == "");
}

TEST_CASE("labels with quotes, backslashes and line ends are escaped") {
  CHECK(uplink::exposition({Family{"nvstripe_build_info", {{{"a\"b\\c\nd\xc3\xa9"}, 1, {}}}}}) ==
        "# HELP nvstripe_build_info Version of the agent; always 1.\n"
        "# TYPE nvstripe_build_info gauge\n"
        "nvstripe_build_info{version=\"a\\\"b\\\\c\\nd\xc3\xa9\"} 1\n");
}

TEST_CASE("what a core of another version says and this table does not have is left out") {
  const SampleSet odd{Family{"nvstripe_never_heard_of", {{{}, 1, {}}}},
                      Family{"nvstripe_build_info", {{{"1", "one label too many"}, 1, {}}, {{"1"}, 1, {1, 2}}}},
                      Family{"nvstripe_holds", {{{}, 2, {}}}},
                      Family{"nvstripe_reconcile_duration_seconds", {{{}, 2, {1, 2, 3}}}}};
  const std::string text = uplink::exposition(odd);
  CHECK(text.find("nvstripe_holds 2\n") != std::string::npos);
  for (const char* absent : {"never_heard_of", "build_info", "duration"}) {
    INFO(absent);
    CHECK(text.find(absent) == std::string::npos);
  }
}

TEST_CASE("a histogram has its bounds, its count and its sum") {
  Distribution took;
  took.observe(0.2, find_metric("nvstripe_reconcile_duration_seconds")->bounds);
  took.observe(1000, find_metric("nvstripe_reconcile_duration_seconds")->bounds);
  SampleGathering gathering;
  gathering.add("nvstripe_reconcile_duration_seconds", {}, took);
  const std::string text = uplink::exposition(gathering.take());
  for (const char* line : {"_bucket{le=\"0.1\"} 0\n", "_bucket{le=\"0.25\"} 1\n", "_bucket{le=\"300\"} 1\n",
                           "_bucket{le=\"+Inf\"} 2\n", "_count 2\n", "_sum 1000.2\n"}) {
    INFO(line);
    CHECK(text.find(line) != std::string::npos);
  }
}

// Tests the table of metrics against Prometheus' rules of naming, and docs/metrics.md against the table.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "agent/telemetry/sample.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(NVSTRIPE_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("metrics are named once, by prefix, words and unit, with help, and counters alone end in _total") {
  const std::regex shape("nvstripe_[a-z0-9]+(_[a-z0-9]+)*");
  std::set<std::string_view> names;
  for (const MetricRow& row : all_metrics()) {
    INFO(row.name);
    CHECK(std::regex_match(std::string(row.name), shape));
    CHECK(names.insert(row.name).second);
    CHECK(row.name.ends_with("_total") == (row.kind == MetricKind::counter));
    CHECK(row.help.ends_with("."));
    CHECK(row.help.find_first_of("\n\\|") == std::string_view::npos);
    CHECK(find_metric(row.name) == &row);
    CHECK((row.kind == MetricKind::histogram) == !row.bounds.empty());
    CHECK(std::is_sorted(row.bounds.begin(), row.bounds.end()));
    // More series a histogram than this is much for what it tells.
    CHECK(row.bounds.size() <= 12);
  }
  CHECK(find_metric("nvstripe_build") == nullptr);
}

TEST_CASE("labels are named once a row, never like what a scraper adds, and long texts are on info metrics only") {
  const std::regex shape("[a-z][a-z_]*");
  for (const MetricRow& row : all_metrics()) {
    std::set<std::string_view> names;
    for (const std::string_view label : row.labels) {
      INFO(row.name << " " << label);
      CHECK(std::regex_match(std::string(label), shape));
      CHECK(names.insert(label).second);
      for (const char* taken : {"instance", "job", "type", "region", "zone", "env", "service", "le", "quantile"})
        CHECK(label != taken);
      for (const char* wordy : {"model", "serial", "nqn", "firmware", "address", "mount_path"})
        CHECK((label != wordy || row.name.ends_with("_info")));
    }
  }
}

TEST_CASE("docs/metrics.md lists every metric as the table has it, and no other") {
  const std::string begin = "<!-- made from the table: begin -->\n", end = "<!-- made from the table: end -->";
  const std::string path = std::string(NVSTRIPE_SOURCE_DIR) + "/docs/metrics.md";
  std::string page = text_of("docs/metrics.md");
  const auto from = page.find(begin), to = page.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::string made = "\n" + metric_reference() + "\n";
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    page.replace(from + begin.size(), to - from - begin.size(), made);
    std::ofstream(path) << page;
  }
  CHECK(text_of("docs/metrics.md").find(begin + made + end) != std::string::npos);
}

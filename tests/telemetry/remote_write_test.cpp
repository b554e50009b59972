// Tests Prometheus' remote write.
#include "agent/telemetry/remote_write.hpp"

#include <cmath>
#include <map>

#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"
#include "tests/telemetry/full_host.hpp"
#include "tests/telemetry/wire.hpp"

using namespace nvstripe;
using wire::numbers;
using wire::texts;
using wire::values;

namespace {

constexpr std::int64_t kTime = 1767225600123;

std::string request(const SampleSet& samples) {
  return remote_write::write_request(samples, "nvstripe", "compute-1", kTime);
}

// `name=value` of a series' labels, as they come.
std::string labels(const std::string& series) {
  const auto names = texts(series, {1, 1}), of = texts(series, {1, 2});
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) out += (i == 0 ? "" : " ") + names[i] + "=" + of.at(i);
  return out;
}

std::vector<std::string> all_labels(const std::string& message) {
  std::vector<std::string> out;
  for (const std::string& series : texts(message, {1})) out.push_back(labels(series));
  return out;
}

template <std::size_t size>
std::string raw(const char (&literal)[size]) {
  return {literal, size - 1};
}

}  // namespace

TEST_CASE("a series and its metadata are these bytes") {
  CHECK(remote_write::write_request({Family{"nvstripe_holds", {{{}, 1, {}}}}}, "j", "i", 150) ==
        raw("\x0a\x43\x0a\x1a\x0a\x08__name__\x12\x0envstripe_holds\x0a\x0d\x0a\x08instance\x12\x01i") +
            raw("\x0a\x08\x0a\x03job\x12\x01j\x12\x0c\x09\0\0\0\0\0\0\xf0\x3f\x10\x96\x01") +
            raw("\x1a\x5b\x08\x02\x12\x0envstripe_holds"
                "\x22\x47Objects that the agent keeps its hands off, by hold, release or revert."));
}

TEST_CASE("labels are sorted by name, and an empty one is none") {
  const std::string message = request(
      {Family{"nvstripe_nvmeof_controller_info",
              {{{"sub", "ctl", "s1", "nqn", "rdma", "10.9.0.1"}, 1, {}}, {{"sub", "", "", "", "tcp", "a"}, 2, {}}}}});
  CHECK(all_labels(message) ==
        std::vector<std::string>{"__name__=nvstripe_nvmeof_controller_info address=10.9.0.1 connection=s1 controller=ctl "
                                 "instance=compute-1 job=nvstripe nqn=nqn subsystem=sub transport=rdma",
                                 "__name__=nvstripe_nvmeof_controller_info address=a instance=compute-1 job=nvstripe "
                                 "subsystem=sub transport=tcp"});
  CHECK(numbers(message, {1, 2, 1}) == std::vector<double>{1, 2});
  CHECK(values(message, {1, 2, 2}) == std::vector<std::uint64_t>{kTime, kTime});
}

TEST_CASE("no metric has a label that remote write adds itself") {
  for (const MetricRow& row : all_metrics()) {
    for (const std::string_view label : row.labels) {
      INFO(row.name << ' ' << label);
      CHECK_FALSE((label == "job" || label == "instance" || label == "le" || label.starts_with("__")));
    }
  }
}

TEST_CASE("a histogram becomes cumulative buckets, a sum and a count") {
  const MetricRow& row = *find_metric("nvstripe_job_duration_seconds");
  Distribution took;
  for (const double seconds : {5.0, 10.0, 604801.0}) took.observe(seconds, row.bounds);
  SampleGathering gathering;
  gathering.add(row.name, {"slurm"}, took);
  const std::string message = request(gathering.take());
  std::vector<std::string> expected;
  for (const char* bound : {"10", "60", "300", "900", "3600", "14400", "43200", "86400", "259200", "604800", "+Inf"})
    expected.push_back("__name__=nvstripe_job_duration_seconds_bucket instance=compute-1 job=nvstripe le=" +
                       std::string(bound) + " source=slurm");
  expected.push_back("__name__=nvstripe_job_duration_seconds_sum instance=compute-1 job=nvstripe source=slurm");
  expected.push_back("__name__=nvstripe_job_duration_seconds_count instance=compute-1 job=nvstripe source=slurm");
  CHECK(all_labels(message) == expected);
  CHECK(numbers(message, {1, 2, 1}) == std::vector<double>{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 604816, 3});
  CHECK(texts(message, {3, 2}) == std::vector<std::string>{"nvstripe_job_duration_seconds"});
}

TEST_CASE("bounds below 1 are written as Prometheus writes them") {
  const MetricRow& row = *find_metric("nvstripe_upstream_request_duration_seconds");
  const std::string message = request({Family{std::string(row.name), {{{"s"}, 0, std::vector<std::uint64_t>(13, 1)}}}});
  std::string bounds;
  for (const std::string& series : texts(message, {1})) {
    const std::string text = labels(series);
    const std::size_t at = text.find(" le=");
    if (at != std::string::npos) bounds += text.substr(at + 4, text.find(' ', at + 1) - at - 4) + " ";
  }
  CHECK(bounds == "0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 +Inf ");
}

TEST_CASE("each family has its type, its help and the unit that its name has") {
  const std::string message =
      request({Family{"nvstripe_ready", {{{}, 1, {}}}},
               Family{"nvstripe_nvme_power_on_seconds_total", {{{"d"}, 1, {}}, {{"e"}, 1, {}}}},
               Family{"nvstripe_reconcile_duration_seconds", {{{}, 0, std::vector<std::uint64_t>(13)}}}});
  CHECK(values(message, {3, 1}) == std::vector<std::uint64_t>{2, 1, 3});
  CHECK(texts(message, {3, 2}) == std::vector<std::string>{"nvstripe_ready", "nvstripe_nvme_power_on_seconds_total",
                                                           "nvstripe_reconcile_duration_seconds"});
  CHECK(texts(message, {3, 4}).at(2) == "How long passes took, with all their actions.");
  CHECK(texts(message, {3, 5}) == std::vector<std::string>{"seconds", "seconds"});
}

TEST_CASE("what does not fit the table is left out of remote write, and nothing is an empty request") {
  CHECK(request({Family{"nvstripe_never_heard_of", {{{}, 1, {}}}},
                 Family{"nvstripe_build_info", {{{"1", "one label too many"}, 1, {}}, {{"1"}, 1, {1, 2}}}},
                 Family{"nvstripe_reconcile_duration_seconds", {{{}, 2, {1, 2, 3}}}}, Family{"nvstripe_ready", {}}}) == "");
  CHECK(request({}) == "");
}

TEST_CASE("a job or instance that is no UTF-8 is made so, and an empty one is none") {
  const SampleSet ready{Family{"nvstripe_ready", {{{}, 1, {}}}}};
  CHECK(all_labels(remote_write::write_request(ready, "a\xff", "", 1)).at(0) == "__name__=nvstripe_ready job=a\\xff");
}

TEST_CASE("no two series of a host with everything are the same, and each has one sample") {
  const test::Folder folder;
  full::write_io_counts(folder.path());
  const SampleSet samples = full::samples(folder.path());
  const std::string message = request(samples);
  std::map<std::string, int> seen;
  std::size_t expected = 0;
  for (const Family& family : samples)
    for (const Sample& sample : family.samples) expected += sample.counts.empty() ? 1 : sample.counts.size() + 2;
  for (const std::string& series : texts(message, {1})) {
    CHECK(++seen[labels(series)] == 1);
    CHECK(texts(series, {2}).size() == 1);
    const auto names = texts(series, {1, 1});
    CHECK(std::is_sorted(names.begin(), names.end()));
  }
  CHECK(seen.size() == expected);
  CHECK(texts(message, {3}).size() == samples.size());
}

// Tests OTLP's metrics. The golden bytes are decoded by OpenTelemetry's own code, see tests/telemetry/run.
#include "agent/telemetry/otlp.hpp"

#include <cmath>
#include <limits>

#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"
#include "tests/telemetry/full_host.hpp"
#include "tests/telemetry/wire.hpp"

using namespace nvstripe;
using wire::fields;
using wire::numbers;
using wire::texts;
using wire::values;

namespace {

constexpr std::uint64_t kTime = 1767225600123456789, kStart = 1767225500000000000;
const otlp::Origin kOrigin{{{"service.name", "nvstripe"}, {"host.name", "compute-1"}}, "VERSION", kTime, kStart};

std::string metrics(const SampleSet& samples) { return otlp::metrics_request(samples, kOrigin); }

std::string metric(const Family& family) {
  const auto found = texts(metrics({family}), {1, 2, 2});
  return found.size() == 1 ? found[0] : "not one metric";
}

// The core's samples, and some of the uplink, which counts since a time that is known.
SampleSet full_samples() {
  const test::Folder folder;
  full::write_io_counts(folder.path());
  SampleSet samples = full::samples(folder.path());
  for (Family& family : samples)
    if (family.name == "nvstripe_build_info") family.samples[0].labels = {"VERSION"};
  SampleGathering own;
  own.add("nvstripe_core_up", 1);
  own.add("nvstripe_upstream_requests_total", {"otlp", "200"}, 3);
  Distribution took;
  for (const double seconds : {0.005, 0.2, 0.3, 60.0})
    took.observe(seconds, find_metric("nvstripe_upstream_request_duration_seconds")->bounds);
  own.add("nvstripe_upstream_request_duration_seconds", {"otlp"}, took);
  for (Family& family : own.take()) samples.push_back(std::move(family));
  return samples;
}

template <std::size_t size>
std::string raw(const char (&literal)[size]) {
  return {literal, size - 1};
}

}  // namespace

TEST_CASE("the OTLP request of a host with everything is the golden one") {
  INFO("bytes: nothing of them is printed; UPDATE_GOLDEN=1 rewrites them, and tests/telemetry/run judges them");
  CHECK(golden_difference("metrics/full-host.otlp", metrics(full_samples())).empty());
}

TEST_CASE("a gauge is these bytes") {
  const otlp::Origin origin{{{"k", "v"}}, "1", 0x0807060504030201, 9};
  CHECK(otlp::metrics_request({Family{"nvstripe_holds", {{{}, 1, {}}}}}, origin) ==
        raw("\x0a\x8f\x01") +                                    // resource_metrics
            raw("\x0a\x0a\x0a\x08\x0a\x01k\x12\x03\x0a\x01v") +  // resource, its attribute
            raw("\x12\x80\x01\x0a\x0d\x0a\x08nvstripe\x12\x01"
                "1") +  // scope_metrics, scope
            raw("\x12\x6f\x0a\x0envstripe_holds\x12\x47Objects that the agent keeps its hands off, by hold, release or "
                "revert.") +
            raw("\x2a\x14\x0a\x12\x19\x01\x02\x03\x04\x05\x06\x07\x08\x21\0\0\0\0\0\0\xf0\x3f"));
}

TEST_CASE("the resource and the scope are told once") {
  const std::string request = metrics({Family{"nvstripe_ready", {{{}, 1, {}}}}, Family{"nvstripe_holds", {{{}, 1, {}}}}});
  CHECK(fields(request, {1}).size() == 1);
  CHECK(texts(request, {1, 1, 1, 1}) == std::vector<std::string>{"service.name", "host.name"});
  CHECK(texts(request, {1, 1, 1, 2, 1}) == std::vector<std::string>{"nvstripe", "compute-1"});
  CHECK(texts(request, {1, 2, 1, 1}) == std::vector<std::string>{"nvstripe"});
  CHECK(texts(request, {1, 2, 1, 2}) == std::vector<std::string>{"VERSION"});
  CHECK(texts(request, {1, 2, 2, 1}) == std::vector<std::string>{"nvstripe_ready", "nvstripe_holds"});
}

TEST_CASE("units follow from names") {
  const auto unit = [](const std::string& name, const std::vector<std::string>& labels) {
    return texts(metric({name, {{labels, 1, {}}}}), {3});
  };
  CHECK(unit("nvstripe_start_time_seconds", {}) == std::vector<std::string>{"s"});
  CHECK(unit("nvstripe_nvme_power_on_seconds_total", {"d"}) == std::vector<std::string>{"s"});
  CHECK(unit("nvstripe_device_size_bytes", {"d"}) == std::vector<std::string>{"By"});
  CHECK(unit("nvstripe_volume_read_bytes_total", {"v"}) == std::vector<std::string>{"By"});
  CHECK(unit("nvstripe_nvme_available_spare_ratio", {"d"}) == std::vector<std::string>{"1"});
  CHECK(unit("nvstripe_nvme_temperature_celsius", {"d", "s"}) == std::vector<std::string>{"Cel"});
  CHECK(unit("nvstripe_nvme_media_errors_total", {"d"}).empty());
  CHECK(unit("nvstripe_ready", {}).empty());
}

TEST_CASE("a gauge has its labels and no start, also of the uplink") {
  const std::string gauge = metric({"nvstripe_spool_records", {{{"otlp", ""}, 0, {}}, {{"b\xc3\xa9", "job"}, -2.5, {}}}});
  CHECK(texts(gauge, {2}) == std::vector<std::string>{"Events that a sink has not acknowledged yet."});
  CHECK(numbers(gauge, {5, 1, 4}) == std::vector<double>{0, -2.5});
  CHECK(values(gauge, {5, 1, 3}) == std::vector<std::uint64_t>{kTime, kTime});
  CHECK(texts(gauge, {5, 1, 7, 1}) == std::vector<std::string>{"sink", "stream", "sink", "stream"});
  CHECK(texts(gauge, {5, 1, 7, 2, 1}) == std::vector<std::string>{"otlp", "", "b\xc3\xa9", "job"});
  CHECK(fields(gauge, {5, 1, 2}).empty());
  CHECK(fields(gauge, {5, 2}).empty());
  CHECK(fields(metric({"nvstripe_core_up", {{{}, 1, {}}}}), {5, 1, 2}).empty());
}

TEST_CASE("a counter is a cumulative monotonic sum, and has a start only when it is the uplink's") {
  const std::string core = metric({"nvstripe_volume_reads_completed_total", {{{"train"}, 7, {}}}});
  CHECK(numbers(core, {7, 1, 4}) == std::vector<double>{7});
  CHECK(values(core, {7, 2}) == std::vector<std::uint64_t>{2});
  CHECK(values(core, {7, 3}) == std::vector<std::uint64_t>{1});
  CHECK(fields(core, {7, 1, 2}).empty());
  const std::string own = metric({"nvstripe_upstream_requests_total", {{{"otlp", "200"}, 7, {}}}});
  CHECK(values(own, {7, 1, 2}) == std::vector<std::uint64_t>{kStart});
}

TEST_CASE("the buckets of a histogram count for themselves and add up to its count") {
  const MetricRow& row = *find_metric("nvstripe_upstream_request_duration_seconds");
  Distribution took;
  for (const double seconds : {0.005, 0.006, 0.007, 2.0, 60.0, 61.0}) took.observe(seconds, row.bounds);
  SampleGathering gathering;
  gathering.add(row.name, {"otlp"}, took);
  const std::string histogram = metric(gathering.take().at(0));
  protobuf::Writer expected;
  expected.packed(6, std::vector<std::uint64_t>{1, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2});
  expected.packed(7, row.bounds);
  const std::string both = expected.take();
  CHECK(texts(histogram, {9, 1, 6}) == texts(both, {6}));
  CHECK(texts(histogram, {9, 1, 7}) == texts(both, {7}));
  CHECK(values(histogram, {9, 1, 4}) == std::vector<std::uint64_t>{6});
  CHECK(numbers(histogram, {9, 1, 5}) == std::vector<double>{took.sum});
  CHECK(values(histogram, {9, 1, 2}) == std::vector<std::uint64_t>{kStart});
  CHECK(values(histogram, {9, 1, 3}) == std::vector<std::uint64_t>{kTime});
  CHECK(texts(histogram, {9, 1, 9, 2, 1}) == std::vector<std::string>{"otlp"});
  CHECK(values(histogram, {9, 2}) == std::vector<std::uint64_t>{2});
  CHECK(fields(histogram, {9, 3}).empty());
}

TEST_CASE("what does not fit the table is left out of OTLP, and nothing is an empty request") {
  const std::vector<std::uint64_t> falling{1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 9, 10, 11};
  CHECK(metrics({Family{"nvstripe_never_heard_of", {{{}, 1, {}}}},
                 Family{"nvstripe_build_info", {{{"1", "one label too many"}, 1, {}}, {{"1"}, 1, {1, 2}}}},
                 Family{"nvstripe_reconcile_duration_seconds", {{{}, 2, {1, 2, 3}}, {{}, 2, falling}}},
                 Family{"nvstripe_ready", {}}}) == "");
  CHECK(metrics({}) == "");
  const std::string request = metrics({Family{"nvstripe_build_info", {{{}, 1, {}}, {{"1"}, 2, {}}}}});
  CHECK(numbers(request, {1, 2, 2, 5, 1, 4}) == std::vector<double>{2});
}

TEST_CASE("values that are no numbers, and attributes that are no UTF-8, do not spoil a request") {
  const std::string gauge =
      metric({"nvstripe_ready", {{{}, std::nan(""), {}}, {{}, std::numeric_limits<double>::infinity(), {}}}});
  CHECK(std::isnan(numbers(gauge, {5, 1, 4}).at(0)));
  CHECK(std::isinf(numbers(gauge, {5, 1, 4}).at(1)));
  const std::string request =
      otlp::metrics_request({Family{"nvstripe_ready", {{{}, 1, {}}}}}, {{{"host.name", "a\xff"}}, "1\xfe", 1, 0});
  CHECK(texts(request, {1, 1, 1, 2, 1}) == std::vector<std::string>{"a\\xff"});
  CHECK(texts(request, {1, 2, 1, 2}) == std::vector<std::string>{"1\\xfe"});
}

TEST_CASE("an answer tells how many points were rejected, and why") {
  CHECK(otlp::read_response("").value() == otlp::PartialSuccess{});
  CHECK(otlp::read_response(raw("\x0a\0")).value() == otlp::PartialSuccess{});
  CHECK(otlp::read_response(raw("\x0a\x09\x08\x96\x01\x12\x04no \n")).value() == otlp::PartialSuccess{150, "no \\x0a"});
  CHECK(otlp::read_response(raw("\x0a\x06\x12\x04slow")).value() == otlp::PartialSuccess{0, "slow"});
  CHECK(otlp::read_response(raw("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")).value().rejected == -1);
  CHECK(otlp::read_response(raw("\x10\x05\x0a\x07\x1a\x01x\x08\x02\x18\x03")).value() == otlp::PartialSuccess{2, ""});
  CHECK(otlp::read_response(raw("\x08\x05\x0a\x04\x0a\x00\x10\x01")).value() == otlp::PartialSuccess{});
}

TEST_CASE("an answer that is cut off or no protobuf is refused") {
  const std::string good = raw("\x0a\x09\x08\x96\x01\x12\x04nope");
  for (std::size_t length = 1; length < good.size(); ++length) {
    INFO(length);
    CHECK_FALSE(otlp::read_response(std::string_view(good).substr(0, length)).has_value());
  }
  CHECK_FALSE(otlp::read_response(raw("\x0a\x03\x12\x04n")).has_value());
  CHECK_FALSE(otlp::read_response("<html>502 Bad Gateway</html>").has_value());
  CHECK_FALSE(otlp::read_response("{\"partialSuccess\":{}}").has_value());
}

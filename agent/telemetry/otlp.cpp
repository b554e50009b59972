// Owns the field numbers of opentelemetry/proto/metrics/v1 and of its collector service.
#include "agent/telemetry/otlp.hpp"

#include <algorithm>

#include "agent/base/text.hpp"
#include "agent/telemetry/protobuf.hpp"

namespace nvstripe::otlp {
namespace {

using protobuf::Writer;

constexpr std::string_view kScope = "nvstripe";
constexpr std::uint64_t kCumulative = 2;

namespace request {
constexpr std::uint32_t kResourceMetrics = 1;
}
namespace resource_metrics {
constexpr std::uint32_t kResource = 1, kScopeMetrics = 2;
}
namespace resource {
constexpr std::uint32_t kAttributes = 1;
}
namespace key_value {
constexpr std::uint32_t kKey = 1, kValue = 2;
}
namespace any_value {
constexpr std::uint32_t kString = 1;
}
namespace scope_metrics {
constexpr std::uint32_t kScopeOf = 1, kMetrics = 2;
}
namespace scope {
constexpr std::uint32_t kName = 1, kVersion = 2;
}
namespace metric {
constexpr std::uint32_t kName = 1, kDescription = 2, kUnit = 3, kGauge = 5, kSum = 7, kHistogram = 9;
}
namespace data {  // Gauge, Sum, Histogram
constexpr std::uint32_t kPoints = 1, kTemporality = 2, kMonotonic = 3;
}
namespace point {  // NumberDataPoint
constexpr std::uint32_t kStart = 2, kTime = 3, kAsDouble = 4, kAttributes = 7;
}
namespace distribution {  // HistogramDataPoint
constexpr std::uint32_t kStart = 2, kTime = 3, kCount = 4, kSum = 5, kBucketCounts = 6, kExplicitBounds = 7, kAttributes = 9;
}
namespace response {
constexpr std::uint32_t kPartialSuccess = 1;
}
namespace partial_success {
constexpr std::uint32_t kRejected = 1, kMessage = 2;
}

// UCUM's, as OpenTelemetry wants them.
std::string_view unit_of(std::string_view name) {
  constexpr std::string_view total = "_total";
  if (name.ends_with(total)) name.remove_suffix(total.size());
  if (name.ends_with("_seconds")) return "s";
  if (name.ends_with("_bytes")) return "By";
  if (name.ends_with("_ratio")) return "1";
  if (name.ends_with("_celsius")) return "Cel";
  return {};
}

// A bucket's count is the difference of two cumulative ones, so those must not fall.
bool fits(const MetricRow& row, const Sample& sample) {
  const std::size_t counts = row.kind == MetricKind::histogram ? row.bounds.size() + 1 : 0;
  return sample.labels.size() == row.labels.size() && sample.counts.size() == counts &&
         std::ranges::is_sorted(sample.counts);
}

void write_attribute(Writer& out, std::uint32_t field, std::string_view key, std::string_view value) {
  out.message(field, [&] {
    out.bytes(key_value::kKey, key);
    out.message(key_value::kValue, [&] { out.bytes(any_value::kString, value); });
  });
}

void write_labels(Writer& out, std::uint32_t field, const MetricRow& row, const Sample& sample) {
  for (std::size_t i = 0; i < row.labels.size(); ++i) write_attribute(out, field, row.labels[i], sample.labels[i]);
}

// 0 where it is not known, or where the value is no sum over time.
std::uint64_t start_of(const MetricRow& row, const Origin& origin) {
  return row.source == MetricSource::uplink && row.kind != MetricKind::gauge ? origin.start_time_unix_nano : 0;
}

void write_point(Writer& out, const MetricRow& row, const Sample& sample, const Origin& origin) {
  if (const std::uint64_t start = start_of(row, origin); start != 0) out.fixed64(point::kStart, start);
  out.fixed64(point::kTime, origin.time_unix_nano);
  out.number(point::kAsDouble, sample.value);
  write_labels(out, point::kAttributes, row, sample);
}

void write_distribution(Writer& out, const MetricRow& row, const Sample& sample, const Origin& origin) {
  std::vector<std::uint64_t> buckets = sample.counts;
  for (std::size_t i = buckets.size(); i-- > 1;) buckets[i] -= buckets[i - 1];
  if (const std::uint64_t start = start_of(row, origin); start != 0) out.fixed64(distribution::kStart, start);
  out.fixed64(distribution::kTime, origin.time_unix_nano);
  out.fixed64(distribution::kCount, sample.counts.back());
  out.number(distribution::kSum, sample.value);
  out.packed(distribution::kBucketCounts, buckets);
  out.packed(distribution::kExplicitBounds, row.bounds);
  write_labels(out, distribution::kAttributes, row, sample);
}

std::uint32_t data_field(MetricKind kind) {
  switch (kind) {
    case MetricKind::gauge:
      return metric::kGauge;
    case MetricKind::counter:
      return metric::kSum;
    case MetricKind::histogram:
      return metric::kHistogram;
  }
  return metric::kGauge;
}

void write_data(Writer& out, const MetricRow& row, const std::vector<const Sample*>& samples, const Origin& origin) {
  for (const Sample* sample : samples) {
    out.message(data::kPoints, [&] {
      if (row.kind == MetricKind::histogram)
        write_distribution(out, row, *sample, origin);
      else
        write_point(out, row, *sample, origin);
    });
  }
  if (row.kind != MetricKind::gauge) out.varint(data::kTemporality, kCumulative);
  if (row.kind == MetricKind::counter) out.varint(data::kMonotonic, 1);
}

void write_family(Writer& out, const Family& family, const Origin& origin) {
  const MetricRow* row = find_metric(family.name);
  if (row == nullptr) return;
  std::vector<const Sample*> fitting;
  for (const Sample& sample : family.samples)
    if (fits(*row, sample)) fitting.push_back(&sample);
  if (fitting.empty()) return;
  out.message(scope_metrics::kMetrics, [&] {
    out.bytes(metric::kName, row->name);
    out.bytes(metric::kDescription, row->help);
    if (const std::string_view unit = unit_of(row->name); !unit.empty()) out.bytes(metric::kUnit, unit);
    out.message(data_field(row->kind), [&] { write_data(out, *row, fitting, origin); });
  });
}

Result<void> read_partial_success(PartialSuccess& into, std::string_view bytes) {
  protobuf::Reader reader(bytes);
  while (!reader.at_end()) {
    TRY(const protobuf::Field field, reader.next());
    if (field.number == partial_success::kRejected && field.wire == protobuf::Wire::varint)
      into.rejected = static_cast<std::int64_t>(field.value);
    if (field.number == partial_success::kMessage && field.wire == protobuf::Wire::bytes)
      into.message = printable(field.bytes);
  }
  return {};
}

}  // namespace

std::string metrics_request(const SampleSet& samples, const Origin& origin) {
  Writer out;
  for (const Family& family : samples) write_family(out, family, origin);
  const std::string metrics = out.take();
  if (metrics.empty()) return {};
  out.message(request::kResourceMetrics, [&] {
    // A text that is not UTF-8 makes a receiver refuse the whole request; labels were gathered as UTF-8.
    out.message(resource_metrics::kResource, [&] {
      for (const auto& [key, value] : origin.resource)
        write_attribute(out, resource::kAttributes, to_utf8(key), to_utf8(value));
    });
    out.message(resource_metrics::kScopeMetrics, [&] {
      out.message(scope_metrics::kScopeOf, [&] {
        out.bytes(scope::kName, kScope);
        out.bytes(scope::kVersion, to_utf8(origin.version));
      });
      out.fields(metrics);
    });
  });
  return out.take();
}

Result<PartialSuccess> read_response(std::string_view bytes) {
  PartialSuccess out;
  protobuf::Reader reader(bytes);
  while (!reader.at_end()) {
    TRY(const protobuf::Field field, reader.next());
    if (field.number == response::kPartialSuccess && field.wire == protobuf::Wire::bytes)
      CHECKED(read_partial_success(out, field.bytes));
  }
  return out;
}

}  // namespace nvstripe::otlp

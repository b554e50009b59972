// Owns the way into prometheus-cpp: its core's values and its text serializer, and nothing else of it.
#include "agent/uplink/exposition.hpp"

#include <limits>
#include <sstream>

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

namespace nvstripe::uplink {
namespace {

prometheus::MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::gauge:
      return prometheus::MetricType::Gauge;
    case MetricKind::counter:
      return prometheus::MetricType::Counter;
    case MetricKind::histogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

bool fits(const MetricRow& row, const Sample& sample) {
  const std::size_t counts = row.kind == MetricKind::histogram ? row.bounds.size() + 1 : 0;
  return sample.labels.size() == row.labels.size() && sample.counts.size() == counts;
}

prometheus::ClientMetric::Histogram histogram_of(const MetricRow& row, const Sample& sample) {
  prometheus::ClientMetric::Histogram out;
  out.sample_count = sample.counts.back();
  out.sample_sum = sample.value;
  for (std::size_t i = 0; i < sample.counts.size(); ++i) {
    const double bound = i < row.bounds.size() ? row.bounds[i] : std::numeric_limits<double>::infinity();
    out.bucket.push_back({sample.counts[i], bound});
  }
  return out;
}

prometheus::ClientMetric metric_of(const MetricRow& row, const Sample& sample) {
  prometheus::ClientMetric out;
  for (std::size_t i = 0; i < row.labels.size(); ++i) out.label.push_back({std::string(row.labels[i]), sample.labels[i]});
  if (row.kind == MetricKind::gauge) out.gauge.value = sample.value;
  if (row.kind == MetricKind::counter) out.counter.value = sample.value;
  if (row.kind == MetricKind::histogram) out.histogram = histogram_of(row, sample);
  return out;
}

}  // namespace

std::string exposition(const SampleSet& samples) {
  std::vector<prometheus::MetricFamily> families;
  for (const Family& family : samples) {
    const MetricRow* row = find_metric(family.name);
    if (row == nullptr) continue;
    prometheus::MetricFamily out{family.name, std::string(row->help), type_of(row->kind), {}};
    for (const Sample& sample : family.samples) {
      if (fits(*row, sample)) out.metric.push_back(metric_of(*row, sample));
    }
    if (!out.metric.empty()) families.push_back(std::move(out));
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return std::move(text).str();
}

}  // namespace nvstripe::uplink

// Owns the field numbers of prometheus.WriteRequest, and how a histogram becomes series.
#include "agent/telemetry/remote_write.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "agent/base/text.hpp"
#include "agent/telemetry/protobuf.hpp"

namespace nvstripe::remote_write {
namespace {

using protobuf::Writer;

namespace request {
constexpr std::uint32_t kSeries = 1, kMetadata = 3;
}
namespace series {
constexpr std::uint32_t kLabels = 1, kSamples = 2;
}
namespace label {
constexpr std::uint32_t kName = 1, kValue = 2;
}
namespace sample_of_series {
constexpr std::uint32_t kValue = 1, kTimestamp = 2;
}
namespace metadata {
constexpr std::uint32_t kType = 1, kFamily = 2, kHelp = 4, kUnit = 5;
}

std::uint64_t type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter:
      return 1;
    case MetricKind::gauge:
      return 2;
    case MetricKind::histogram:
      return 3;
  }
  return 0;
}

// OpenMetrics' unit: the word that the name has for it.
std::string_view unit_of(std::string_view name) {
  constexpr std::string_view total = "_total";
  if (name.ends_with(total)) name.remove_suffix(total.size());
  for (const std::string_view unit : {"seconds", "bytes", "ratio", "celsius"})
    if (name.ends_with(unit) && name.substr(0, name.size() - unit.size()).ends_with('_')) return unit;
  return {};
}

bool fits(const MetricRow& row, const Sample& sample) {
  const std::size_t counts = row.kind == MetricKind::histogram ? row.bounds.size() + 1 : 0;
  return sample.labels.size() == row.labels.size() && sample.counts.size() == counts;
}

// As %g has it with as many digits as it takes, which is also Prometheus' way.
std::string bound_text(double bound) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, bound, std::chars_format::general).ptr};
}

class Series {
 public:
  Series(std::string_view job, std::string_view instance, std::int64_t timestamp_ms)
      : job_(to_utf8(job)), instance_(to_utf8(instance)), timestamp_ms_(timestamp_ms) {}

  void add(const MetricRow& row, const Sample& sample) {
    if (row.kind != MetricKind::histogram) return write(row.name, row, sample, {}, sample.value);
    const std::string name(row.name);
    for (std::size_t i = 0; i < sample.counts.size(); ++i) {
      const std::string bound = i < row.bounds.size() ? bound_text(row.bounds[i]) : "+Inf";
      write(name + "_bucket", row, sample, bound, static_cast<double>(sample.counts[i]));
    }
    write(name + "_sum", row, sample, {}, sample.value);
    write(name + "_count", row, sample, {}, static_cast<double>(sample.counts.back()));
  }

  void describe(const MetricRow& row) {
    out_.message(request::kMetadata, [&] {
      out_.varint(metadata::kType, type_of(row.kind));
      out_.bytes(metadata::kFamily, row.name);
      out_.bytes(metadata::kHelp, row.help);
      if (const std::string_view unit = unit_of(row.name); !unit.empty()) out_.bytes(metadata::kUnit, unit);
    });
  }

  [[nodiscard]] std::string take() { return out_.take(); }

 private:
  void write(std::string_view name, const MetricRow& row, const Sample& sample, std::string_view bound, double value) {
    std::vector<std::pair<std::string_view, std::string_view>> labels{
        {"__name__", name}, {"instance", instance_}, {"job", job_}, {"le", bound}};
    for (std::size_t i = 0; i < row.labels.size(); ++i) labels.emplace_back(row.labels[i], sample.labels[i]);
    std::erase_if(labels, [](const auto& pair) { return pair.second.empty(); });
    std::sort(labels.begin(), labels.end());
    out_.message(request::kSeries, [&] {
      for (const auto& pair : labels) {
        out_.message(series::kLabels, [&] {
          out_.bytes(label::kName, pair.first);
          out_.bytes(label::kValue, pair.second);
        });
      }
      out_.message(series::kSamples, [&] {
        out_.number(sample_of_series::kValue, value);
        out_.varint(sample_of_series::kTimestamp, static_cast<std::uint64_t>(timestamp_ms_));
      });
    });
  }

  std::string job_, instance_;  // UTF-8: one text that is not makes a receiver refuse the whole request
  std::int64_t timestamp_ms_;
  Writer out_;
};

}  // namespace

std::string write_request(const SampleSet& samples, std::string_view job, std::string_view instance,
                          std::int64_t timestamp_ms) {
  Series out(job, instance, timestamp_ms);
  std::vector<const MetricRow*> written;
  for (const Family& family : samples) {
    const MetricRow* row = find_metric(family.name);
    if (row == nullptr) continue;
    for (const Sample& sample : family.samples) {
      if (!fits(*row, sample)) continue;
      out.add(*row, sample);
      if (written.empty() || written.back() != row) written.push_back(row);
    }
  }
  for (const MetricRow* row : written) out.describe(*row);
  return out.take();
}

}  // namespace nvstripe::remote_write

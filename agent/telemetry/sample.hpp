// Owns the values of metrics: the rows of the one table, samples of them, and how samples are gathered. Plain values, in
// base units (seconds, bytes, ratios from 0 to 1); no sockets, no clock.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"

namespace nvstripe {

enum class MetricKind { gauge, counter, histogram };
enum class MetricSource { core, uplink };  // which process knows its values

// One row of the table in metric_table.cpp; HELP, TYPE and docs/metrics.md are made from it. A row is never changed in
// meaning: dashboards and alerts of other people depend on it.
struct MetricRow {
  std::string_view name;  // "nvstripe_device_size_bytes"
  MetricKind kind = MetricKind::gauge;
  std::string_view help;
  std::vector<std::string_view> labels;  // names, in the order in which samples carry their values
  std::vector<double> bounds;            // histograms: upper bounds of the buckets, rising; the last one, +Inf, is left out
  MetricSource source = MetricSource::core;
};

[[nodiscard]] std::span<const MetricRow> all_metrics();             // in the order of the exposition
[[nodiscard]] const MetricRow* find_metric(std::string_view name);  // nullptr: no such row
[[nodiscard]] std::string_view to_text(MetricKind kind);            // as TYPE lines have it
[[nodiscard]] std::string metric_reference();                       // the reference part of docs/metrics.md

// What a histogram counted. `counts` are cumulative: one a bound of its row, and the count of all as the last one.
struct Distribution {
  std::vector<std::uint64_t> counts;
  double sum = 0;
  void observe(double value, std::span<const double> bounds);
  bool operator==(const Distribution&) const = default;
};

struct Sample {
  std::vector<std::string> labels;    // values, in the order of the row's names
  double value = 0;                   // histograms: the sum of what was observed
  std::vector<std::uint64_t> counts;  // histograms only, as in Distribution
  bool operator==(const Sample&) const = default;
};

struct Family {
  std::string name;
  std::vector<Sample> samples;
  bool operator==(const Family&) const = default;
};

// At most one family a name, and in it at most one sample a set of label values.
using SampleSet = std::vector<Family>;

// Gathers samples into families. Of label values, bytes that are not UTF-8 and controls become \xNN: Prometheus takes a NUL
// for the end of the text. Of two samples with the same labels the first one stays, since a scraper refuses the whole answer
// for one double.
class SampleGathering {
 public:
  void add(std::string_view name, std::vector<std::string> labels, double value);
  void add(std::string_view name, double value) { add(name, {}, value); }
  void add(std::string_view name, std::vector<std::string> labels, const Distribution& distribution);
  // In the order of the table; what is not in it comes last, by name.
  [[nodiscard]] SampleSet take();

 private:
  void put(std::string_view name, Sample sample);
  std::map<std::string, std::vector<Sample>, std::less<>> families_;
};

// Line text for the way between the two processes. The first line has its version; values survive it exactly, and label
// values may have any bytes.
[[nodiscard]] std::string to_lines(const SampleSet& samples);
[[nodiscard]] Result<SampleSet> from_lines(std::string_view text);

}  // namespace nvstripe

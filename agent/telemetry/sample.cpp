// Owns gathering of samples.
#include "agent/telemetry/sample.hpp"

#include <algorithm>

#include "agent/base/text.hpp"

namespace nvstripe {

void Distribution::observe(double value, std::span<const double> bounds) {
  counts.resize(bounds.size() + 1);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (value <= bounds[i]) ++counts[i];
  }
  ++counts.back();
  sum += value;
}

void SampleGathering::put(std::string_view name, Sample sample) {
  for (std::string& label : sample.labels) label = to_utf8(label);
  auto family = families_.find(name);
  if (family == families_.end())
    family = families_.emplace(std::string(name), std::map<std::vector<std::string>, Sample>{}).first;
  std::vector<std::string> key = sample.labels;
  family->second.emplace(std::move(key), std::move(sample));
}

void SampleGathering::add(std::string_view name, std::vector<std::string> labels, double value) {
  put(name, Sample{std::move(labels), value, {}});
}

void SampleGathering::add(std::string_view name, std::vector<std::string> labels, const Distribution& distribution) {
  put(name, Sample{std::move(labels), distribution.sum, distribution.counts});
}

SampleSet SampleGathering::take() {
  SampleSet out;
  const auto move_out = [&](const std::string& name, std::map<std::vector<std::string>, Sample>& samples) {
    Family family{name, {}};
    family.samples.reserve(samples.size());
    for (auto& entry : samples) family.samples.push_back(std::move(entry.second));
    out.push_back(std::move(family));
  };
  for (const MetricRow& row : all_metrics()) {
    const auto found = families_.find(row.name);
    if (found == families_.end()) continue;
    move_out(found->first, found->second);
    families_.erase(found);
  }
  for (auto& [name, samples] : families_) move_out(name, samples);
  families_.clear();
  return out;
}

}  // namespace nvstripe

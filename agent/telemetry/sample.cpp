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
  // Nearly all are plain ASCII, and there are tens of thousands.
  const auto odd = [](char c) { return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f; };
  for (std::string& label : sample.labels) {
    if (std::any_of(label.begin(), label.end(), odd)) label = printable(label);
  }
  auto family = families_.find(name);
  if (family == families_.end()) family = families_.emplace(std::string(name), std::vector<Sample>{}).first;
  family->second.push_back(std::move(sample));
}

void SampleGathering::add(std::string_view name, std::vector<std::string> labels, double value) {
  put(name, Sample{std::move(labels), value, {}});
}

void SampleGathering::add(std::string_view name, std::vector<std::string> labels, const Distribution& distribution) {
  put(name, Sample{std::move(labels), distribution.sum, distribution.counts});
}

SampleSet SampleGathering::take() {
  SampleSet out;
  const auto move_out = [&](const std::string& name, std::vector<Sample>& samples) {
    std::stable_sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.labels < b.labels; });
    const auto doubles =
        std::unique(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.labels == b.labels; });
    samples.erase(doubles, samples.end());
    out.push_back(Family{name, std::move(samples)});
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

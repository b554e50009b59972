// Owns the Prometheus text format 0.0.4 of samples.
#pragma once
#include <string>

#include "agent/telemetry/sample.hpp"

namespace nvstripe::uplink {

inline constexpr std::string_view kExpositionType = "text/plain; version=0.0.4; charset=utf-8";

// HELP and TYPE are the table's. Families and samples that do not fit the table (a core of another version) are left out.
[[nodiscard]] std::string exposition(const SampleSet& samples);

}  // namespace nvstripe::uplink

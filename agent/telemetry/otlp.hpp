// Owns samples as OpenTelemetry's OTLP has them: the bytes of an ExportMetricsServiceRequest, and what its answer says.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/telemetry/sample.hpp"

namespace nvstripe::otlp {

struct Origin {
  std::vector<std::pair<std::string, std::string>> resource;  // attributes of the sender: "service.name" and the like
  std::string version;                                        // of the agent
  std::uint64_t time_unix_nano = 0;                           // when the samples were taken
  std::uint64_t start_time_unix_nano = 0;                     // since when the uplink's own families are counted
};

// Names, help and label names are the table's. Families and samples that do not fit the table are left out; empty where
// nothing is left, which is a valid request as well. Since when the core counts is not known here: its points have no start.
[[nodiscard]] std::string metrics_request(const SampleSet& samples, const Origin& origin);

struct PartialSuccess {
  std::int64_t rejected = 0;  // data points that the receiver did not take
  std::string message;        // its words, made printable; with nothing rejected a warning
  bool operator==(const PartialSuccess&) const = default;
};

// All was taken when it is empty, as for an empty answer.
[[nodiscard]] Result<PartialSuccess> read_response(std::string_view bytes);

}  // namespace nvstripe::otlp

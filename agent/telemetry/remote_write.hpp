// Owns samples as Prometheus' remote write 1.0 has them: the bytes of a WriteRequest, before snappy.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/telemetry/sample.hpp"

namespace nvstripe::remote_write {

// Series, and metadata of their families, as if a scrape with these two labels had found them. A label with an empty value
// is no label for Prometheus and not sent. Families and samples that do not fit the table are left out; empty where nothing
// is left.
[[nodiscard]] std::string write_request(const SampleSet& samples, std::string_view job, std::string_view instance,
                                        std::int64_t timestamp_ms);

}  // namespace nvstripe::remote_write

// Owns strong types for sizes and rates: strict parsing ("128KiB", "900MB/s") and printing. No locale, no throw.
#pragma once
#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/base/result.hpp"

namespace nvstripe {

struct Bytes {
  std::uint64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
};

struct BytesPerSecond {
  std::uint64_t count = 0;
  auto operator<=>(const BytesPerSecond&) const = default;
};

// A whole number with a unit, no blank between: B, kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024).
// A number without a unit is an error: the reader must say which unit is meant.
[[nodiscard]] Result<Bytes> parse_bytes(std::string_view text);
[[nodiscard]] Result<BytesPerSecond> parse_rate(std::string_view text);                 // "900MB/s"
[[nodiscard]] Result<std::chrono::milliseconds> parse_duration(std::string_view text);  // "500ms", "15s", "10m", "2h"

[[nodiscard]] std::string to_text(Bytes size);           // "1.2 TiB", "128 KiB", "0 B"; for people
[[nodiscard]] std::string to_spec(Bytes size);           // "128KiB": parses back to the same value
[[nodiscard]] std::string to_text(BytesPerSecond rate);  // "900 MB/s"
[[nodiscard]] std::string to_spec(BytesPerSecond rate);  // "900MB/s": parses back to the same value

}  // namespace nvstripe

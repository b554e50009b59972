// Owns 128-bit identifiers and how ours are derived: 64 bits of HMAC-SHA256(host identity, purpose and name) and 64 bits
// of generation, new for each creation, so that stale members never mix with a re-made volume and a second host with the
// same spec never recognises the first one's volume as its own (law 3).
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/base/result.hpp"

namespace nvstripe {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};
  auto operator<=>(const Uuid&) const = default;
  // All zeros or all ones: firmware's way to say "none".
  [[nodiscard]] bool is_none() const;
};

// 32 hex digits; dashes, colons (mdadm) and an "uuid." or "eui." prefix are accepted anywhere between digits.
[[nodiscard]] Result<Uuid> parse_uuid(std::string_view text);
[[nodiscard]] std::string to_text(const Uuid& uuid);   // deadbeef-0011-2233-4455-66778899aabb
[[nodiscard]] std::string to_mdadm(const Uuid& uuid);  // deadbeef:00112233:44556677:8899aabb
[[nodiscard]] std::string to_hex(const Uuid& uuid);    // 32 digits, no separators

// First 64 bits of HMAC-SHA256(key = host identity, message = purpose NUL name).
[[nodiscard]] std::uint64_t derive64(const Uuid& host, std::string_view purpose, std::string_view name);
// derive64 followed by the generation, as it is written on members, file systems and namespaces.
[[nodiscard]] Uuid derive(const Uuid& host, std::string_view purpose, std::string_view name, std::uint64_t generation);
// True when the first half of `found` is what `host` derives for purpose and name, whatever the generation.
[[nodiscard]] bool derived_from(const Uuid& found, const Uuid& host, std::string_view purpose, std::string_view name);
[[nodiscard]] std::uint64_t generation_of(const Uuid& uuid);

}  // namespace nvstripe

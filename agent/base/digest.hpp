// Owns SHA-256 of a text, for digests that people compare and programs store.
#pragma once
#include <string>
#include <string_view>

namespace nvstripe {

[[nodiscard]] std::string sha256_hex(std::string_view text);  // 64 digits

}  // namespace nvstripe

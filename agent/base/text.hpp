// Owns small text operations without locale and without throwing: trim, split, whole-string numbers, safe printing.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nvstripe {

[[nodiscard]] std::string_view trim(std::string_view text);  // ASCII blanks and control characters at both ends
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);  // keeps empty parts
[[nodiscard]] std::vector<std::string_view> words(std::string_view text);                  // runs of non-blank characters
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10);  // the whole text or nothing
[[nodiscard]] std::string hex(const std::uint8_t* bytes, std::size_t count);
// Bytes that are not printable ASCII or valid UTF-8 become \xNN, so that odd models can be printed and put into JSON (A-17,
//
[[nodiscard]] std::string printable(std::string_view bytes);
// Only bytes that are not valid UTF-8 become \xNN; line ends and other controls stay. For text that goes into JSON.
[[nodiscard]] std::string to_utf8(std::string_view bytes);

}  // namespace nvstripe

// Owns the comparison of a text with a file under tests/golden; UPDATE_GOLDEN=1 rewrites the file, and the diff is reviewed.
#pragma once
#include <string>

namespace nvstripe {

// Empty when `text` equals tests/golden/<name>; else what differs, for people.
[[nodiscard]] std::string golden_difference(const std::string& name, const std::string& text);

}  // namespace nvstripe

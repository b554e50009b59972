// Owns the table of child verbs; each is a function of its arguments and lies beside the parent's half of its work.
#pragma once
#include <string>
#include <vector>

namespace nvstripe::host {

[[nodiscard]] int look_verb(const std::vector<std::string>& arguments);     // look_child.cpp
[[nodiscard]] int figures_verb(const std::vector<std::string>& arguments);  // figures_child.cpp
[[nodiscard]] int hands_verb(const std::vector<std::string>& arguments);    // hands_child.cpp
[[nodiscard]] int target_verb(const std::vector<std::string>& arguments);   // target_child.cpp

}  // namespace nvstripe::host

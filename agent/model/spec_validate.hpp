// Owns the comparison of one file's tree with the table of fields: unknown and missing keys, types, values, double names.
#pragma once
#include <string>
#include <vector>

#include "agent/model/spec_error.hpp"
#include "agent/model/yaml_tree.hpp"

namespace nvstripe {

// `root` is the file's top; null (an empty file) is fine and wants nothing.
[[nodiscard]] std::vector<SpecError> validate_spec(const std::string& file, const YamlNode& root);

}  // namespace nvstripe

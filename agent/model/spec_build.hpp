// Owns the way from a validated tree to values, laid over the Spec that earlier files gave.
#pragma once
#include <string>

#include "agent/model/spec.hpp"
#include "agent/model/yaml_tree.hpp"

namespace nvstripe {

// `root` has passed validate_spec(). Named items replace the one of their name whole.
void build_spec(const std::string& file, const YamlNode& root, Spec& spec);

}  // namespace nvstripe

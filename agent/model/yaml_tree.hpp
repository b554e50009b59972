// Owns YAML as a tree of our own with a place for every node: no aliases, no tags, no second document, no double keys. What
// a scalar means is decided by its reader from its text, so `010`, `yes` and `1e3` are never read as something else.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "agent/model/spec_error.hpp"

namespace nvstripe {

inline constexpr std::size_t kMaxYamlBytes = 256 * 1024;  // a spec for a thousand volumes is smaller
inline constexpr int kMaxYamlDepth = 16;                  // the deepest field of the spec is five deep

struct YamlNode {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string text;             // scalars
  bool quoted = false;          // scalars
  std::vector<YamlNode> keys;   // maps: scalars, each once; keys[i] belongs to items[i]
  std::vector<YamlNode> items;  // lists and maps
  int line = 0, column = 0;     // from 1

  [[nodiscard]] const YamlNode* find(std::string_view key) const;
};

struct YamlReading {
  YamlNode root;  // null for a text without content
  std::vector<SpecError> errors;
};

[[nodiscard]] YamlReading read_yaml(const std::string& file, const std::string& text);

}  // namespace nvstripe

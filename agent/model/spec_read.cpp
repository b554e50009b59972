// Owns the order of reading: each file on its own, all errors together, and values only if there are none.
#include "agent/model/spec_read.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/model/spec_build.hpp"
#include "agent/model/spec_check.hpp"
#include "agent/model/spec_validate.hpp"
#include "agent/model/yaml_tree.hpp"

namespace nvstripe {

std::string to_text(const SpecError& error) {
  return fmt::format("{}:{}:{}: {}; {}", error.place.file, error.place.line, error.place.column, error.what, error.remedy);
}

SpecReading read_spec(const std::vector<SpecText>& files) {
  SpecReading reading;
  std::vector<YamlNode> roots;
  for (const SpecText& file : files) {
    YamlReading yaml = read_yaml(file.path, file.text);
    std::vector<SpecError> errors = std::move(yaml.errors);
    // After a syntax error the tree is empty and would only say so again.
    for (SpecError& error : validate_spec(file.path, yaml.root)) errors.push_back(std::move(error));
    std::stable_sort(errors.begin(), errors.end(), [](const SpecError& a, const SpecError& b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    for (SpecError& error : errors) reading.errors.push_back(std::move(error));
    roots.push_back(std::move(yaml.root));
  }
  if (!reading.errors.empty()) return reading;
  for (std::size_t i = 0; i < files.size(); ++i) build_spec(files[i].path, roots[i], reading.spec);
  return reading;
}

SpecReading load_spec(const std::vector<SpecText>& files) {
  SpecReading reading = read_spec(files);
  if (reading.errors.empty()) reading.errors = check_spec(reading.spec);
  if (!reading.errors.empty()) reading.spec = Spec{};
  return reading;
}

Result<Spec> load_spec_or_error(const std::vector<SpecText>& files) {
  SpecReading reading = load_spec(files);
  if (reading.errors.empty()) return std::move(reading.spec);
  std::string lines;
  for (const SpecError& error : reading.errors) {
    if (!lines.empty()) lines += '\n';
    lines += to_text(error);
  }
  return fail(std::move(lines), "correct the spec; `nvstripe config check` reads it as the agent does");
}

}  // namespace nvstripe

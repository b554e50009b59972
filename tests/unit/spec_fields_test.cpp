// Tests that the table of fields, the reader, the printed spec, the schema and the documents all know the same fields.
#include "agent/model/spec_fields.hpp"

#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "agent/model/event.hpp"
#include "agent/model/json.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/spec_samples.hpp"

namespace nvstripe {
namespace {

// The paths of a printed spec with "[]" for items, and one value of each.
void collect(const boost::json::value& value, const std::string& path, std::map<std::string, boost::json::value>& found) {
  if (!path.empty()) found[path] = value;
  if (const auto* object = value.if_object()) {
    for (const auto& field : *object)
      collect(field.value(), path.empty() ? std::string(field.key()) : path + "." + std::string(field.key()), found);
  }
  if (const auto* array = value.if_array()) {
    for (const auto& item : *array) {
      if (item.is_object()) collect(item, path + "[]", found);
    }
  }
}

std::map<std::string, boost::json::value> paths_of(const std::string& text) {
  const SpecReading reading = samples::load(text);
  REQUIRE(reading.errors.empty());
  std::map<std::string, boost::json::value> found;
  collect(json::to_json(reading.spec), "", found);
  return found;
}

std::string file_text(const std::string& name) {
  std::ifstream file(std::string(NVSTRIPE_SOURCE_DIR) + "/" + name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Empty when the part of a document between its two marks is `wanted`; UPDATE_GOLDEN=1 rewrites it.
std::string marked_difference(const std::string& name, const std::string& wanted) {
  const std::string begin = "<!-- made from the table: begin -->\n", end = "<!-- made from the table: end -->";
  const std::string text = file_text(name);
  const auto mark = text.find(begin), to = text.find(end);
  if (mark == std::string::npos || to == std::string::npos) return name + " lacks its marks";
  const auto from = mark + begin.size();
  if (text.substr(from, to - from) == "\n" + wanted + "\n") return {};
  if (std::getenv("UPDATE_GOLDEN") == nullptr) return name + " differs from the table; run test_unit with UPDATE_GOLDEN=1";
  std::ofstream file(std::string(NVSTRIPE_SOURCE_DIR) + "/" + name);
  file << text.substr(0, from) << "\n" << wanted << "\n" << text.substr(to);
  return {};
}

}  // namespace

TEST_CASE("every field of the table is read and printed, and nothing else is") {
  const auto printed = paths_of(samples::kFull);
  for (const SpecField& field : spec_fields()) {
    CAPTURE(std::string(field.path));
    CHECK((printed.count(std::string(field.path)) == 1) == (field.type != FieldType::not_offered));
    CHECK_FALSE(field.help.empty());
  }
  for (const auto& [path, value] : printed) {
    if (path.size() > 2 && path.substr(path.size() - 2) == "[]") continue;
    CAPTURE(path);
    CHECK(find_spec_field(path) != nullptr);
  }
}

TEST_CASE("what the table says holds without a field is what the reader fills in") {
  const auto printed =
      paths_of(samples::kSmall + "exports: [{name: e, listen: {interface: eth1}, allow: [{host: nqn.2014-08.org.x}]}]\n");
  int compared = 0;
  for (const SpecField& field : spec_fields()) {
    const auto found = printed.find(std::string(field.path));
    if (field.fallback.empty() || found == printed.end() || found->second.is_array() || found->second.is_object()) continue;
    if (field.fallback.find(' ') != std::string_view::npos) continue;  // told in words
    CAPTURE(std::string(field.path));
    const std::string value = found->second.is_string() ? std::string(found->second.as_string()) : json::text(found->second);
    CHECK(value == field.fallback);
    ++compared;
  }
  CHECK(compared >= 12);
  CHECK(printed.at("exports[].transports") == boost::json::value({"rdma", "tcp"}));
  CHECK(printed.at("volumes[].members.unequal_sizes") == "refuse");
  CHECK(printed.at("connections[].failure_domain") == printed.at("connections[].name"));
}

TEST_CASE("every value field belongs to a map or list of the table") {
  std::set<std::string_view> paths;
  for (const SpecField& field : spec_fields()) {
    CAPTURE(std::string(field.path));
    CHECK(paths.insert(field.path).second);
    const auto dot = field.path.rfind('.');
    if (dot == std::string_view::npos) continue;
    std::string_view parent = field.path.substr(0, dot);
    const bool items = parent.substr(parent.size() - 2) == "[]";
    if (items) parent.remove_suffix(2);
    const SpecField* above = find_spec_field(parent);
    REQUIRE(above != nullptr);
    CHECK((above->type == FieldType::object) == !items);
  }
}

TEST_CASE("docs/spec.md holds the reference that the table makes") {
  CHECK(marked_difference("docs/spec.md", spec_reference()).empty());
}

TEST_CASE("docs/events.md holds the reference that the table makes") {
  CHECK(marked_difference("docs/events.md", event_reference()).empty());
}

TEST_CASE("every YAML example in docs/spec.md and README.md is a valid spec") {
  int examples = 0;
  for (const char* name : {"docs/spec.md", "README.md"}) {
    std::string text = file_text(name);
    for (auto from = text.find("```yaml\n"); from != std::string::npos; from = text.find("```yaml\n", from + 1)) {
      const std::string example = text.substr(from + 8, text.find("\n```", from) - from - 7);
      if (example.rfind("version: 1", 0) != 0) continue;  // parts of user-data and the like
      CAPTURE(name, example);
      CHECK(samples::first_error(example).empty());
      ++examples;
    }
  }
  CHECK(examples >= 2);
}

TEST_CASE("the specs within the cloud-init examples are valid") {
  for (const char* name : {"packaging/cloud-init/storage.yaml", "packaging/cloud-init/compute.yaml"}) {
    std::istringstream lines(file_text(name));
    std::string line, spec;
    std::size_t indent = std::string::npos;
    while (std::getline(lines, line)) {
      const auto at = line.find_first_not_of(' ');
      if (indent == std::string::npos && at != std::string::npos && line.substr(at) == "version: 1") indent = at;
      if (indent == std::string::npos) continue;
      if (at != std::string::npos && at < indent) break;
      spec += line.substr(std::min(indent, line.size())) + "\n";
    }
    CAPTURE(name, spec);
    CHECK_FALSE(spec.empty());
    CHECK(samples::first_error(spec).empty());
  }
}

TEST_CASE("the JSON schema knows exactly the fields that are offered") {
  const auto parsed = json::parse(spec_schema());
  REQUIRE(parsed.has_value());
  const auto& top = parsed->as_object();
  CHECK(top.at("additionalProperties") == false);
  const auto& properties = top.at("properties").as_object();
  for (const SpecField* field : spec_fields_below("")) {
    CAPTURE(std::string(field->path));
    CHECK(properties.contains(field->path) == (field->type != FieldType::not_offered));
  }
  const auto& volume = properties.at("volumes").at("items").as_object();
  CHECK(volume.at("properties").at("stack").at("enum") == boost::json::value({"md", "lvm"}));
  CHECK(volume.at("properties").at("members").at("properties").at("count").at("maximum") == 128);
  CHECK(volume.at("required") == boost::json::value({"name", "members", "mount"}));
  const auto& slices =
      properties.at("exports").at("items").at("properties").at("allow").at("items").at("properties").at("slices");
  CHECK(slices.at("anyOf").at(1).at("const") == "all");
}

}  // namespace nvstripe

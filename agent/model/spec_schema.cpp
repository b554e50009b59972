// Owns what is made of the table of fields for readers: the reference in docs/spec.md and the JSON schema.
#include <fmt/format.h>
#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/base/units.hpp"
#include "agent/model/json.hpp"
#include "agent/model/spec_fields.hpp"

namespace nvstripe {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::string choice_words(const SpecField& field) {
  const auto choices = words(field.choices);
  const std::vector<std::string> all(choices.begin(), choices.end());
  return all.size() > 1 ? "one of " + join(all, ", ") : join(all, "");
}

std::string size_words(const SpecField& field) {
  if (field.max != kNoLimit) return fmt::format("size, {} to {}", to_spec(Bytes{field.min}), to_spec(Bytes{field.max}));
  return "size such as 3500GB";
}

std::string number_words(const SpecField& field) {
  return field.min == field.max ? fmt::to_string(field.min) : fmt::format("number, {} to {}", field.min, field.max);
}

std::string scalar_words(const SpecField& field, FieldType type) {
  switch (type) {
    case FieldType::number:
      return number_words(field);
    case FieldType::number_or_all:
      return number_words(field) + ", or all";
    case FieldType::choice:
      return choice_words(field);
    case FieldType::name:
      return "name, 1 to 24 of A-Z a-z 0-9 _ -";
    case FieldType::label:
      return "word, 1 to 64 of A-Z a-z 0-9 . _ -";
    case FieldType::size:
      return size_words(field);
    case FieldType::rate:
      return "rate such as 900MB/s";
    case FieldType::uuid:
      return "UUID, or auto";
    case FieldType::nqn:
      return "NVMe qualified name";
    case FieldType::network:
      return "network such as 10.9.0.0/24";
    case FieldType::interface:
      return "interface name";
    case FieldType::address:
      return "host name, IPv4 or IPv6 address";
    case FieldType::endpoint:
      return "address and port such as [::]:9766, or off";
    case FieldType::url:
      return "URL such as https://collector:8443/events";
    case FieldType::duration:
      return fmt::format("duration such as 15s, {}s to {}s", field.min / 1000, field.max / 1000);
    case FieldType::path:
      return "absolute path";
    case FieldType::mode:
      return "octal mode such as \"2775\"";
    case FieldType::account:
      return "name or number";
    default:
      return "text, 1 to 64 characters";
  }
}

bool is_number(const SpecField& field) { return field.type == FieldType::number || field.type == FieldType::number_or_all; }

boost::json::object schema_of(const SpecField& field);

boost::json::object schema_below(std::string_view path) {
  boost::json::object out, properties;
  boost::json::array required;
  for (const SpecField* field : spec_fields_below(path)) {
    if (field->type == FieldType::not_offered) continue;
    properties[last_part(field->path)] = schema_of(*field);
    if (field->required) required.push_back(boost::json::string(last_part(field->path)));
  }
  out["type"] = "object";
  out["properties"] = std::move(properties);
  if (!required.empty()) out["required"] = std::move(required);
  out["additionalProperties"] = false;
  return out;
}

boost::json::object scalar_schema(const SpecField& field, FieldType type) {
  boost::json::object out;
  if (type == FieldType::number || type == FieldType::number_or_all) {
    out["type"] = "integer";
    out["minimum"] = field.min;
    out["maximum"] = field.max;
  } else if (type == FieldType::choice) {
    boost::json::array choices;
    for (const std::string_view choice : words(field.choices)) choices.push_back(boost::json::string(choice));
    out["enum"] = std::move(choices);
  } else if (type == FieldType::account || type == FieldType::mode) {
    out["type"] = boost::json::array{"string", "integer"};  // both are read by their digits
  } else {
    out["type"] = "string";
    if (type == FieldType::size) out["pattern"] = "^(0|[1-9][0-9]*)(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$";
    if (type == FieldType::rate) out["pattern"] = "^(0|[1-9][0-9]*)(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)/s$";
    if (type == FieldType::name) out["pattern"] = "^[A-Za-z0-9_-]{1,24}$";
    if (type == FieldType::label) out["pattern"] = "^[A-Za-z0-9._-]{1,64}$";
    if (type == FieldType::duration) out["pattern"] = "^(0|[1-9][0-9]*)(ms|s|m|h)$";
    if (type == FieldType::url) out["pattern"] = "^https?://";
    if (type == FieldType::path) out["pattern"] = "^/";
    if (type == FieldType::nqn) out["pattern"] = "^nqn\\.[0-9]{4}-[0-9]{2}\\.";
  }
  return out;
}

boost::json::object schema_of(const SpecField& field) {
  boost::json::object out;
  if (field.type == FieldType::object) {
    out = schema_below(field.path);
  } else if (field.type == FieldType::items || field.type == FieldType::named_items) {
    out["type"] = "array";
    out["items"] = schema_below(std::string(field.path) + "[]");
  } else if (field.type == FieldType::words) {
    out["type"] = "array";
    out["items"] = scalar_schema(field, field.items);
    out["minItems"] = 1;
    out["uniqueItems"] = true;
  } else if (field.type == FieldType::number_or_all) {
    boost::json::array either{scalar_schema(field, FieldType::number), boost::json::object{{"const", "all"}}};
    out["anyOf"] = std::move(either);
  } else {
    out = scalar_schema(field, field.type);
  }
  out["description"] = boost::json::string(field.help);
  if (is_number(field) && parse_number(field.fallback)) out["default"] = *parse_number(field.fallback);
  if (!is_number(field) && !field.fallback.empty() && field.fallback.find_first_of("[{ ") == std::string_view::npos) {
    out["default"] = boost::json::string(field.fallback);
  }
  return out;
}

}  // namespace

std::string type_words(const SpecField& field) {
  switch (field.type) {
    case FieldType::object:
      return "a map";
    case FieldType::named_items:
      return "a list of maps, each with a name of its own";
    case FieldType::items:
      return "a list of maps";
    case FieldType::words:
      return fmt::format("a list in brackets; each: {}", scalar_words(field, field.items));
    case FieldType::not_offered:
      return "not offered by this version";
    default:
      return scalar_words(field, field.type);
  }
}

std::string spec_reference() {
  std::string out = "| field | value | without it | meaning |\n|---|---|---|---|\n";
  for (const SpecField& field : spec_fields()) {
    const std::string fallback = field.required           ? "error"
                                 : field.fallback.empty() ? "nothing"
                                                          : fmt::format("`{}`", field.fallback);
    out += fmt::format("| `{}` | {} | {} | {} |\n", field.path, type_words(field), fallback, field.help);
  }
  return out;
}

std::string spec_schema() {
  boost::json::object out;
  out["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  out["title"] = "nvstripe spec, version 1";
  const boost::json::object top = schema_below("");
  for (const auto& field : top) out[field.key()] = field.value();
  return json::pretty_text(out);
}

}  // namespace nvstripe

// Owns which keys are numbers, lists or objects; all others are text.
#include "agent/model/event_schema.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/model/event.hpp"
#include "agent/model/json.hpp"

namespace nvstripe {
namespace {

enum class Kind { text, whole, number, texts, object };

struct KindOfKey {
  std::string_view key;
  Kind kind;
  std::string_view type = {};  // empty: of every type
};
constexpr std::array kKinds{
    KindOfKey{"volumes", Kind::whole, event::kSpecLoaded},
    KindOfKey{"volumes", Kind::object},
    KindOfKey{"files", Kind::whole},
    KindOfKey{"exports", Kind::whole},
    KindOfKey{"connections", Kind::whole},
    KindOfKey{"members", Kind::texts},
    KindOfKey{"nsid", Kind::whole},
    KindOfKey{"slice", Kind::whole},
    KindOfKey{"away_s", Kind::number},
    KindOfKey{"first", Kind::whole},
    KindOfKey{"last", Kind::whole},
    KindOfKey{"dropped_total", Kind::whole},
    KindOfKey{"sequence", Kind::whole},
    KindOfKey{"uid", Kind::whole},
    KindOfKey{"exit_status", Kind::whole},
    KindOfKey{"duration_s", Kind::number},
    KindOfKey{"memory_peak_bytes", Kind::whole},
    KindOfKey{"accelerator_utilization", Kind::number},
};

struct Key {
  std::string_view name;
  bool required = true;
  Kind kind = Kind::text;
};

// "id, [error, remedy]": keys, those within brackets not always there.
std::vector<Key> keys_of(const EventType& type) {
  std::vector<Key> out;
  bool required = true;
  for (std::string_view part : split(type.data, ',')) {
    part = trim(part);
    if (part.starts_with('[')) required = false;
    const bool last_of_bracket = part.ends_with(']');
    while (part.starts_with('[')) part.remove_prefix(1);
    while (part.ends_with(']')) part.remove_suffix(1);
    if (part.empty()) continue;
    const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const KindOfKey& one) {
      return one.key == part && (one.type.empty() || one.type == type.name);
    });
    out.push_back({part, required, kind == kKinds.end() ? Kind::text : kind->kind});
    if (last_of_bracket) required = true;
  }
  return out;
}

boost::json::object schema_of(Kind kind) {
  switch (kind) {
    case Kind::text:
      return {{"type", "string"}};
    case Kind::whole:
      return {{"type", "integer"}, {"minimum", 0}};
    case Kind::number:
      return {{"type", "number"}, {"minimum", 0}};
    case Kind::texts:
      return {{"type", "array"}, {"items", boost::json::object{{"type", "string"}}}};
    case Kind::object:
      return {{"type", "object"}};
  }
  return {};
}

bool fits(const boost::json::value& value, Kind kind) {
  const bool whole = value.is_uint64() || (value.is_int64() && value.get_int64() >= 0);
  switch (kind) {
    case Kind::text:
      return value.is_string();
    case Kind::whole:
      return whole;
    case Kind::number:
      return whole || (value.is_double() && value.get_double() >= 0);
    case Kind::texts:
      return value.is_array() && std::all_of(value.get_array().begin(), value.get_array().end(),
                                             [](const boost::json::value& one) { return one.is_string(); });
    case Kind::object:
      return value.is_object();
  }
  return false;
}

}  // namespace

std::string event_schemas() {
  boost::json::object definitions;
  for (const EventType& type : all_event_types()) {
    boost::json::object properties;
    boost::json::array required;
    for (const Key& key : keys_of(type)) {
      properties[key.name] = schema_of(key.kind);
      if (key.required) required.push_back(boost::json::string(key.name));
    }
    definitions[type.name] = boost::json::object{{"description", boost::json::string(type.summary)},
                                                 {"type", "object"},
                                                 {"properties", std::move(properties)},
                                                 {"required", std::move(required)}};
  }
  boost::json::object out{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                          {"title", "data of nvstripe's events, by type"},
                          {"$defs", std::move(definitions)}};
  return json::pretty_text(out);
}

std::string schema_problem(std::string_view type, std::string_view data) {
  const auto types = all_event_types();
  const auto known = std::find_if(types.begin(), types.end(), [&](const EventType& one) { return one.name == type; });
  if (known == types.end()) return "there is no type '" + std::string(type) + "'";
  const auto parsed = json::parse(data.empty() ? "{}" : data);
  if (!parsed || !parsed->is_object()) return "data is no object";
  const auto keys = keys_of(*known);
  for (const Key& key : keys) {
    const auto* value = parsed->get_object().if_contains(key.name);
    if (value == nullptr && key.required) return "'" + std::string(key.name) + "' is missing";
    if (value != nullptr && !fits(*value, key.kind)) return "'" + std::string(key.name) + "' is of another kind";
  }
  for (const auto& member : parsed->get_object()) {
    if (std::none_of(keys.begin(), keys.end(), [&](const Key& key) { return key.name == member.key(); }))
      return "'" + std::string(member.key()) + "' is not in the table";
  }
  return {};
}

}  // namespace nvstripe

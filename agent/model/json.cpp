// Owns JSON text itself: strict parsing, printing for programs and for people, and the same content as YAML.
#include "agent/model/json.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "agent/base/text.hpp"

namespace nvstripe::json {
namespace {

void print(const boost::json::value& value, std::size_t indent, std::string& out) {
  const std::string inner(indent + 2, ' ');
  const auto list = [&](const auto& items, char open, char close, const auto& print_item) {
    out += open;
    bool first = true;
    for (const auto& item : items) {
      out.append(first ? "\n" : ",\n").append(inner);
      first = false;
      print_item(item);
    }
    if (!first) out.append("\n").append(indent, ' ');
    out += close;
  };
  if (const auto* array = value.if_array()) {
    list(*array, '[', ']', [&](const boost::json::value& item) { print(item, indent + 2, out); });
  } else if (const auto* object = value.if_object()) {
    list(*object, '{', '}', [&](const boost::json::key_value_pair& pair) {
      out += boost::json::serialize(pair.key());
      out += ": ";
      print(pair.value(), indent + 2, out);
    });
  } else {
    out += boost::json::serialize(value);
  }
}

// A key is left bare where no reader takes it for anything but text: YAML 1.1 reads `on`, `y` or `null` otherwise.
std::string yaml_key(std::string_view key) {
  constexpr std::array<std::string_view, 8> kWords{"y", "n", "yes", "no", "on", "off", "true", "false"};
  const bool plain = !key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == key.npos &&
                     key.front() >= 'a' && key != "null" && std::find(kWords.begin(), kWords.end(), key) == kWords.end();
  return plain ? std::string(key) : boost::json::serialize(boost::json::string_view(key.data(), key.size()));
}

// Every text is written with double quotes, as JSON does: plain YAML would read `no`, `1.0` or `~` as something else.
void print_yaml(const boost::json::value& value, std::size_t indent, std::string& out);

void print_yaml_item(const boost::json::value& item, std::size_t indent, std::string& out) {
  const auto* object = item.if_object();
  const auto* array = item.if_array();
  if ((object != nullptr && !object->empty()) || (array != nullptr && !array->empty())) {
    out += '\n';
    print_yaml(item, indent, out);
  } else {
    out.append(" ").append(boost::json::serialize(item)).append("\n");
  }
}

void print_yaml(const boost::json::value& value, std::size_t indent, std::string& out) {
  if (const auto* object = value.if_object(); object != nullptr && !object->empty()) {
    for (const auto& pair : *object) {
      out.append(indent, ' ').append(yaml_key(std::string_view(pair.key()))).append(":");
      print_yaml_item(pair.value(), indent + 2, out);
    }
  } else if (const auto* array = value.if_array(); array != nullptr && !array->empty()) {
    for (const auto& item : *array) {
      out.append(indent, ' ').append("-");
      print_yaml_item(item, indent + 2, out);
    }
  } else {
    out.append(indent, ' ').append(boost::json::serialize(value)).append("\n");
  }
}

}  // namespace

boost::json::object document() {
  boost::json::object out;
  out["api_version"] = kApiVersion;
  return out;
}

std::string text(const boost::json::value& value) { return boost::json::serialize(value); }

std::string pretty_text(const boost::json::value& value) {
  std::string out;
  print(value, 0, out);
  out += '\n';
  return out;
}

std::string yaml_text(const boost::json::value& value) {
  std::string out;
  print_yaml(value, 0, out);
  return out;
}

Result<boost::json::value> parse(std::string_view text) {
  boost::json::parse_options options;
  options.max_depth = kMaxDepth;
  boost::json::error_code error;
  auto value = boost::json::parse(boost::json::string_view(text.data(), text.size()), error, {}, options);
  if (error) return fail(fmt::format("cannot parse JSON: {}", error.message()));
  return value;
}

boost::json::object error_document(const Error& error) {
  boost::json::object out = document();
  boost::json::object inner;
  inner["what"] = to_utf8(error.what);
  inner["remedy"] = to_utf8(error.remedy);
  out["error"] = std::move(inner);
  return out;
}

}  // namespace nvstripe::json

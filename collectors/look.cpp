// Owns the small looks all collectors share.
#include "collectors/look.hpp"

#include <algorithm>

#include "agent/base/text.hpp"

namespace nvstripe::collectors {

bool surely_absent(const host::Reader& reader, std::string_view path) {
  const auto names = reader.list(folder_of(path));
  return names && !names->empty() && !std::binary_search(names->begin(), names->end(), base_name(path));
}

bool is_class_absent(const host::Reader& reader, std::string_view name) {
  const auto names = reader.list("/sys/class");
  const auto has = [&](std::string_view one) { return std::binary_search(names->begin(), names->end(), one); };
  return names && has("net") && !has(name);
}

std::optional<std::uint64_t> number(const host::Reader& reader, std::string_view path, int base) {
  const std::string text = reader.attribute(path);
  std::string_view digits = text;
  if (base == 16 && has_prefix(digits, "0x")) digits.remove_prefix(2);
  return parse_number(digits, base);
}

bool is_none_identifier(std::string_view text) {
  // A wwid has a prefix of letters before the digits ("eui.", "uuid.", "naa."): only what follows it counts.
  const std::size_t dot = text.find('.');
  if (dot != std::string_view::npos && dot <= 4) text.remove_prefix(dot + 1);
  bool zeros = true;
  bool ones = true;
  for (const char c : text) {
    if (c == '-' || c == ' ' || c == ':') continue;
    if (c != '0') zeros = false;
    if (c != 'f' && c != 'F') ones = false;
  }
  return zeros || ones;  // both hold for a text without any digit
}

std::string identifier(const host::Reader& reader, std::string_view path) {
  std::string text = reader.attribute(path);
  if (is_none_identifier(text)) text.clear();
  return text;
}

std::string base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return "/";
  return std::string(path.substr(0, slash));
}

bool has_prefix(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

bool is_numbered(std::string_view name, std::string_view prefix) {
  return has_prefix(name, prefix) && parse_number(name.substr(prefix.size())).has_value();
}

std::string unescape_octal(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto code = text[0] == '\\' && text.size() >= 4 ? parse_number(text.substr(1, 3), 8) : std::nullopt;
    if (code && *code < 256) {
      out += static_cast<char>(*code);
      text.remove_prefix(4);
    } else {
      out += text[0];
      text.remove_prefix(1);
    }
  }
  return out;
}

}  // namespace nvstripe::collectors

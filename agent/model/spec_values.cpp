// Owns what a scalar of each field type must look like. Texts that reach unit files, configfs paths or the one-line format
// of /dev/nvme-fabrics are kept to characters that mean nothing there: a comma in an NQN would begin another option.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/base/endpoint.hpp"
#include "agent/base/text.hpp"
#include "agent/base/units.hpp"
#include "agent/base/url.hpp"
#include "agent/base/uuid.hpp"
#include "agent/model/spec_fields.hpp"

namespace nvstripe {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kWordCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
constexpr std::size_t kMaxName = 24;       // md names and device-mapper names made of it stay short enough
constexpr std::size_t kMaxNqn = 223;       // NVMe base specification
constexpr std::size_t kMaxInterface = 15;  // IFNAMSIZ without its zero
constexpr std::size_t kMaxText = 64, kMaxAddress = 253, kMaxPath = 200, kMaxAccount = 32;

bool only(std::string_view text, std::string_view allowed, std::string_view more = {}) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return allowed.find(c) != std::string_view::npos || more.find(c) != std::string_view::npos;
  });
}

tl::unexpected<Error> refuse(std::string_view text, std::string_view why, std::string remedy) {
  return fail(fmt::format("'{}' {}", printable(text), why), std::move(remedy));
}

Result<> check_number(const SpecField& field, std::string_view text) {
  const auto number = parse_number(text);
  const std::string remedy = field.min == field.max
                                 ? fmt::format("write {}", field.min)
                                 : fmt::format("write a whole number from {} to {}", field.min, field.max);
  if (!number || (text.size() > 1 && text.front() == '0')) return refuse(text, "is not a whole number", remedy);
  if (*number < field.min || *number > field.max) return refuse(text, "is out of range", remedy);
  return {};
}

Result<> check_size(const SpecField& field, std::string_view text) {
  TRY(const Bytes size, parse_bytes(text));
  if (size.count >= field.min && size.count <= field.max) return {};
  if (field.max == std::numeric_limits<std::uint64_t>::max()) {
    return refuse(text, "is too small", fmt::format("write at least {}", to_spec(Bytes{field.min})));
  }
  return refuse(text, "is out of range",
                fmt::format("write {} to {}", to_spec(Bytes{field.min}), to_spec(Bytes{field.max})));
}

Result<> check_rate(const SpecField& field, std::string_view text) {
  TRY(const BytesPerSecond rate, parse_rate(text));
  if (rate.count >= field.min) return {};
  return refuse(text, "is too small", "leave the field out if no speed is asked for");
}

Result<> check_uuid(std::string_view text) {
  if (text == "auto") return {};
  TRY(const Uuid uuid, parse_uuid(text));
  // The second is what many boards carry whose maker has set none: half a data centre shares it.
  if (uuid.is_none() || to_text(uuid) == "03000200-0400-0500-0006-000700080009") {
    return refuse(text, "is a firmware placeholder that many machines share", "write auto, or a UUID made by `uuidgen`");
  }
  return {};
}

Result<> check_nqn(std::string_view text) {
  const std::string remedy = "write an NQN such as nqn.2014-08.org.nvmexpress:uuid:deadbeef-0011-2233-4455-66778899aabb";
  const bool begins = text.size() > 12 && text.substr(0, 4) == "nqn." && only(text.substr(4, 4), kDigits) &&
                      text[8] == '-' && only(text.substr(9, 2), kDigits) && text[11] == '.';
  if (!begins) return refuse(text, "is not an NVMe qualified name", remedy);
  if (text.size() > kMaxNqn) return refuse(text, fmt::format("is longer than {} bytes", kMaxNqn), remedy);
  if (!only(text, kWordCharacters, ".:+@=~")) return refuse(text, "has characters that no NQN here may have", remedy);
  return {};
}

// 4 or 16 bytes; empty if it is no numeric address.
std::vector<std::uint8_t> address_bytes(std::string_view text) {
  const std::string terminated(text);
  std::vector<std::uint8_t> bytes(16);
  if (inet_pton(AF_INET6, terminated.c_str(), bytes.data()) == 1) return bytes;
  bytes.resize(4);
  if (inet_pton(AF_INET, terminated.c_str(), bytes.data()) == 1) return bytes;
  return {};
}

std::string address_text(const std::vector<std::uint8_t>& bytes) {
  std::array<char, INET6_ADDRSTRLEN> out{};
  inet_ntop(bytes.size() == 4 ? AF_INET : AF_INET6, bytes.data(), out.data(), out.size());
  return out.data();
}

bool all_zero(const std::vector<std::uint8_t>& bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

Result<> check_network(std::string_view text) {
  const std::string remedy = "write a network such as 10.9.0.0/24 or fd00:9::/64";
  const auto parts = split(text, '/');
  std::vector<std::uint8_t> bytes = address_bytes(parts[0]);
  const auto prefix = parts.size() == 2 ? parse_number(parts[1]) : std::nullopt;
  if (bytes.empty() || !prefix || *prefix > bytes.size() * 8) return refuse(text, "is not a network", remedy);
  if (*prefix == 0) return refuse(text, "means every network", "name the storage network: exports never listen everywhere");
  const std::vector<std::uint8_t> given = bytes;
  for (std::size_t bit = *prefix; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] & ~(0x80u >> (bit % 8)));
  }
  if (bytes != given) {
    return refuse(text, "is an address within a network", fmt::format("write {}/{}", address_text(bytes), *prefix));
  }
  return {};
}

Result<> check_endpoint(std::string_view text) {
  if (text == "off") return {};
  CHECKED(parse_endpoint(text));
  return {};
}

Result<> check_duration(const SpecField& field, std::string_view text) {
  TRY(const auto given, parse_duration(text));
  const auto milliseconds = static_cast<std::uint64_t>(given.count());
  if (milliseconds >= field.min && milliseconds <= field.max) return {};
  return refuse(text, "is out of range", fmt::format("write {}s to {}s", field.min / 1000, field.max / 1000));
}

Result<> check_url(std::string_view text) {
  CHECKED(parse_url(text));
  return {};
}

Result<> check_address(std::string_view text) {
  const std::string remedy = "write a host name, an IPv4 or an IPv6 address, without port or brackets";
  const std::string_view numeric = text.substr(0, text.find('%'));  // fe80::1%eth1
  const auto bytes = address_bytes(numeric);
  if (!bytes.empty()) {
    const bool multicast = bytes.size() == 4 ? bytes[0] >= 224 : bytes[0] == 0xff;
    if (all_zero(bytes) || multicast) return refuse(text, "is not the address of one host", remedy);
    const bool has_zone = numeric.size() != text.size();
    const std::string_view zone = has_zone ? text.substr(numeric.size() + 1) : std::string_view();
    if (has_zone && (bytes.size() == 4 || zone.empty() || !only(zone, kWordCharacters, "."))) {
      return refuse(text, "has a zone that is not an interface", remedy);
    }
    return {};
  }
  if (text.empty() || text.size() > kMaxAddress || !only(text, kWordCharacters, ".") || only(text, kDigits, ".") ||
      text.front() == '-' || text.front() == '.') {
    return refuse(text, "is not an address", remedy);
  }
  return {};
}

Result<> check_path(std::string_view text) {
  const std::string remedy = "write an absolute path such as /mnt/train, of letters, digits and . _ @ + - only";
  if (text.size() < 2 || text.front() != '/') return refuse(text, "is not an absolute path", remedy);
  if (text.size() > kMaxPath || !only(text, kWordCharacters, "/.@+")) {
    return refuse(text, "is too long or has characters that are trouble in unit files", remedy);
  }
  for (const std::string_view part : split(text.substr(1), '/')) {
    if (part.empty() || part == "." || part == "..") return refuse(text, "is not a plain path", remedy);
  }
  return {};
}

Result<> check_pattern(std::string_view text, std::size_t limit, std::string_view more, std::string remedy) {
  if (!text.empty() && text.size() <= limit && only(text, kWordCharacters, more)) return {};
  return refuse(text, "is not allowed here", std::move(remedy));
}

Result<> check_account(std::string_view text) {
  const bool fine = !text.empty() && text.size() <= kMaxAccount && only(text, kWordCharacters, ".$") &&
                    text.front() != '-' && text.front() != '.';
  if (!fine) return refuse(text, "is not a user or group", "write its name or number");
  if (only(text, kDigits) && parse_number(text).value_or(~0ull) >= 0xffffffffu) {
    return refuse(text, "is not a user or group number", "write a number below 4294967295");
  }
  return {};
}

Result<> check_choice(const SpecField& field, std::string_view text) {
  const auto choices = words(field.choices);
  const std::vector<std::string> known(choices.begin(), choices.end());
  if (std::find(known.begin(), known.end(), text) != known.end()) return {};
  return refuse(text, fmt::format("is not one of {}", join(known, ", ")), fmt::format("write {}", join(known, " or ")));
}

Result<> check_interface(std::string_view text) {
  if (text == "." || text == "..") return refuse(text, "is not an interface", "write its name, such as eth1");
  return check_pattern(text, kMaxInterface, ".@:", "write the interface's name, such as eth1");
}

Result<> check_mode(std::string_view text) {
  if (text.size() >= 3 && text.size() <= 4 && only(text, "01234567")) return {};
  return refuse(text, "is not an octal mode", "write three or four octal digits, such as \"2775\"");
}

Result<> check_text(std::string_view text) {
  if (!text.empty() && text.size() <= kMaxText && printable(text) == text && trim(text) == text) return {};
  return refuse(text, "is not a text for this field", fmt::format("write 1 to {} printable characters", kMaxText));
}

}  // namespace

Result<> check_value(const SpecField& field, FieldType type, std::string_view text) {
  switch (type) {
    case FieldType::number:
      return check_number(field, text);
    case FieldType::number_or_all:
      return text == "all" ? Result<>() : check_number(field, text);
    case FieldType::choice:
      return check_choice(field, text);
    case FieldType::name:
      return check_pattern(text, kMaxName, "", "use 1 to 24 of the characters A-Z a-z 0-9 _ -");
    case FieldType::label:
      return check_pattern(text, kMaxText, ".", "use 1 to 64 of the characters A-Z a-z 0-9 . _ -");
    case FieldType::text:
      return check_text(text);
    case FieldType::size:
      return check_size(field, text);
    case FieldType::rate:
      return check_rate(field, text);
    case FieldType::uuid:
      return check_uuid(text);
    case FieldType::nqn:
      return check_nqn(text);
    case FieldType::network:
      return check_network(text);
    case FieldType::interface:
      return check_interface(text);
    case FieldType::address:
      return check_address(text);
    case FieldType::endpoint:
      return check_endpoint(text);
    case FieldType::url:
      return check_url(text);
    case FieldType::duration:
      return check_duration(field, text);
    case FieldType::path:
      return check_path(text);
    case FieldType::mode:
      return check_mode(text);
    case FieldType::account:
      return check_account(text);
    case FieldType::object:
    case FieldType::named_items:
    case FieldType::items:
    case FieldType::words:
    case FieldType::not_offered:
      break;
  }
  return refuse(text, "stands where a list or map belongs", "see docs/spec.md");
}

}  // namespace nvstripe

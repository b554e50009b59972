// Owns strict parsing and printing of sizes, rates and durations. A unit is never guessed.
#include "agent/base/units.hpp"

#include <array>
#include <limits>

#include <fmt/format.h>

#include "agent/base/text.hpp"

namespace nvstripe {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::uint64_t kKi = 1024, kK = 1000;
constexpr std::array kBinary{Unit{"TiB", kKi* kKi* kKi* kKi}, Unit{"GiB", kKi* kKi* kKi}, Unit{"MiB", kKi* kKi},
                             Unit{"KiB", kKi}};
constexpr std::array kDecimal{Unit{"TB", kK* kK* kK* kK}, Unit{"GB", kK* kK* kK}, Unit{"MB", kK* kK}, Unit{"kB", kK}};
constexpr std::array kDurations{Unit{"ms", 1}, Unit{"s", 1000}, Unit{"m", 60'000}, Unit{"h", 3'600'000}};

constexpr std::string_view kSizeRemedy =
    "write a whole number directly followed by B, kB, MB, GB, TB (powers of 1000) or KiB, MiB, GiB, TiB (powers of 1024), "
    "such as 128KiB";
constexpr std::string_view kRateRemedy = "write a whole number directly followed by a size unit and /s, such as 900MB/s";
constexpr std::string_view kDurationRemedy = "write a whole number directly followed by ms, s, m or h, such as 15s";

struct Split {
  std::string_view digits, unit;
};

Split split_unit(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && text[length] >= '0' && text[length] <= '9') ++length;
  return {text.substr(0, length), text.substr(length)};
}

const Unit* find_unit(std::string_view name) {
  static constexpr Unit kByte{"B", 1};
  if (name == kByte.name) return &kByte;
  for (const Unit& unit : kBinary) {
    if (unit.name == name) return &unit;
  }
  for (const Unit& unit : kDecimal) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// `limit` is the greatest value that the result's type holds.
Result<std::uint64_t> scaled(std::string_view text, const Split& parts, const Unit* unit, std::uint64_t limit,
                             std::string_view kind, std::string_view remedy) {
  const auto refuse = [&](std::string_view why) {
    return fail(fmt::format("'{}' is not a {}: {}", printable(text), kind, why), std::string(remedy));
  };
  if (parts.digits.empty()) return refuse("it does not begin with a digit");
  if (parts.unit.empty()) return refuse("its unit is missing");
  if (unit == nullptr) return refuse(fmt::format("'{}' is not a unit for it", printable(parts.unit)));
  if (parts.digits.size() > 1 && parts.digits.front() == '0') return refuse("it begins with a zero");
  const auto number = parse_number(parts.digits);
  if (!number || *number > limit / unit->factor) return refuse("it is too large");
  return *number * unit->factor;
}

std::string exact(std::uint64_t count, std::string_view suffix) {
  if (count != 0) {
    for (const Unit& unit : kBinary) {
      if (count % unit.factor == 0) return fmt::format("{}{}{}", count / unit.factor, unit.name, suffix);
    }
    for (const Unit& unit : kDecimal) {
      if (count % unit.factor == 0) return fmt::format("{}{}{}", count / unit.factor, unit.name, suffix);
    }
  }
  return fmt::format("{}B{}", count, suffix);
}

// One decimal unless the value is whole, so that "128 KiB" stays what the spec says.
template <class Units>
std::string rounded(std::uint64_t count, const Units& units, std::string_view suffix) {
  for (const Unit& unit : units) {
    if (count < unit.factor) continue;
    if (count % unit.factor == 0) return fmt::format("{} {}{}", count / unit.factor, unit.name, suffix);
    return fmt::format("{:.1f} {}{}", static_cast<double>(count) / static_cast<double>(unit.factor), unit.name, suffix);
  }
  return fmt::format("{} B{}", count, suffix);
}

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Result<Bytes> parse_bytes(std::string_view text) {
  const Split parts = split_unit(text);
  TRY(const std::uint64_t count, scaled(text, parts, find_unit(parts.unit), kMax, "size", kSizeRemedy));
  return Bytes{count};
}

Result<BytesPerSecond> parse_rate(std::string_view text) {
  const Split parts = split_unit(text);
  constexpr std::string_view kPerSecond = "/s";
  const bool per_second = parts.unit.size() > kPerSecond.size() && parts.unit.substr(parts.unit.size() - 2) == kPerSecond;
  const Unit* unit = per_second ? find_unit(parts.unit.substr(0, parts.unit.size() - 2)) : nullptr;
  TRY(const std::uint64_t count, scaled(text, parts, unit, kMax, "rate", kRateRemedy));
  return BytesPerSecond{count};
}

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const Split parts = split_unit(text);
  const Unit* unit = nullptr;
  for (const Unit& candidate : kDurations) {
    if (candidate.name == parts.unit) unit = &candidate;
  }
  constexpr auto kLimit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  TRY(const std::uint64_t count, scaled(text, parts, unit, kLimit, "duration", kDurationRemedy));
  return std::chrono::milliseconds(static_cast<std::int64_t>(count));
}

std::string to_text(Bytes size) { return rounded(size.count, kBinary, ""); }
std::string to_spec(Bytes size) { return exact(size.count, ""); }
std::string to_text(BytesPerSecond rate) { return rounded(rate.count, kDecimal, "/s"); }
std::string to_spec(BytesPerSecond rate) { return exact(rate.count, "/s"); }

}  // namespace nvstripe

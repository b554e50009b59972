// Owns looking into written protobuf by paths of field numbers, for tests.
#pragma once
#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "agent/telemetry/protobuf.hpp"

namespace nvstripe::wire {

// All fields at the end of the path, in the order of the message. Throws what is no protobuf.
inline std::vector<protobuf::Field> fields(std::string_view message, const std::vector<std::uint32_t>& path,
                                           std::size_t depth = 0) {
  std::vector<protobuf::Field> out;
  protobuf::Reader reader(message);
  while (!reader.at_end()) {
    const protobuf::Field field = reader.next().value();
    if (field.number != path.at(depth)) continue;
    if (depth + 1 == path.size()) {
      out.push_back(field);
      continue;
    }
    const auto inner = fields(field.bytes, path, depth + 1);
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

inline std::vector<std::string> texts(std::string_view message, const std::vector<std::uint32_t>& path) {
  std::vector<std::string> out;
  for (const protobuf::Field& field : fields(message, path)) out.emplace_back(field.bytes);
  return out;
}

inline std::vector<std::uint64_t> values(std::string_view message, const std::vector<std::uint32_t>& path) {
  std::vector<std::uint64_t> out;
  for (const protobuf::Field& field : fields(message, path)) out.push_back(field.value);
  return out;
}

inline std::vector<double> numbers(std::string_view message, const std::vector<std::uint32_t>& path) {
  std::vector<double> out;
  for (const std::uint64_t value : values(message, path)) out.push_back(std::bit_cast<double>(value));
  return out;
}

}  // namespace nvstripe::wire

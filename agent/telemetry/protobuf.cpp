// Owns the bytes of varints, fixed values and lengths.
#include "agent/telemetry/protobuf.hpp"

#include <bit>

namespace nvstripe::protobuf {
namespace {

constexpr std::uint64_t kLargestNumber = (std::uint64_t{1} << 29) - 1;

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void append_fixed64(std::string& out, std::uint64_t value) {
  for (int i = 0; i < 8; ++i, value >>= 8) out += static_cast<char>(value & 0xff);
}

void append_tag(std::string& out, std::uint32_t field, Wire wire) {
  append_varint(out, std::uint64_t{field} << 3 | static_cast<std::uint64_t>(wire));
}

tl::unexpected<Error> cut_off() { return fail("the protobuf message is cut off"); }

}  // namespace

void Writer::varint(std::uint32_t field, std::uint64_t value) {
  append_tag(out_, field, Wire::varint);
  append_varint(out_, value);
}

void Writer::fixed64(std::uint32_t field, std::uint64_t value) {
  append_tag(out_, field, Wire::fixed64);
  append_fixed64(out_, value);
}

void Writer::number(std::uint32_t field, double value) { fixed64(field, std::bit_cast<std::uint64_t>(value)); }

void Writer::bytes(std::uint32_t field, std::string_view value) {
  append_tag(out_, field, Wire::bytes);
  append_varint(out_, value.size());
  out_ += value;
}

void Writer::packed(std::uint32_t field, std::span<const std::uint64_t> values) {
  append_tag(out_, field, Wire::bytes);
  append_varint(out_, values.size_bytes());
  for (const std::uint64_t value : values) append_fixed64(out_, value);
}

void Writer::packed(std::uint32_t field, std::span<const double> values) {
  append_tag(out_, field, Wire::bytes);
  append_varint(out_, values.size_bytes());
  for (const double value : values) append_fixed64(out_, std::bit_cast<std::uint64_t>(value));
}

std::size_t Writer::begin(std::uint32_t field) {
  append_tag(out_, field, Wire::bytes);
  return out_.size();
}

// The length stands before what it measures. Moving the message by a few bytes costs less than a buffer a level.
void Writer::end(std::size_t start) {
  std::string length;
  append_varint(length, out_.size() - start);
  out_.insert(start, length);
}

Result<std::uint64_t> Reader::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (left_.empty()) return cut_off();
    const auto byte = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    if (shift == 63 && byte > 1) break;
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  return fail("the protobuf message has a number of more than 64 bits");
}

Result<std::string_view> Reader::part(std::uint64_t size) {
  if (size > left_.size()) return cut_off();
  const std::string_view taken = left_.substr(0, static_cast<std::size_t>(size));
  left_.remove_prefix(taken.size());
  return taken;
}

Result<std::uint64_t> Reader::fixed(std::size_t size) {
  TRY(const std::string_view bytes, part(size));
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

Result<Field> Reader::next() {
  TRY(const std::uint64_t tag, varint());
  if (tag >> 3 == 0 || tag >> 3 > kLargestNumber) return fail("the protobuf message has a field with an impossible number");
  Field field{static_cast<std::uint32_t>(tag >> 3), static_cast<Wire>(tag & 7), 0, {}};
  switch (field.wire) {
    case Wire::varint: {
      TRY(field.value, varint());
      return field;
    }
    case Wire::fixed64: {
      TRY(field.value, fixed(8));
      return field;
    }
    case Wire::fixed32: {
      TRY(field.value, fixed(4));
      return field;
    }
    case Wire::bytes: {
      TRY(const std::uint64_t size, varint());
      TRY(field.bytes, part(size));
      return field;
    }
  }
  return fail("the protobuf message has a field of an unknown wire type");
}

}  // namespace nvstripe::protobuf

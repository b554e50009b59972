// Owns protobuf's wire format, as far as it is spoken here: a writer of fields, and a reader of one message's fields. Plain
// bytes; which number means what is known to whoever writes or reads a message.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "agent/base/result.hpp"

namespace nvstripe::protobuf {

// Writes whatever it is told, also zeros and empty texts: inside a oneof they have a meaning.
class Writer {
 public:
  void varint(std::uint32_t field, std::uint64_t value);  // uint64, enum, bool, and int64 as its two's complement
  void fixed64(std::uint32_t field, std::uint64_t value);
  void number(std::uint32_t field, double value);
  void bytes(std::uint32_t field, std::string_view value);                  // also a string, which has to be UTF-8
  void packed(std::uint32_t field, std::span<const std::uint64_t> values);  // fixed64
  void packed(std::uint32_t field, std::span<const double> values);

  void fields(std::string_view written) { out_ += written; }  // by another writer

  // What `fill` writes into this same writer becomes the message of the field.
  template <class Fill>
  void message(std::uint32_t field, Fill&& fill) {
    const std::size_t start = begin(field);
    std::forward<Fill>(fill)();
    end(start);
  }

  [[nodiscard]] std::string take() { return std::exchange(out_, {}); }

 private:
  std::size_t begin(std::uint32_t field);
  void end(std::size_t start);
  std::string out_;
};

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  std::uint32_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;  // of all wire types but bytes
  std::string_view bytes;   // texts, messages, packed values; a part of what is read
};

// One message, field by field, unknown ones too. Never reads past the end; whoever calls bounds the size.
class Reader {
 public:
  explicit Reader(std::string_view message) : left_(message) {}
  [[nodiscard]] bool at_end() const { return left_.empty(); }
  [[nodiscard]] Result<Field> next();  // fails on what is cut off or no protobuf

 private:
  Result<std::uint64_t> varint();
  Result<std::string_view> part(std::uint64_t size);
  Result<std::uint64_t> fixed(std::size_t size);
  std::string_view left_;
};

}  // namespace nvstripe::protobuf

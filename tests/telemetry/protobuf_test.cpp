// Tests protobuf's wire format; the bytes are those of its documentation where it has some.
#include "agent/telemetry/protobuf.hpp"

#include <limits>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"

using namespace nvstripe;
using protobuf::Field;
using protobuf::Reader;
using protobuf::Wire;
using protobuf::Writer;

namespace {

template <std::size_t size>
std::string raw(const char (&literal)[size]) {
  return {literal, size - 1};
}

// From memory that ends with the text, so that the sanitizer sees a read past it.
bool readable(std::string_view text) {
  const std::vector<char> exact(text.begin(), text.end());
  Reader reader({exact.data(), exact.size()});
  while (!reader.at_end())
    if (!reader.next()) return false;
  return true;
}

}  // namespace

TEST_CASE("fields are written as the documentation of protobuf has them") {
  Writer out;
  out.varint(1, 150);
  CHECK(out.take() == raw("\x08\x96\x01"));
  out.bytes(2, "testing");
  CHECK(out.take() == raw("\x12\x07testing"));
  out.message(3, [&] { out.varint(1, 150); });
  CHECK(out.take() == raw("\x1a\x03\x08\x96\x01"));
  out.varint(1, static_cast<std::uint64_t>(std::int64_t{-2}));
  CHECK(out.take() == raw("\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  out.fixed64(16, 0x0102030405060708);
  CHECK(out.take() == raw("\x81\x01\x08\x07\x06\x05\x04\x03\x02\x01"));
  out.number(4, 1.0);
  CHECK(out.take() == raw("\x21\0\0\0\0\0\0\xf0\x3f"));
  CHECK(out.take().empty());
}

TEST_CASE("zeros and empty texts are written, since inside a oneof they mean something") {
  Writer out;
  out.varint(1, 0);
  out.bytes(2, "");
  out.message(3, [] {});
  CHECK(out.take() == raw("\x08\0\x12\0\x1a\0"));
}

TEST_CASE("packed values have one length") {
  Writer out;
  out.packed(6, std::vector<std::uint64_t>{1, 256});
  CHECK(out.take() == raw("\x32\x10\x01\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0"));
  out.packed(7, std::vector<double>{1.0});
  CHECK(out.take() == raw("\x3a\x08\0\0\0\0\0\0\xf0\x3f"));
}

TEST_CASE("a message of more than 127 bytes has a longer length, on every level") {
  Writer out;
  out.message(1, [&] { out.message(2, [&] { out.bytes(3, std::string(126, 'x')); }); });
  CHECK(out.take() == raw("\x0a\x83\x01\x12\x80\x01\x1a\x7e") + std::string(126, 'x'));
}

TEST_CASE("what is written is read, fields of other wire types too") {
  Writer out;
  out.varint(1, std::numeric_limits<std::uint64_t>::max());
  out.fixed64(2, 0x8000000000000001);
  out.bytes(536870911, "abc");
  const std::string text = out.take() + raw("\x25\x01\x02\x03\x04");
  Reader reader(text);
  const Field first = reader.next().value(), second = reader.next().value(), third = reader.next().value();
  CHECK((first.number == 1 && first.wire == Wire::varint && first.value == std::numeric_limits<std::uint64_t>::max()));
  CHECK((second.number == 2 && second.wire == Wire::fixed64 && second.value == 0x8000000000000001));
  CHECK((third.number == 536870911 && third.wire == Wire::bytes && third.bytes == "abc"));
  const Field fourth = reader.next().value();
  CHECK((fourth.number == 4 && fourth.wire == Wire::fixed32 && fourth.value == 0x04030201));
  CHECK(reader.at_end());
  CHECK_FALSE(reader.next().has_value());
}

TEST_CASE("a message that is cut off inside a field is refused") {
  for (const std::string& field : {raw("\x08\x96\x01"), raw("\x21\0\0\0\0\0\0\xf0\x3f"), raw("\x25\x01\x02\x03\x04"),
                                   raw("\x12\x14twenty bytes of text"), raw("\x92\x80\x01\x01x")}) {
    CHECK(readable(field));
    for (std::size_t length = 1; length < field.size(); ++length) {
      INFO(length);
      CHECK_FALSE(readable(std::string_view(field).substr(0, length)));
    }
  }
}

TEST_CASE("impossible fields are refused") {
  const std::string ten(9, '\xff');
  for (const std::string& bad :
       {raw("\x00\x01"), raw("\x80\x80\x80\x80\x10\x01"), raw("\x0b"), raw("\x0c"), raw("\x0e"), raw("\x0f"),
        raw("\x08") + ten + "\x02", raw("\x08") + ten + "\xff\x01", raw("\x12") + ten + "\x01x"}) {
    CHECK_FALSE(readable(bad));
  }
}

TEST_CASE("a reader of random bytes ends") {
  std::mt19937 random(1);
  std::size_t refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 40, '\0');
    for (char& byte : text) byte = static_cast<char>(random() % (round % 2 == 0 ? 256 : 24));
    refused += readable(text) ? 0 : 1;
  }
  CHECK((refused > 1000 && refused < 20'000));
}

// Tests the text operations on bytes as devices and people write them.
#include "agent/base/text.hpp"

#include "tests/support/catch.hpp"

namespace nvstripe {

using Views = std::vector<std::string_view>;

TEST_CASE("trim takes blanks and controls from both ends only") {
  CHECK(trim("  a b\n") == "a b");
  CHECK(trim(std::string_view("\0 x\0", 4)) == "x");
  CHECK(trim(" \t\n").empty());
}

TEST_CASE("split keeps empty parts and words does not") {
  CHECK(split("a,,b", ',') == Views{"a", "", "b"});
  CHECK(split("", ',') == Views{""});
  CHECK(split("a,", ',') == Views{"a", ""});
  CHECK(words("  a  b\tc\n") == Views{"a", "b", "c"});
  CHECK(words(" ").empty());
  CHECK(join({"a", "b"}, ", ") == "a, b");
  CHECK(join({}, ", ").empty());
}

TEST_CASE("a number is the whole text or none") {
  CHECK(parse_number("0") == 0u);
  CHECK(parse_number("010") == 10u);
  CHECK(parse_number("ff", 16) == 255u);
  CHECK(parse_number("18446744073709551615") == 18446744073709551615u);
  for (const char* text : {"", " 1", "1 ", "+1", "-1", "0x10", "1.0", "18446744073709551616"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_number(text).has_value());
  }
}

TEST_CASE("A-17 A-90 bytes that are not text are escaped, text stays") {
  CHECK(printable("INTEL SSD") == "INTEL SSD");
  CHECK(printable("Innova\xff\xfe") == "Innova\\xff\\xfe");
  CHECK(printable("a\x01"
                  "b\x7f\n") == "a\\x01b\\x7f\\x0a");
  CHECK(printable("grün €") == "grün €");
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");                    // C1 control
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  CHECK(printable("\xe2\x82") == "\\xe2\\x82");                    // cut short
  CHECK(to_utf8("a\nb\xff") == "a\nb\\xff");
}

TEST_CASE("hex prints two digits a byte") {
  const std::uint8_t bytes[] = {0x00, 0xab, 0x0f};
  CHECK(hex(bytes, 3) == "00ab0f");
}

}  // namespace nvstripe

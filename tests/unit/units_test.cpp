// Tests that sizes, rates and durations are read strictly and printed so that they read back.
#include "agent/base/units.hpp"

#include "tests/support/catch.hpp"

namespace nvstripe {

TEST_CASE("sizes with a unit are read exactly") {
  CHECK(parse_bytes("0B")->count == 0);
  CHECK(parse_bytes("128KiB")->count == 131072);
  CHECK(parse_bytes("1kB")->count == 1000);
  CHECK(parse_bytes("3TB")->count == 3'000'000'000'000u);
  CHECK(parse_bytes("2TiB")->count == 2ull << 40);
}

TEST_CASE("sizes without unit, with blanks, signs, fractions or overflow are errors with a remedy") {
  for (const char* text : {"", "128", "KiB", "128 KiB", "-1B", "+1B", "1.5GiB", "128kb", "128K", "128kib", "010KiB", "0x10B",
                           "18446744073709551616B", "16777216TiB", "1B/s"}) {
    CAPTURE(text);
    const auto parsed = parse_bytes(text);
    REQUIRE_FALSE(parsed.has_value());
    CHECK_FALSE(parsed.error().remedy.empty());
  }
}

TEST_CASE("rates need a size unit per second") {
  CHECK(parse_rate("900MB/s")->count == 900'000'000);
  CHECK(parse_rate("1GiB/s")->count == 1ull << 30);
  for (const char* text : {"900MB", "900", "900/s", "900Mbit/s", "900MB/m", "900 MB/s", "/s", ""}) {
    CAPTURE(text);
    CHECK_FALSE(parse_rate(text).has_value());
  }
}

TEST_CASE("durations need a unit") {
  CHECK(parse_duration("500ms")->count() == 500);
  CHECK(parse_duration("15s")->count() == 15'000);
  CHECK(parse_duration("10m")->count() == 600'000);
  CHECK(parse_duration("2h")->count() == 7'200'000);
  for (const char* text : {"15", "s", "15 s", "15sec", "1d", "9223372036854775807h", ""}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text).has_value());
  }
}

TEST_CASE("printing for people is short, printing for the spec reads back to the same value") {
  CHECK(to_text(Bytes{0}) == "0 B");
  CHECK(to_text(Bytes{131072}) == "128 KiB");
  CHECK(to_text(Bytes{1319413953331}) == "1.2 TiB");
  CHECK(to_text(BytesPerSecond{900'000'000}) == "900 MB/s");
  CHECK(to_spec(Bytes{131072}) == "128KiB");
  for (const std::uint64_t count : {0ull, 1ull, 1000ull, 1024ull, 4096ull, 900'000'000ull, 131073ull, ~0ull, 1ull << 40}) {
    CAPTURE(count);
    CHECK(parse_bytes(to_spec(Bytes{count}))->count == count);
    CHECK(parse_rate(to_spec(BytesPerSecond{count}))->count == count);
  }
}

}  // namespace nvstripe

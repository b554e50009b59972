// Tests the two compressions against the libraries' own other half.
#include "agent/uplink/compression.hpp"

#include <random>
#include <string>
#include <vector>

#include <snappy.h>
#include <zlib.h>

#include "tests/support/catch.hpp"

using namespace nvstripe;

namespace {

// "not gzip" where it is none, or where something follows the first member.
std::string gunzip(const std::string& packed, std::size_t size) {
  std::string out(size + 1, '\0');
  z_stream stream{};
  std::vector<Bytef> in(packed.begin(), packed.end());
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return "no memory";
  const int state = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (state != Z_STREAM_END || stream.avail_in != 0) return "not gzip";
  out.resize(stream.total_out);
  return out;
}

std::string noise(std::size_t size) {
  std::mt19937 random(1);
  std::string out(size, '\0');
  for (char& byte : out) byte = static_cast<char>(random());
  return out;
}

std::vector<std::string> texts() {
  std::string lines;
  for (int i = 0; i < 50'000; ++i) lines += "nvstripe_device_size_bytes{device=\"" + std::to_string(i) + "\"} 1\n";
  return {"", "a", "abc", std::string(1'000'000, '\0'), noise(300'000), lines};
}

}  // namespace

TEST_CASE("what gzip packed is the same again") {
  for (const std::string& text : texts()) {
    INFO(text.size());
    CHECK((gunzip(uplink::gzip(text), text.size()) == text));
  }
  CHECK(gunzip(uplink::gzip({}), 0) == "");
  CHECK(uplink::gzip(std::string(1'000'000, 'x')).size() < 2000);
}

TEST_CASE("gzip writes no time, so that a retry sends the same bytes") {
  const std::string packed = uplink::gzip("abc");
  CHECK(packed.substr(0, 8) == std::string("\x1f\x8b\x08\0\0\0\0\0", 8));
  CHECK(packed == uplink::gzip("abc"));
}

TEST_CASE("what snappy packed is the same again") {
  for (const std::string& text : texts()) {
    INFO(text.size());
    const std::string packed = uplink::snappy_block(text);
    std::string back;
    CHECK(snappy::Uncompress(packed.data(), packed.size(), &back));
    CHECK((back == text));
  }
  CHECK(uplink::snappy_block(std::string(1'000'000, 'x')).size() < 60'000);
}

TEST_CASE("snappy's blocks have no frame: a length, then literals and copies") {
  CHECK(uplink::snappy_block("") == std::string(1, '\0'));
  CHECK(uplink::snappy_block("abc") ==
        "\x03\x08"
        "abc");
}

// Tests parsing, printing and derivation of identifiers.
#include "agent/base/uuid.hpp"

#include "agent/base/digest.hpp"

#include "tests/support/catch.hpp"

namespace nvstripe {

TEST_CASE("every spelling of one identifier reads as the same UUID") {
  const Uuid expected = *parse_uuid("deadbeef-0011-2233-4455-66778899aabb");
  for (const char* text :
       {"deadbeef00112233445566778899aabb", "deadbeef:00112233:44556677:8899aabb", "DEADBEEF-0011-2233-4455-66778899AABB",
        "uuid.deadbeef-0011-2233-4455-66778899aabb", "eui.deadbeef00112233445566778899aabb"}) {
    CAPTURE(text);
    REQUIRE(parse_uuid(text).has_value());
    CHECK(*parse_uuid(text) == expected);
  }
  CHECK(to_text(expected) == "deadbeef-0011-2233-4455-66778899aabb");
  CHECK(to_mdadm(expected) == "deadbeef:00112233:44556677:8899aabb");
  CHECK(to_hex(expected) == "deadbeef00112233445566778899aabb");
}

TEST_CASE("what is not 32 hex digits is not a UUID") {
  for (const char* text :
       {"", "-", "deadbeef", "deadbeef-0011-2233-4455-66778899aab", "deadbeef-0011-2233-4455-66778899aabbc",
        "deadbeef-0011-2233-4455-66778899aabg", "-deadbeef00112233445566778899aabb", "deadbeef00112233445566778899aabb-",
        " deadbeef00112233445566778899aabb"}) {
    CAPTURE(text);
    REQUIRE_FALSE(parse_uuid(text).has_value());
    CHECK_FALSE(parse_uuid(text).error().remedy.empty());
  }
}

TEST_CASE("A-12 identifiers of all zeros or all ones mean none") {
  CHECK(Uuid{}.is_none());
  CHECK(parse_uuid("ffffffff-ffff-ffff-ffff-ffffffffffff")->is_none());
  CHECK_FALSE(parse_uuid("00000000-0000-0000-0000-000000000001")->is_none());
}

TEST_CASE("derivation is the first half of HMAC-SHA256, then the generation") {
  // printf 'array\0train' | openssl dgst -sha256 -mac hmac -macopt hexkey:deadbeef00112233445566778899aabb
  const Uuid host = *parse_uuid("deadbeef-0011-2233-4455-66778899aabb");
  const Uuid made = derive(host, "array", "train", 0x0102030405060708u);
  CHECK(to_text(made) == "19bbdc42-5c82-3cb4-0102-030405060708");
  CHECK(generation_of(made) == 0x0102030405060708u);
  CHECK(derived_from(made, host, "array", "train"));
  CHECK(derived_from(derive(host, "array", "train", 7), host, "array", "train"));
}

TEST_CASE("another host, purpose or name derives another identifier") {
  const Uuid host = *parse_uuid("deadbeef-0011-2233-4455-66778899aabb");
  const Uuid other = *parse_uuid("deadbeef-0011-2233-4455-66778899aabc");
  const Uuid made = derive(host, "array", "train", 1);
  CHECK_FALSE(derived_from(made, other, "array", "train"));
  CHECK_FALSE(derived_from(made, host, "fs", "train"));
  CHECK_FALSE(derived_from(made, host, "array", "train2"));
  CHECK(derive64(host, "a", "bc") != derive64(host, "ab", "c"));
}

TEST_CASE("SHA-256 of a text is what everybody else computes") {
  CHECK(sha256_hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace nvstripe

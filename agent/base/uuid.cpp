// Owns parsing, printing and derivation of 128-bit identifiers. The layout is fixed for good: it is on members' drives.
#include "agent/base/uuid.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <fmt/format.h>

#include "agent/base/text.hpp"

namespace nvstripe {
namespace {

constexpr std::size_t kDigits = 32;

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Big-endian, so that the hex text of an identifier reads as its two halves.
void store_big_endian(std::uint64_t value, std::uint8_t* to) {
  for (int i = 7; i >= 0; --i) {
    to[i] = static_cast<std::uint8_t>(value & 0xffu);
    value >>= 8u;
  }
}

std::uint64_t load_big_endian(const std::uint8_t* from) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = (value << 8u) | from[i];
  return value;
}

// Puts `separator` before the digits whose index is in `places`.
template <std::size_t N>
std::string separated(const Uuid& uuid, char separator, const std::array<std::size_t, N>& places) {
  const std::string digits = to_hex(uuid);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (std::find(places.begin(), places.end(), i) != places.end()) out += separator;
    out += digits[i];
  }
  return out;
}

struct FreeMac {
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
using MacContext = std::unique_ptr<EVP_MAC_CTX, FreeMac>;

// Looking up the algorithms costs several times as much as the few bytes they are used for (OpenSSL 3.0), and planning a
// large machine asks thousands of times: they are looked up once.
const EVP_MAC_CTX* keyless_mac() {
  static const EVP_MAC_CTX* const made = [] {
    EVP_MAC* hmac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    EVP_MAC_CTX* context = EVP_MAC_CTX_new(hmac);
    EVP_MAC_free(hmac);  // the context holds it
    std::string digest = "SHA256";
    const std::array<OSSL_PARAM, 2> settings{OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), 0),
                                             OSSL_PARAM_construct_end()};
    if (context == nullptr || EVP_MAC_CTX_set_params(context, settings.data()) != 1) std::abort();
    return context;
  }();
  return made;
}

}  // namespace

bool Uuid::is_none() const {
  const auto all = [this](std::uint8_t value) {
    return std::all_of(bytes.begin(), bytes.end(), [value](std::uint8_t byte) { return byte == value; });
  };
  return all(0x00) || all(0xff);
}

Result<Uuid> parse_uuid(std::string_view text) {
  std::string_view rest = text;
  for (const std::string_view prefix : {"uuid.", "eui."}) {
    if (rest.substr(0, prefix.size()) == prefix) rest.remove_prefix(prefix.size());
  }
  Uuid uuid;
  std::size_t digits = 0;
  bool well_formed = !rest.empty() && digit_value(rest.front()) >= 0 && digit_value(rest.back()) >= 0;
  for (const char c : rest) {
    if (c == '-' || c == ':') continue;
    const int value = digit_value(c);
    if (value < 0 || digits == kDigits) {
      well_formed = false;
      break;
    }
    auto& byte = uuid.bytes[digits / 2];
    byte = static_cast<std::uint8_t>((byte << 4u) | static_cast<std::uint8_t>(value));
    ++digits;
  }
  if (!well_formed || digits != kDigits) {
    return fail(fmt::format("'{}' is not a UUID", printable(text)),
                "write 32 hex digits, such as deadbeef-0011-2233-4455-66778899aabb");
  }
  return uuid;
}

std::string to_hex(const Uuid& uuid) { return hex(uuid.bytes.data(), uuid.bytes.size()); }

std::string to_text(const Uuid& uuid) { return separated(uuid, '-', std::array<std::size_t, 4>{8, 12, 16, 20}); }

std::string to_mdadm(const Uuid& uuid) { return separated(uuid, ':', std::array<std::size_t, 3>{8, 16, 24}); }

std::uint64_t derive64(const Uuid& host, std::string_view purpose, std::string_view name) {
  std::string message(purpose);
  message += '\0';
  message += name;
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  std::size_t length = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(message.data());
  const MacContext mac(EVP_MAC_CTX_dup(keyless_mac()));
  // HMAC-SHA256 of a few bytes fails only without memory. Going on would give every host and volume one identity.
  if (mac == nullptr || EVP_MAC_init(mac.get(), host.bytes.data(), host.bytes.size(), nullptr) != 1 ||
      EVP_MAC_update(mac.get(), data, message.size()) != 1 ||
      EVP_MAC_final(mac.get(), digest.data(), &length, digest.size()) != 1 || length < 8)
    std::abort();
  return load_big_endian(digest.data());
}

Uuid derive(const Uuid& host, std::string_view purpose, std::string_view name, std::uint64_t generation) {
  Uuid uuid;
  store_big_endian(derive64(host, purpose, name), uuid.bytes.data());
  store_big_endian(generation, uuid.bytes.data() + 8);
  return uuid;
}

bool derived_from(const Uuid& found, const Uuid& host, std::string_view purpose, std::string_view name) {
  return load_big_endian(found.bytes.data()) == derive64(host, purpose, name);
}

std::uint64_t generation_of(const Uuid& uuid) { return load_big_endian(uuid.bytes.data() + 8); }

}  // namespace nvstripe

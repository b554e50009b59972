// Owns SHA-256 by libcrypto.
#include "agent/base/digest.hpp"

#include <openssl/evp.h>

#include <array>
#include <cstdlib>

#include "agent/base/text.hpp"

namespace nvstripe {

std::string sha256_hex(std::string_view text) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  // Fails only without memory; a made-up digest would accept a plan that nobody has seen.
  if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) std::abort();
  return hex(digest.data(), length);
}

}  // namespace nvstripe

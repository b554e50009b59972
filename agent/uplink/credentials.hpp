// Owns where keys and tokens for upstream are: systemd's credentials, else /etc/nvstripe/upstream. They are read again when
// the files change, so that a renewed certificate needs no restart.
#pragma once
#include <string>
#include <vector>

#include "agent/base/result.hpp"

namespace nvstripe::uplink {

struct Credentials {
  std::string ca;                // PEM; empty: the system's own list of authorities
  std::string certificate, key;  // PEM; both or none
  std::string token;             // sent as "Authorization: Bearer …", over TLS only
  bool operator==(const Credentials&) const = default;
};

// Files in place of those of the folders; empty: those.
struct CredentialFiles {
  std::string ca, certificate, key;
};

// Files upstream-ca.pem, upstream-cert.pem, upstream-key.pem, upstream-token in `folders`; the first folder that has a file
// gives it. A file that is there and cannot be read is an error: nothing is sent with less proof than was asked for.
[[nodiscard]] Result<Credentials> read_credentials(const std::vector<std::string>& folders,
                                                   const CredentialFiles& files = {});
// $CREDENTIALS_DIRECTORY, then /etc/nvstripe/upstream.
[[nodiscard]] std::vector<std::string> credential_folders();

}  // namespace nvstripe::uplink

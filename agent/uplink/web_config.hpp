// Owns the format of the scrape endpoint's web config file: that of Prometheus' exporter-toolkit, as far as it is offered
// here, and stricter: what is not offered is refused rather than passed over.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/result.hpp"

namespace nvstripe::uplink {

enum class ClientAuth {
  none,
  request,             // asks for a certificate and takes any, or none
  require_any,         // takes any, and by whomever
  verify_if_given,     // none, or one by client_ca_file
  require_and_verify,  // one by client_ca_file
};
enum class TlsVersion { tls12, tls13 };

struct WebTls {
  std::string cert_file, key_file, client_ca_file;  // absolute; client_ca_file may be empty
  ClientAuth client_auth = ClientAuth::none;
  std::vector<std::string> client_allowed_sans;  // empty: any name
  TlsVersion min_version = TlsVersion::tls12, max_version = TlsVersion::tls13;
  bool operator==(const WebTls&) const = default;
};

struct WebConfig {
  std::optional<WebTls> tls;                                 // none: plain HTTP
  std::map<std::string, std::string> users;                  // bcrypt hashes by name; empty: anybody
  std::vector<std::pair<std::string, std::string>> headers;  // sent with each answer
  bool operator==(const WebConfig&) const = default;
};

// `path` is for messages, and what relative paths within the file are relative to. A text that says nothing is plain HTTP
// for anybody.
[[nodiscard]] Result<WebConfig> parse_web_config(const std::string& path, const std::string& text);

}  // namespace nvstripe::uplink

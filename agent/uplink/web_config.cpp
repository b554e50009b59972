// Owns what each key of the web config may hold. The text is read by the same strict reader as the spec.
#include "agent/uplink/web_config.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "agent/base/text.hpp"
#include "agent/model/yaml_tree.hpp"

namespace nvstripe::uplink {
namespace {

constexpr std::string_view kDocs = "see docs/metrics.md";
// Each step doubles the work. Above 15 (seconds) no scraper waits for the answer.
constexpr std::uint64_t kMinCost = 4, kMaxCost = 15;
constexpr std::size_t kHashLength = 60;
constexpr std::string_view kHashCharacters = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

constexpr std::array<std::pair<std::string_view, ClientAuth>, 5> kClientAuth{
    {{"NoClientCert", ClientAuth::none},
     {"RequestClientCert", ClientAuth::request},
     {"RequireAnyClientCert", ClientAuth::require_any},
     {"VerifyClientCertIfGiven", ClientAuth::verify_if_given},
     {"RequireAndVerifyClientCert", ClientAuth::require_and_verify}}};
constexpr std::array<std::pair<std::string_view, TlsVersion>, 2> kVersions{
    {{"TLS12", TlsVersion::tls12}, {"TLS13", TlsVersion::tls13}}};

// A header that may be set, and its values; none: any.
struct KnownHeader {
  std::string_view name;
  std::vector<std::string_view> values;
};
const std::vector<KnownHeader>& known_headers() {
  static const std::vector<KnownHeader> known{{"Content-Security-Policy", {}},
                                              {"Strict-Transport-Security", {}},
                                              {"X-Content-Type-Options", {"nosniff"}},
                                              {"X-Frame-Options", {"deny", "sameorigin"}},
                                              {"X-XSS-Protection", {}}};
  return known;
}

template <class Words>
std::string listed(const Words& words) {
  std::vector<std::string> all;
  for (const auto& word : words) all.emplace_back(word);
  return join(all, ", ");
}

// One file being read.
class WebReader {
 public:
  explicit WebReader(const std::string& path) : path_(path), folder_(path.substr(0, path.rfind('/') + 1)) {}

  Result<WebConfig> read(const YamlNode& root) const {
    WebConfig out;
    CHECKED(check_keys(root, "the file", {"tls_server_config", "http_server_config", "basic_auth_users"}));
    if (const YamlNode* tls = part(root, "tls_server_config")) {
      TRY(out.tls, read_tls(*tls));
    }
    if (const YamlNode* http = part(root, "http_server_config")) {
      TRY(out.headers, read_http(*http));
    }
    if (const YamlNode* users = part(root, "basic_auth_users")) {
      TRY(out.users, read_users(*users));
    }
    return out;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> refuse(const YamlNode& at, const std::string& what, std::string remedy) const {
    return fail(path_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + what, std::move(remedy));
  }

  // A key without a value says nothing, as if it were not there.
  static const YamlNode* part(const YamlNode& map, std::string_view key) {
    const YamlNode* found = map.find(key);
    return found == nullptr || found->kind == YamlNode::Kind::null ? nullptr : found;
  }

  [[nodiscard]] Result<> check_keys(const YamlNode& node, std::string_view name,
                                    const std::vector<std::string_view>& known) const {
    if (node.kind == YamlNode::Kind::null) return {};
    if (node.kind != YamlNode::Kind::map)
      return refuse(node, "'" + std::string(name) + "' is not a map", "write 'key: value' lines there");
    for (const YamlNode& key : node.keys) {
      if (std::find(known.begin(), known.end(), key.text) == known.end())
        return refuse(key, "unknown key '" + printable(key.text) + "'", "remove it; offered here: " + listed(known));
    }
    return {};
  }

  [[nodiscard]] Result<std::string> text_of(const YamlNode& node, std::string_view name) const {
    if (node.kind != YamlNode::Kind::scalar || node.text.empty())
      return refuse(node, "'" + std::string(name) + "' is not a text", "write one value after the colon");
    return node.text;
  }
  [[nodiscard]] Result<std::string> file_of(const YamlNode& map, std::string_view key) const {
    const YamlNode* found = part(map, key);
    if (found == nullptr) return std::string();
    auto name = text_of(*found, key);
    if (name && name->front() != '/') name->insert(0, folder_);
    return name;
  }
  template <class T, std::size_t count>
  [[nodiscard]] Result<T> word_of(const YamlNode& map, std::string_view key,
                                  const std::array<std::pair<std::string_view, T>, count>& known, T fallback) const {
    const YamlNode* found = part(map, key);
    if (found == nullptr) return fallback;
    TRY(const std::string word, text_of(*found, key));
    std::vector<std::string_view> words;
    for (const auto& [name, value] : known) {
      if (name == word) return value;
      words.push_back(name);
    }
    return refuse(*found, std::string(key) + ": '" + printable(word) + "' is not offered", "write one of " + listed(words));
  }

  [[nodiscard]] Result<std::optional<WebTls>> read_tls(const YamlNode& map) const {
    CHECKED(check_keys(map, "tls_server_config",
                       {"cert_file", "key_file", "client_ca_file", "client_auth_type", "client_allowed_sans", "min_version",
                        "max_version"}));
    WebTls tls;
    TRY(tls.cert_file, file_of(map, "cert_file"));
    TRY(tls.key_file, file_of(map, "key_file"));
    TRY(tls.client_ca_file, file_of(map, "client_ca_file"));
    TRY(tls.client_auth, word_of(map, "client_auth_type", kClientAuth, tls.client_auth));
    TRY(tls.client_allowed_sans, read_sans(map));
    TRY(tls.min_version, word_of(map, "min_version", kVersions, tls.min_version));
    TRY(tls.max_version, word_of(map, "max_version", kVersions, tls.max_version));
    if (tls.min_version > tls.max_version)
      return refuse(map, "min_version is newer than max_version", "leave max_version out");
    if (tls == WebTls{}) return std::optional<WebTls>();
    CHECKED(check_tls(map, tls));
    return std::optional(std::move(tls));
  }

  // Refuses what would serve less safely than the file seems to say.
  [[nodiscard]] Result<> check_tls(const YamlNode& map, const WebTls& tls) const {
    if (tls.cert_file.empty() || tls.key_file.empty())
      return refuse(map, "of cert_file and key_file one is missing", "name both, or remove tls_server_config");
    const bool verifies =
        tls.client_auth == ClientAuth::verify_if_given || tls.client_auth == ClientAuth::require_and_verify;
    if (verifies && tls.client_ca_file.empty())
      return refuse(map, "clients are to be verified, and client_ca_file does not say by whom",
                    "set client_ca_file to the authorities' PEM file");
    if (!tls.client_ca_file.empty() && tls.client_auth == ClientAuth::none)
      return refuse(map, "client_ca_file is set and no client is asked for a certificate",
                    "set client_auth_type: RequireAndVerifyClientCert");
    if (!tls.client_allowed_sans.empty() && !verifies)
      return refuse(map, "client_allowed_sans is set and nobody vouches for the names",
                    "set client_auth_type: RequireAndVerifyClientCert, and client_ca_file");
    return {};
  }

  [[nodiscard]] Result<std::vector<std::string>> read_sans(const YamlNode& map) const {
    std::vector<std::string> sans;
    const YamlNode* found = part(map, "client_allowed_sans");
    if (found == nullptr) return sans;
    if (found->kind != YamlNode::Kind::list || found->items.empty())
      return refuse(*found, "'client_allowed_sans' is not a list of names", "write [name, …]");
    for (const YamlNode& item : found->items) {
      TRY(std::string name, text_of(item, "client_allowed_sans"));
      sans.push_back(std::move(name));
    }
    return sans;
  }

  [[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> read_http(const YamlNode& map) const {
    std::vector<std::pair<std::string, std::string>> headers;
    CHECKED(check_keys(map, "http_server_config", {"http2", "headers"}));
    if (const YamlNode* http2 = part(map, "http2"); http2 != nullptr && http2->text != "true" && http2->text != "false")
      return refuse(*http2, "'http2' is neither true nor false", "remove it: HTTP/1.1 is served either way");
    const YamlNode* found = part(map, "headers");
    if (found == nullptr) return headers;
    std::vector<std::string_view> names;
    for (const KnownHeader& header : known_headers()) names.push_back(header.name);
    CHECKED(check_keys(*found, "headers", names));
    for (const KnownHeader& header : known_headers()) {
      const YamlNode* value = part(*found, header.name);
      if (value == nullptr) continue;
      TRY(std::string text, text_of(*value, header.name));
      const bool fits =
          header.values.empty() || std::find(header.values.begin(), header.values.end(), text) != header.values.end();
      if (!fits)
        return refuse(*value, std::string(header.name) + ": '" + printable(text) + "' is not a value of it",
                      "write one of " + listed(header.values));
      if (text.find_first_of("\r\n") != std::string::npos)
        return refuse(*value, std::string(header.name) + " has more than one line", "write it in one line");
      headers.emplace_back(header.name, std::move(text));
    }
    return headers;
  }

  [[nodiscard]] Result<std::map<std::string, std::string>> read_users(const YamlNode& map) const {
    std::map<std::string, std::string> users;
    if (map.kind != YamlNode::Kind::map)
      return refuse(map, "'basic_auth_users' is not a map", "write 'name: hash' lines there");
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
      const std::string& name = map.keys[i].text;
      if (name.empty() || name.find(':') != std::string::npos)
        return refuse(map.keys[i], "'" + printable(name) + "' cannot be a user: basic auth parts name and password at ':'",
                      "write a name without ':'");
      // The hash is not shown: this text goes to the journal.
      if (map.items[i].kind != YamlNode::Kind::scalar || !is_bcrypt(map.items[i].text))
        return refuse(map.items[i], "what user '" + printable(name) + "' has is not a bcrypt hash of cost 4 to 15",
                      "make one with 'htpasswd -nBC 10 NAME'");
      users[name] = map.items[i].text;
    }
    return users;
  }

  // "$2y$10$" and 53 characters
  static bool is_bcrypt(std::string_view hash) {
    if (hash.size() != kHashLength || hash[6] != '$' || hash.substr(0, 2) != "$2" || hash[3] != '$') return false;
    if (hash[2] != 'a' && hash[2] != 'b' && hash[2] != 'y') return false;
    if (hash.substr(7).find_first_not_of(kHashCharacters) != std::string_view::npos) return false;
    const auto cost = parse_number(hash.substr(4, 2));
    return cost && *cost >= kMinCost && *cost <= kMaxCost;
  }

  const std::string& path_;
  std::string folder_;
};

}  // namespace

Result<WebConfig> parse_web_config(const std::string& path, const std::string& text) {
  const YamlReading reading = read_yaml(path, text);
  if (!reading.errors.empty()) {
    const SpecError& first = reading.errors.front();
    return fail(path + ":" + std::to_string(first.place.line) + ":" + std::to_string(first.place.column) + ": " + first.what,
                first.remedy + "; " + std::string(kDocs));
  }
  return WebReader(path).read(reading.root);
}

}  // namespace nvstripe::uplink

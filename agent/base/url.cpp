// Owns reading URLs, strictly: what is not plainly a place to POST to is refused.
#include "agent/base/url.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "agent/base/text.hpp"

namespace nvstripe {
namespace {

constexpr std::size_t kMaxUrl = 1024;
constexpr std::uint16_t kHttps = 443, kHttp = 80;
constexpr std::string_view kHostCharacters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.";

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; });
}

bool is_ipv6(const std::string& text) {
  std::array<std::uint8_t, 16> bytes{};
  return ::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= 253 && text.front() != '-' && text.front() != '.' &&
         text.find_first_not_of(kHostCharacters) == std::string_view::npos;
}

// Users, passwords and queries may be secrets, and errors are read by many.
std::string without_secrets(std::string_view text) {
  const std::size_t scheme = text.find("://");
  const std::size_t from = scheme == std::string_view::npos ? 0 : scheme + 3;
  const std::size_t at = text.substr(0, text.find('/', from)).rfind('@');
  std::string shown(text.substr(0, from));
  if (at != std::string_view::npos && at >= from) shown += "…";
  shown += text.substr(at != std::string_view::npos && at >= from ? at : from);
  const std::size_t query = shown.find('?');
  return query == std::string::npos ? shown : shown.substr(0, query + 1) + "…";
}

struct HostPort {
  std::string host;
  std::optional<std::uint64_t> port;
  bool fine = false;
};

HostPort split_authority(std::string_view text) {
  HostPort out;
  std::string_view rest;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return out;
    out.host = std::string(text.substr(1, end - 1));
    out.fine = is_ipv6(out.host);
    rest = text.substr(end + 1);
  } else {
    const std::size_t colon = text.find(':');
    out.host = std::string(text.substr(0, colon));
    out.fine = is_host(out.host);
    if (colon != std::string_view::npos) rest = text.substr(colon);
  }
  if (rest.empty()) return out;
  if (rest.front() == ':') out.port = parse_number(rest.substr(1));
  if (!out.port || *out.port == 0 || *out.port > 65535) out.fine = false;
  return out;
}

}  // namespace

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  return port == (tls ? kHttps : kHttp) ? name : name + ":" + std::to_string(port);
}

Result<Url> parse_url(std::string_view text) {
  const auto refused = [&](std::string_view why, std::string remedy = "write a URL such as https://collector:8443/events") {
    return fail(fmt::format("'{}' {}", printable(without_secrets(text)), why), std::move(remedy));
  };
  Url url;
  url.tls = text.starts_with("https://");
  if (!url.tls && !text.starts_with("http://")) return refused("does not begin with https:// or http://");
  if (text.size() > kMaxUrl || !is_visible(text)) return refused("is too long or has characters that no URL has");
  const std::string_view rest = text.substr(url.tls ? 8 : 7);
  if (rest.find('#') != std::string_view::npos)
    return refused("has a fragment, which is never sent", "leave out # and what follows");
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
  if (authority.find('@') != std::string_view::npos)
    return refused("has a user or password",
                   "give a token as a credential: files of /etc/nvstripe/upstream, see docs/uplink.md");
  const HostPort place = split_authority(authority);
  if (!place.fine) return refused("has no host, or no port from 1 to 65535");
  url.host = place.host;
  url.port = place.port ? static_cast<std::uint16_t>(*place.port) : (url.tls ? kHttps : kHttp);
  url.target = std::string(rest.substr(authority.size()));
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

}  // namespace nvstripe

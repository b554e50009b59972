// Tests of the web config's text, of bcrypt and what is remembered of passwords, and of what scrapers' headers ask for.
#include "agent/uplink/web_config.hpp"

#include <crypt.h>

#include "agent/uplink/passwords.hpp"
#include "agent/uplink/scrape_request.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::uplink;
using namespace std::chrono_literals;

namespace {

const std::string kHash = "$2y$10$abcdefghijklmnopqrstuu5Uh0CuqmXjXmdXJ4AJZhEJGgGMX2p9e";

Result<WebConfig> parse(const std::string& text) { return parse_web_config("/etc/nvstripe/web.yml", text); }

std::string error_of(const std::string& text) {
  const auto read = parse(text);
  if (read) return {};
  CHECK_FALSE(read.error().remedy.empty());
  return read.error().what;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string hash_of(const std::string& password, const char* prefix) {
  crypt_data room{};
  const char* setting = crypt_gensalt_rn(prefix, 4, nullptr, 0, room.output, sizeof(room.output));
  REQUIRE(setting != nullptr);
  const std::string kept = setting;
  return crypt_r(password.c_str(), kept.c_str(), &room);
}

}  // namespace

TEST_CASE("a web config that says nothing is plain HTTP for anybody") {
  for (const char* text : {"", "# nothing\n", "{}\n", "tls_server_config:\nbasic_auth_users:\nhttp_server_config:\n",
                           "tls_server_config: {}\nbasic_auth_users: {}\n"}) {
    CAPTURE(text);
    const auto read = parse(text);
    REQUIRE(read.has_value());
    CHECK(*read == WebConfig{});
  }
}

TEST_CASE("a whole web config is read, and paths are relative to it") {
  const auto read = parse(
      "tls_server_config:\n  cert_file: tls/cert.pem\n  key_file: /run/key.pem\n  client_ca_file: ca.pem\n"
      "  client_auth_type: RequireAndVerifyClientCert\n  client_allowed_sans: [prometheus, 10.9.0.1]\n"
      "  min_version: TLS13\n  max_version: TLS13\n"
      "http_server_config:\n  http2: true\n  headers:\n    X-Frame-Options: deny\n    Strict-Transport-Security: max-age=1\n"
      "basic_auth_users:\n  alice: " +
      kHash + "\n  bob: '" + kHash + "'\n");
  REQUIRE(read.has_value());
  REQUIRE(read->tls.has_value());
  CHECK(read->tls->cert_file == "/etc/nvstripe/tls/cert.pem");
  CHECK(read->tls->key_file == "/run/key.pem");
  CHECK(read->tls->client_ca_file == "/etc/nvstripe/ca.pem");
  CHECK(read->tls->client_auth == ClientAuth::require_and_verify);
  CHECK(read->tls->client_allowed_sans == std::vector<std::string>{"prometheus", "10.9.0.1"});
  CHECK(read->tls->min_version == TlsVersion::tls13);
  CHECK(read->users == Users{{"alice", kHash}, {"bob", kHash}});
  CHECK(read->headers == std::vector<std::pair<std::string, std::string>>{{"Strict-Transport-Security", "max-age=1"},
                                                                          {"X-Frame-Options", "deny"}});
}

TEST_CASE("what is not offered, or would be less safe than it looks, is refused with its place") {
  const std::string pair = "tls_server_config:\n  cert_file: c\n  key_file: k\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"tls_server_confg: {}\n", "/etc/nvstripe/web.yml:1:1: unknown key 'tls_server_confg'"},
      {pair + "  cipher_suites: [x]\n", ":4:3: unknown key 'cipher_suites'"},
      {"- a\n", "'the file' is not a map"},
      {"tls_server_config: x\n", "'tls_server_config' is not a map"},
      {"tls_server_config: {cert_file: c}\n", "of cert_file and key_file one is missing"},
      {"tls_server_config: {cert_file: [c], key_file: k}\n", "'cert_file' is not a text"},
      {"tls_server_config: {client_auth_type: RequireAnyClientCert}\n", "of cert_file and key_file one is missing"},
      {pair + "  client_auth_type: Always\n", "client_auth_type: 'Always' is not offered"},
      {pair + "  client_auth_type: RequireAndVerifyClientCert\n", "client_ca_file does not say by whom"},
      {pair + "  client_ca_file: x\n", "no client is asked"},
      {pair + "  client_auth_type: RequireAnyClientCert\n  client_allowed_sans: [a]\n", "nobody vouches for the names"},
      {pair + "  client_allowed_sans: []\n", "is not a list of names"},
      {pair + "  min_version: TLS11\n", "min_version: 'TLS11' is not offered"},
      {pair + "  min_version: TLS13\n  max_version: TLS12\n", "min_version is newer"},
      {"http_server_config: {headers: {Server: x}}\n", "unknown key 'Server'"},
      {"http_server_config: {headers: {X-Frame-Options: maybe}}\n", "'maybe' is not a value of it"},
      {"http_server_config: {headers: {X-XSS-Protection: \"a\\nb\"}}\n", "more than one line"},
      {"http_server_config: {http2: 3}\n", "neither true nor false"},
      {"basic_auth_users: [a]\n", "is not a map"},
      {"basic_auth_users: {\"a:b\": x}\n", "cannot be a user"},
      {"basic_auth_users: {a: secret}\n", "is not a bcrypt hash"},
      {"basic_auth_users: {a: $2y$16$" + kHash.substr(7) + "}\n", "is not a bcrypt hash"},
      {"basic_auth_users: {a: $2x$10$" + kHash.substr(7) + "}\n", "is not a bcrypt hash"},
      {"basic_auth_users:\n  a: " + kHash + "\n  a: " + kHash + "\n", ":3:3: key 'a' is given twice"},
      {"a: &x 1\nb: *x\n", "anchor"},
      {"a: [\n", "not valid YAML"},
  };
  for (const auto& [text, wanted] : cases) {
    CAPTURE(text, wanted);
    CHECK(has(error_of(text), wanted));
  }
  CHECK_FALSE(has(error_of("basic_auth_users: {a: secret}\n"), "secret"));
}

TEST_CASE("the header of basic auth is read whole or not at all") {
  const auto login = parse_login("basic YWxpY2U6YTpi");
  REQUIRE(login.has_value());
  CHECK(login->user == "alice");
  CHECK(login->password == "a:b");
  CHECK(parse_login("Basic Og==")->user.empty());
  for (const char* wrong :
       {"", "Basic", "Basic ", "Bearer YTpi", "Basic YWxpY2U=", "Basic YTpi!", "Basic YTpiY", "Basic =a"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_login(wrong).has_value());
  }
}

TEST_CASE("bcrypt hashes of every letter are judged") {
  for (const char* prefix : {"$2a$", "$2b$", "$2y$"}) {
    const std::string hash = hash_of("secret", prefix);
    CHECK(hash.size() == 60);
    CHECK(bcrypt_matches("secret", hash));
    CHECK_FALSE(bcrypt_matches("Secret", hash));
    CHECK_FALSE(bcrypt_matches("", hash));
  }
  CHECK_FALSE(bcrypt_matches("secret", "*0"));
}

TEST_CASE("a right password costs bcrypt once, a wrong one and an unknown user each time") {
  const std::string hash = hash_of("secret", "$2b$"), other = hash_of("other", "$2b$");
  std::vector<std::string> asked;
  Passwords passwords([&](const std::string& password, const std::string& of) {
    asked.push_back(of);
    return bcrypt_matches(password, of);
  });
  const Users users{{"alice", hash}};
  const auto check = [&](const Users& among, const Login& login) {
    if (passwords.known(among, login)) return true;
    REQUIRE(passwords.begin("10.9.0.1"));
    return passwords.check(among, login, "10.9.0.1");
  };
  CHECK(check(users, {"alice", "secret"}));
  CHECK(check(users, {"alice", "secret"}));
  CHECK(asked.size() == 1);
  CHECK_FALSE(check(users, {"alice", "wrong"}));
  CHECK_FALSE(check(users, {"alice", "wrong"}));
  CHECK(asked.size() == 3);
  CHECK_FALSE(check(users, {"mallory", "secret"}));
  REQUIRE(asked.size() == 4);
  CHECK(asked.back().substr(0, 7) == "$2b$04$");  // the cost of the users' hashes
  crypt_data room{};
  CHECK(std::string(crypt_r("secret", asked.back().c_str(), &room)).size() == 60);  // bcrypt was done, not refused
  CHECK_FALSE(check(users, {"alice", std::string("secret\0x", 8)}));
  CHECK_FALSE(check(users, {"alice", std::string(100, 'x')}));
  CHECK_FALSE(check({{"alice", other}}, {"alice", "secret"}));  // her password was changed
  CHECK_FALSE(check({{"bob", hash}}, {"alice", "secret"}));     // she was removed
}

TEST_CASE("no address and not all together have more than their number of checks under way") {
  Passwords passwords([](const std::string&, const std::string&) { return false; });
  CHECK(passwords.begin("a"));
  CHECK(passwords.begin("a"));
  CHECK_FALSE(passwords.begin("a"));
  for (const char* other : {"b", "b", "c", "c", "d", "d"}) CHECK(passwords.begin(other));
  CHECK_FALSE(passwords.begin("e"));
  CHECK_FALSE(passwords.check({}, {"x", "y"}, "a"));
  CHECK(passwords.begin("e"));
}

TEST_CASE("gzip is sent to those that take it by name") {
  for (const char* yes : {"gzip", "deflate, gzip;q=0.5", "gzip;q=1.0, *;q=0"}) CHECK(accepts_gzip(yes));
  for (const char* no : {"", "identity", "gzip;q=0", "gzip; q=0.000", "xgzip", "*"}) CHECK_FALSE(accepts_gzip(no));
}

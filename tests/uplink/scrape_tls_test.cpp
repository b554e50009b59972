// Tests of the scrape endpoint with a web config, over real sockets on loopback: who is let in over TLS and by password,
// and what a change of the files does.
#include <crypt.h>

#include <atomic>
#include <fstream>
#include <future>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

#include "agent/api/server.hpp"
#include "agent/uplink/compression.hpp"
#include "agent/uplink/scrape_server.hpp"
#include "agent/uplink/service.hpp"
#include "tests/support/catch.hpp"
#include "tests/uplink/keys.hpp"

using namespace nvstripe;
using namespace nvstripe::uplink;
namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using asio::ip::tcp;
using Code = boost::system::error_code;

namespace {

const std::string kScrape = "GET /metrics HTTP/1.1\r\nHost: x\r\n";
const std::string kClose = "Connection: close\r\n\r\n";
const std::string kAlice = "Authorization: Basic YWxpY2U6c2VjcmV0\r\n";  // alice:secret
const std::string kWrong = "Authorization: Basic YWxpY2U6d3Jvbmc=\r\n";  // alice:wrong
const std::string kMallory = "Authorization: Basic bWFsbG9yeTpzZWNyZXQ=\r\n";
const std::string kPair = "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Keys are made once; each test has a folder of its own with copies.
const Folder& made_keys() {
  static const Folder made;
  static const bool once = (make_keys(made), true);
  (void)once;
  return made;
}

class Lines {
 public:
  void add(const std::string& line) {
    const std::lock_guard lock(mutex_);
    lines_.push_back(line);
  }
  [[nodiscard]] std::vector<std::string> all() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

struct Setting {
  Folder folder;
  Lines said;
  std::atomic<int> checks{0};
  std::unique_ptr<ScrapeServer> server;

  explicit Setting(const std::string& config) {
    for (const auto& file : std::filesystem::directory_iterator(made_keys().path))
      std::filesystem::copy(file.path(), folder.path / file.path().filename());
    write(config);
  }
  void write(const std::string& config) const { folder.put("web.yml", config); }
  void copy(const std::string& from, const std::string& to) const { folder.put(to, made_keys().get(from)); }
  Result<> start() {
    ScrapeAccess access;
    access.files =
        std::make_shared<WebFiles>((folder.path / "web.yml").string(), [this](const std::string& line) { said.add(line); });
    access.verify = [this](const std::string& password, const std::string& hash) {
      ++checks;
      return bcrypt_matches(password, hash);
    };
    auto made = ScrapeServer::start(
        {"127.0.0.1", 0}, [](auto) { return std::string("x 1\n"); }, access);
    if (!made) return tl::unexpected(made.error());
    server = std::move(*made);
    return {};
  }
};

// A client that trusts `ca` and shows `pem`.
class Client {
 public:
  explicit Client(std::uint16_t port, const std::string& pem = {}, int max_version = 0, const std::string& ca = "ca.crt") {
    context_.add_certificate_authority(asio::buffer(made_keys().get(ca)));
    context_.set_verify_mode(ssl::verify_peer);
    if (max_version != 0) SSL_CTX_set_max_proto_version(context_.native_handle(), max_version);
    if (!pem.empty()) {
      context_.use_certificate_chain(asio::buffer(made_keys().get(pem)));
      context_.use_private_key(asio::buffer(made_keys().get(pem)), ssl::context::pem);
    }
    stream_.emplace(io_, context_);
    stream_->lowest_layer().connect({asio::ip::make_address("127.0.0.1"), port});
    stream_->handshake(ssl::stream_base::client, code_);
  }
  [[nodiscard]] bool greeted() const { return !code_; }
  // The answer's bytes until the server closes. With TLS 1.3 a refused certificate shows only here.
  std::string ask(const std::string& request) {
    std::string answer;
    if (!code_) asio::write(*stream_, asio::buffer(request), code_);
    if (!code_) asio::read(*stream_, asio::dynamic_buffer(answer), code_);
    return answer;
  }
  // One answer of a connection that stays.
  std::string ask_once(const std::string& request) {
    std::string answer;
    asio::write(*stream_, asio::buffer(request + "\r\n"), code_);
    if (!code_) asio::read_until(*stream_, asio::dynamic_buffer(answer), "x 1\n", code_);
    return answer;
  }

 private:
  asio::io_context io_;
  ssl::context context_{ssl::context::tls_client};
  std::optional<ssl::stream<tcp::socket>> stream_;
  Code code_;
};

std::string scrape(const Setting& at, const std::string& pem = {}, const std::string& headers = {}) {
  return Client(at.server->port(), pem).ask(kScrape + headers + kClose);
}
bool served(const Setting& at, const std::string& pem = {}) { return has(scrape(at, pem), "\r\n\r\nx 1\n"); }

std::string plain(std::uint16_t port, const std::string& headers = {}) {
  asio::io_context io;
  tcp::socket socket(io);
  socket.connect({asio::ip::make_address("127.0.0.1"), port});
  asio::write(socket, asio::buffer(kScrape + headers + kClose));
  std::string answer;
  Code code;
  asio::read(socket, asio::dynamic_buffer(answer), code);
  return answer;
}

std::string users() {
  crypt_data room{};
  const std::string setting = crypt_gensalt_rn("$2b$", 4, nullptr, 0, room.output, sizeof(room.output));
  return "basic_auth_users: {alice: \"" + std::string(crypt_r("secret", setting.c_str(), &room)) + "\"}\n";
}

}  // namespace

TEST_CASE("a scrape over TLS is answered, one in the clear is not") {
  Setting at(kPair + "http_server_config: {headers: {X-Frame-Options: deny}}\n");
  REQUIRE(at.start());
  const std::string answer = scrape(at);
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(answer.ends_with("\r\n\r\nx 1\n"));
  CHECK(has(answer, "X-Frame-Options: deny\r\n"));
  CHECK_FALSE(has(plain(at.server->port()), "x 1"));
  CHECK_FALSE(Client(at.server->port(), {}, 0, "other.crt").greeted());
}

TEST_CASE("gzip over TLS is what gzip makes of the text") {
  Setting at(kPair);
  REQUIRE(at.start());
  const std::string answer = scrape(at, {}, "Accept-Encoding: gzip\r\n");
  CHECK(has(answer, "Content-Encoding: gzip\r\n"));
  CHECK(has(answer, "Vary: Accept-Encoding\r\n"));
  CHECK(answer.ends_with("\r\n\r\n" + gzip("x 1\n")));
  CHECK(has(scrape(at), "Vary: Accept-Encoding\r\n"));
}

TEST_CASE("client certificates are asked for as the file says") {
  Setting at("");
  const auto serves = [&](const std::string& type, bool ca) {
    at.write(kPair + "  client_auth_type: " + type + "\n" + (ca ? "  client_ca_file: ca.crt\n" : ""));
    if (!at.server) REQUIRE(at.start());
    return std::vector<bool>{served(at), served(at, "client.pem"), served(at, "stranger.pem")};
  };
  using Three = std::vector<bool>;  // none, by the authority, by another one
  CHECK(serves("NoClientCert", false) == Three{true, true, true});
  CHECK(serves("RequestClientCert", false) == Three{true, true, true});
  CHECK(serves("RequireAnyClientCert", false) == Three{false, true, true});
  CHECK(serves("VerifyClientCertIfGiven", true) == Three{true, true, false});
  CHECK(serves("RequireAndVerifyClientCert", true) == Three{false, true, false});
}

TEST_CASE("only clients of the allowed names are let in") {
  const std::string config =
      kPair + "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n  client_allowed_sans: ";
  Setting at(config + "[vm1, 127.0.0.1]\n");
  REQUIRE(at.start());
  CHECK(served(at, "client.pem"));
  CHECK_FALSE(served(at, "client2.pem"));
  CHECK(served(at, "server.pem"));  // by its address
  at.write(config + "[vm]\n");
  CHECK_FALSE(served(at, "client.pem"));
}

TEST_CASE("versions older than min_version are refused") {
  Setting at(kPair);
  REQUIRE(at.start());
  CHECK(Client(at.server->port(), {}, TLS1_2_VERSION).greeted());
  CHECK_FALSE(Client(at.server->port(), {}, TLS1_1_VERSION).greeted());
  at.write(kPair + "  min_version: TLS13\n");
  CHECK_FALSE(Client(at.server->port(), {}, TLS1_2_VERSION).greeted());
  CHECK(Client(at.server->port()).greeted());
}

TEST_CASE("a renewed certificate is shown at once; a broken one is told of once and the old one stays") {
  Setting at(kPair);
  at.copy("stranger.crt", "server.crt");
  at.copy("stranger.key", "server.key");
  REQUIRE(at.start());
  CHECK_FALSE(served(at));
  at.copy("server.crt", "server.crt");  // its key comes a moment later
  CHECK_FALSE(served(at));
  CHECK_FALSE(served(at));
  REQUIRE(at.said.all().size() == 1);
  CHECK(has(at.said.all()[0], "cannot use the key"));
  at.copy("server.key", "server.key");
  CHECK(served(at));
  CHECK(has(at.said.all().back(), "is in force"));
  at.write("tls_server_config: {\n");
  CHECK(served(at));
  CHECK(served(at));
  std::filesystem::remove(at.folder.path / "web.yml");
  CHECK(served(at));
  CHECK(at.said.all().size() == 4);
  CHECK(has(at.said.all()[3], "cannot open"));
  CHECK_FALSE(has(plain(at.server->port()), "x 1"));
}

TEST_CASE("passwords: right ones are checked once, others get 401 and nothing else") {
  Setting at(users());
  REQUIRE(at.start());
  const std::uint16_t port = at.server->port();
  const std::string nobody = plain(port);
  CHECK(nobody.starts_with("HTTP/1.1 401 Unauthorized\r\n"));
  CHECK(has(nobody, "WWW-Authenticate: Basic"));
  CHECK(at.checks == 0);
  CHECK(has(plain(port, kAlice), "\r\n\r\nx 1\n"));
  CHECK(has(plain(port, kAlice), "\r\n\r\nx 1\n"));
  CHECK(at.checks == 1);
  CHECK(plain(port, kWrong).starts_with("HTTP/1.1 401"));
  CHECK(plain(port, kWrong).starts_with("HTTP/1.1 401"));
  CHECK(at.checks == 3);
  CHECK(plain(port, kMallory).starts_with("HTTP/1.1 401"));
  CHECK(at.checks == 4);
  CHECK(plain(port, "Authorization: Bearer x\r\n").starts_with("HTTP/1.1 401"));
  CHECK(at.checks == 4);
}

TEST_CASE("who guesses is put off, and who is known is served meanwhile") {
  Setting at(users());
  std::promise<void> free;
  const std::shared_future<void> freed = free.get_future().share();
  std::promise<void> began;
  ScrapeAccess access;
  access.files = std::make_shared<WebFiles>((at.folder.path / "web.yml").string(), [](const std::string&) {});
  access.verify = [&, asked = 0](const std::string& password, const std::string& hash) mutable {
    if (++asked == 2) began.set_value();
    if (asked > 1) freed.wait();
    return bcrypt_matches(password, hash);
  };
  const auto server = ScrapeServer::start(
                          {"127.0.0.1", 0}, [](auto) { return std::string("x 1\n"); }, access)
                          .value();
  CHECK(has(plain(server->port(), kAlice), "x 1\n"));
  // One is being checked and one waits at most; of three more at least one is put off, and it is so before the check ends.
  std::vector<std::future<std::string>> guesses;
  guesses.push_back(std::async(std::launch::async, [&] { return plain(server->port(), kWrong); }));
  began.get_future().wait();
  std::atomic<int> put_off{0};
  std::promise<void> first;
  for (int i = 0; i < 3; ++i)
    guesses.push_back(std::async(std::launch::async, [&] {
      std::string answer = plain(server->port(), kWrong);
      if (answer.starts_with("HTTP/1.1 503") && ++put_off == 2) first.set_value();
      return answer;
    }));
  first.get_future().wait();
  CHECK(has(plain(server->port(), kAlice), "x 1\n"));
  free.set_value();
  int refused = 0;
  for (auto& guess : guesses) refused += guess.get().starts_with("HTTP/1.1 401") ? 1 : 0;
  CHECK(refused == 2);
}

TEST_CASE("a kept connection does not outlive the files it came under") {
  Setting at(kPair + users());
  REQUIRE(at.start());
  Client client(at.server->port());
  CHECK(has(client.ask_once(kScrape + kAlice), "x 1\n"));
  CHECK(has(client.ask_once(kScrape + kAlice), "x 1\n"));
  at.write(kPair + "basic_auth_users: {bob: " + users().substr(27, 60) + "}\n");
  CHECK(client.ask_once(kScrape + kAlice).empty());
  CHECK(scrape(at, {}, kAlice).starts_with("HTTP/1.1 401"));
  CHECK(has(scrape(at, {}, "Authorization: Basic Ym9iOnNlY3JldA==\r\n"), "x 1\n"));
}

TEST_CASE("the uplink serves nothing by a broken web config, and by a mended one at the next look") {
  Setting at("tls_server_config: {cert_file: server.crt}\n");
  const std::string socket = (at.folder.path / "socket").string();
  asio::io_context io;
  std::string port;
  {
    const tcp::acceptor free(io, {asio::ip::make_address("127.0.0.1"), 0});
    port = std::to_string(free.local_endpoint().port());
  }
  const auto agent =
      api::Server::start(socket, [&](const api::HttpRequest& request) {
        if (request.path != "/v1/spec") return api::HttpResponse{404, "{}"};
        return api::HttpResponse{200, R"({"spec":{"telemetry":{"listen":"127.0.0.1:)" + port + R"(","web_config":")" +
                                          (at.folder.path / "web.yml").string() + R"("}}})"};
      }).value();
  Service service(socket, [&](const std::string& line) { at.said.add(line); });
  service.follow();
  service.follow();
  CHECK(service.server() == nullptr);
  const auto said = at.said.all();
  REQUIRE(said.size() == 1);
  CHECK(has(said[0], "of cert_file and key_file one is missing; name both"));
  at.write(kPair + "  max_version: TLS13\n");
  service.follow();
  REQUIRE(service.server() != nullptr);
  CHECK(has(Client(service.server()->port()).ask(kScrape + kClose), "nvstripe_core_up 0\n"));
  at.write("nonsense\n");
  service.follow();  // tells without a scrape
  service.follow();
  CHECK(at.said.all().size() == 3);
  CHECK(has(at.said.all().back(), "stays in force"));
  CHECK(has(Client(service.server()->port()).ask(kScrape + kClose), "nvstripe_core_up 0\n"));
}

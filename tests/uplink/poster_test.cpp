// Owns the checks of what goes over the wire: headers, TLS that is not satisfied with less than asked, credentials that
// change, answers that are late, cut off or endless.
#include "agent/uplink/poster.hpp"

#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/uplink/fault_server.hpp"
#include "tests/uplink/keys.hpp"

using namespace nvstripe;
using namespace nvstripe::uplink;
using namespace std::chrono_literals;

namespace {

PosterOptions options_for(const FaultServer& server, bool tls, const Folder& keys) {
  PosterOptions options;
  options.url = {tls, "127.0.0.1", server.port(), "/events?x=1"};
  options.content_type = "application/cloudevents+json; charset=utf-8";
  options.folders = {keys.path.string()};
  options.connect_deadline = 3s;
  options.answer_deadline = 3s;
  return options;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

FaultServer::Answer always(const std::string& answer) {
  return [answer](const Heard&) { return answer; };
}

}  // namespace

TEST_CASE("a request carries what receivers ask for, and a connection is kept") {
  const Folder keys;
  keys.put("upstream-token", "secret\n");
  const FaultServer server(always(FaultServer::plain(202)));
  Poster poster(options_for(server, false, keys));
  CHECK(poster.post("{\"a\":1}").status == 202);
  CHECK(poster.post("{\"a\":2}").status == 202);
  const auto heard = server.heard();
  REQUIRE(heard.size() == 2);
  CHECK(server.connections() == 1);
  CHECK(heard[0].head.starts_with("POST /events?x=1 HTTP/1.1\r\n"));
  CHECK(has(heard[0].head, "Content-Type: application/cloudevents+json; charset=utf-8\r\n"));
  CHECK(has(heard[0].head, "Host: 127.0.0.1:" + std::to_string(server.port()) + "\r\n"));
  CHECK(heard[1].body == "{\"a\":2}");
  CHECK_FALSE(has(heard[0].head, "Authorization"));  // a token never goes in the clear
}

TEST_CASE("answers of every kind are told apart") {
  const Folder keys;
  std::string answer;
  const FaultServer server([&](const Heard&) { return answer; });
  const auto ask = [&](const std::string& text) {
    answer = text;
    Poster poster(options_for(server, false, keys));
    return poster.post("{}");
  };
  CHECK(ask(FaultServer::plain(429, "Retry-After: 7\r\n", "slow down")).retry_after == "7");
  CHECK(ask(FaultServer::plain(400, {}, "no such thing")).body == "no such thing");
  CHECK(ask(FaultServer::plain(302, "Location: http://127.0.0.1/\r\n")).status == 302);
  CHECK(ask("HTTP/1.1 202 X\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhalf").status == 0);
  CHECK(ask("HTTP/1.1 202 X\r\nConnection: close\r\n").status == 0);
  CHECK(ask("nonsense Connection: close\r\n\r\n").status == 0);
  CHECK(ask("").status == 0);
  const Posted endless = ask(FaultServer::plain(200, {}, std::string(200'000, 'x')));
  CHECK(endless.status == 200);
  CHECK(endless.body.size() <= 4096);
  CHECK(ask("HTTP/1.1 204 X\r\nConnection: close\r\n\r\n").status == 204);
}

TEST_CASE("a kept connection that the receiver closed costs no failure") {
  const Folder keys;
  const FaultServer server(always(FaultServer::plain(202, "X: Connection: close\r\n")));  // says keep, and closes
  Poster poster(options_for(server, false, keys));
  for (int i = 0; i < 4; ++i) CHECK(poster.post("{}").status == 202);
  CHECK(server.connections() == 4);
}

TEST_CASE("a receiver that is away or silent is an error within the deadline") {
  const Folder keys;
  std::uint16_t port = 0;
  {
    const FaultServer gone(always(""));
    port = gone.port();
  }
  PosterOptions options;
  options.url = {false, "127.0.0.1", port, "/"};
  options.folders = {keys.path.string()};
  CHECK(has(Poster(options).post("{}").error, "cannot connect"));

  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor silent(io, {boost::asio::ip::make_address("127.0.0.1"), 0});
  options.url.port = silent.local_endpoint().port();
  options.answer_deadline = 200ms;
  CHECK(has(Poster(options).post("{}").error, "no answer"));
  options.answer_deadline = 60s;
  Poster poster(options);
  std::thread ending([&] { poster.abort(); });
  CHECK(poster.post("{}").status == 0);  // or it hangs here for a minute
  ending.join();
}

TEST_CASE("TLS: only the host's own certificate by the given authority is taken") {
  const Folder made;
  make_keys(made);
  const Folder keys;
  keys.put("upstream-ca.pem", made.get("ca.crt"));
  keys.put("upstream-token", "secret\n");
  const auto status_with = [&](const char* certificate) {
    const FaultServer server(always(FaultServer::plain(202)), made.get(certificate));
    Poster poster(options_for(server, true, keys));
    const Posted posted = poster.post("{}");
    if (posted.status == 202) CHECK(has(server.heard().at(0).head, "Authorization: Bearer secret\r\n"));
    if (posted.status == 0) CHECK(has(posted.error, "TLS"));
    return posted.status;
  };
  CHECK(status_with("server.pem") == 202);
  CHECK(status_with("elsewhere.pem") == 0);
  CHECK(status_with("stranger.pem") == 0);
}

TEST_CASE("mTLS: a client certificate is shown, and a renewed one without a restart") {
  const Folder made;
  make_keys(made);
  const Folder keys;
  keys.put("upstream-ca.pem", made.get("ca.crt"));
  const FaultServer server(always(FaultServer::plain(202)), made.get("server.pem"), made.get("ca.crt"));
  {
    Poster poster(options_for(server, true, keys));
    CHECK(poster.post("{}").status == 0);
  }
  keys.put("upstream-cert.pem", made.get("client.crt"));
  keys.put("upstream-key.pem", made.get("client.key"));
  std::vector<std::string> said;
  PosterOptions options = options_for(server, true, keys);
  options.say = [&said](const std::string& line) { said.push_back(line); };
  Poster poster(options);
  CHECK(poster.post("{}").status == 202);
  CHECK(said.empty());
  const int before = server.connections();
  keys.put("upstream-cert.pem", made.get("client2.crt"));  // its key comes a moment later
  CHECK(poster.post("{}").status == 202);
  CHECK(poster.post("{}").status == 202);
  CHECK(server.connections() == before);
  REQUIRE(said.size() == 1);
  CHECK(has(said[0], "the old ones go on: cannot use 'upstream-key.pem'"));
  keys.put("upstream-key.pem", made.get("client2.key"));
  CHECK(poster.post("{}").status == 202);
  CHECK(server.connections() == before + 1);
}

TEST_CASE("credentials that cannot be used are an error, not a request without them") {
  const Folder keys;
  const FaultServer server(always(FaultServer::plain(202)));
  SECTION("half a pair") { keys.put("upstream-cert.pem", "x"); }
  SECTION("an empty token") { keys.put("upstream-token", "\n"); }
  SECTION("a token with blanks") { keys.put("upstream-token", "a b"); }
  SECTION("a folder in place of a file") { std::filesystem::create_directory(keys.path / "upstream-token"); }
  Poster poster(options_for(server, false, keys));
  CHECK(poster.post("{}").status == 0);
  CHECK(server.heard().empty());
}

TEST_CASE("interim answers, and what comes unasked, never stand for the answer to a later request") {
  const Folder keys;
  int turn = 0;
  const FaultServer server([&turn](const Heard&) {
    ++turn;
    if (turn == 1) return "HTTP/1.1 103 X\r\n\r\n" + FaultServer::plain(202);
    if (turn == 2) return FaultServer::plain(202) + FaultServer::plain(202);  // one too many
    return FaultServer::plain(503);
  });
  Poster poster(options_for(server, false, keys));
  CHECK(poster.post("1").status == 202);
  CHECK(poster.post("2").status == 202);
  CHECK(poster.post("3").status == 503);
}

// URLs to send to, as text.
#include "agent/base/url.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;

TEST_CASE("URLs are read in their parts") {
  CHECK(*parse_url("https://collector:8443/events?x=1") == Url{true, "collector", 8443, "/events?x=1"});
  CHECK(*parse_url("https://collector") == Url{true, "collector", 443, "/"});
  CHECK(*parse_url("http://10.9.0.7:4318") == Url{false, "10.9.0.7", 4318, "/"});
  CHECK(*parse_url("http://[fd00::1]:80/a") == Url{false, "fd00::1", 80, "/a"});
  CHECK(*parse_url("https://a.b?q") == Url{true, "a.b", 443, "/?q"});
}

TEST_CASE("the Host header leaves out the scheme's own port") {
  CHECK(parse_url("https://a")->authority() == "a");
  CHECK(parse_url("https://a:8443")->authority() == "a:8443");
  CHECK(parse_url("https://[::1]:8443")->authority() == "[::1]:8443");
  CHECK(parse_url("http://a:443")->authority() == "a:443");
}

TEST_CASE("what is not plainly a place to send to is refused with a remedy") {
  for (const char* text :
       {"", "collector", "ftp://a", "https://", "https:///x", "https://a:0", "https://a:65536", "https://a:", "https://a b",
        "https://user:secret@a/", "https://a/#part", "https://[::1", "https://[zz]/", "https://-a", "https://a\nX: y",
        "https://a:8443:1", "https://a/\"", "https://a_b/"}) {
    INFO(text);
    const auto read = parse_url(text);
    REQUIRE_FALSE(read);
    CHECK_FALSE(read.error().remedy.empty());
  }
  CHECK_FALSE(parse_url("https://a/" + std::string(2000, 'x')));
}

TEST_CASE("what is said of a URL has neither its password nor its query") {
  for (const char* text : {"https://user:secret@a/x", "https://a/x?key=secret#f", "ftp://user:secret@a?key=secret"}) {
    const std::string what = parse_url(text).error().what;
    CAPTURE(what);
    CHECK(what.find("secret") == std::string::npos);
    CHECK(what.find("a") != std::string::npos);
  }
}

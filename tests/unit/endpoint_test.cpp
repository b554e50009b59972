// Addresses to listen on, as text.
#include "agent/base/endpoint.hpp"

#include "tests/support/catch.hpp"

namespace nvstripe {

TEST_CASE("an endpoint is an address and a port, IPv6 in brackets") {
  CHECK(parse_endpoint("[::]:9766").value() == Endpoint{"::", 9766});
  CHECK(parse_endpoint("10.9.0.7:1").value() == Endpoint{"10.9.0.7", 1});
  for (const char* wrong : {"", "9766", ":9766", "::1:9766", "[::1]", "[::1]:0", "[10.0.0.1]:80", "localhost:80",
                            "10.0.0.1:70000", "10.0.0.1:", "10.0.0.1:+5", "[]:80"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_endpoint(wrong).has_value());
  }
}

}  // namespace nvstripe

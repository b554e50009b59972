// Owns tests of the socket: answers, permissions by peer, and that clients who misbehave harm nobody.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "agent/api/client.hpp"
#include "agent/api/server.hpp"
#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;

namespace {

int connect_raw(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  REQUIRE(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return fd;
}

api::HttpResponse echo(const api::HttpRequest& request) {
  return {200, request.method + " " + request.path + " " + request.query + " " + std::to_string(request.uid) + " " +
                   request.body};
}

}  // namespace

TEST_CASE("The socket is open to everybody and tells the peer's uid") {
  const test::Folder folder;
  const std::string path = folder.path("api.sock");
  const auto server = api::Server::start(path, echo);
  REQUIRE(server);
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0666);
  const auto answer = api::exchange(path, "POST", "/v1/plan?a=b", "text");
  REQUIRE(answer);
  CHECK(answer->status == 200);
  CHECK(answer->body == "POST /v1/plan a=b " + std::to_string(::getuid()) + " text");
}

TEST_CASE("A body that is too large is refused and the server goes on") {
  const test::Folder folder;
  const std::string path = folder.path("api.sock");
  const auto server = api::Server::start(path, echo);
  REQUIRE(server);
  const auto large = api::exchange(path, "POST", "/v1/plan", std::string(600 * 1024, 'x'));
  if (large) CHECK(large->status == 413);  // the server may close before all was sent
  const auto next = api::exchange(path, "GET", "/v1/status");
  REQUIRE(next);
  CHECK(next->status == 200);
}

TEST_CASE("Silent clients and garbage do not keep others from being served") {
  const test::Folder folder;
  const std::string path = folder.path("api.sock");
  const auto server = api::Server::start(path, echo);
  REQUIRE(server);
  std::vector<int> silent;
  for (int i = 0; i < 20; ++i) silent.push_back(connect_raw(path));
  REQUIRE(::send(silent.front(), "\x01\x02garbage\r\n\r\n", 13, MSG_NOSIGNAL) == 13);
  const auto answer = api::exchange(path, "GET", "/v1/status");
  REQUIRE(answer);
  CHECK(answer->status == 200);
  for (const int fd : silent) ::close(fd);
}

TEST_CASE("A left-over socket file is replaced, and a stopped server is reported as not reachable") {
  const test::Folder folder;
  const std::string path = folder.path("api.sock");
  {
    const auto first = api::Server::start(path, echo);
    REQUIRE(first);
  }
  const auto gone = api::exchange(path, "GET", "/v1/status");
  REQUIRE_FALSE(gone);
  CHECK(gone.error().what.find("cannot reach the agent") == 0);
  CHECK_FALSE(gone.error().remedy.empty());
  folder.write("api.sock", "left over");
  const auto second = api::Server::start(path, echo);
  REQUIRE(second);
  CHECK(api::exchange(path, "GET", "/v1/status"));
}

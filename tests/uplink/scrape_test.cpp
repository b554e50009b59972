// Tests of the scrape endpoint over real sockets on loopback: an agent that answers, hangs or is gone; clients that are
// slow.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "agent/api/server.hpp"
#include "agent/uplink/exposition.hpp"
#include "agent/uplink/service.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

std::string scratch_socket() {
  static std::atomic<int> count{0};
  return (std::filesystem::temp_directory_path() /
          ("nvs-uplink-" + std::to_string(::getpid()) + "-" + std::to_string(++count)))
      .string();
}

tcp::socket reach(asio::io_context& io, std::uint16_t port) {
  tcp::socket socket(io);
  socket.connect({asio::ip::make_address("127.0.0.1"), port});
  return socket;
}

// The whole answer, head and body; the server closes.
std::string ask(std::uint16_t port, const std::string& head) {
  asio::io_context io;
  tcp::socket socket = reach(io, port);
  asio::write(socket, asio::buffer(head + "Host: x\r\nConnection: close\r\n\r\n"));
  std::string answer;
  boost::system::error_code code;
  asio::read(socket, asio::dynamic_buffer(answer), code);
  return answer;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Agent {
  std::string path = scratch_socket();
  std::string listen = "127.0.0.1:9766";
  std::unique_ptr<api::Server> server;
  Agent() {
    server = api::Server::start(path, [this](const api::HttpRequest& request) {
               if (request.path == "/v1/spec")
                 return api::HttpResponse{200, R"({"spec":{"telemetry":{"listen":")" + listen + R"("}}})"};
               SampleGathering samples;
               samples.add("nvstripe_ready", 1);
               samples.add("nvstripe_nvme_up", {"a \"b\"\n\\"}, 1);
               return api::HttpResponse{200, to_lines(samples.take())};
             }).value();
  }
};

std::unique_ptr<uplink::ScrapeServer> serving(uplink::Expose expose) {
  return uplink::ScrapeServer::start({"127.0.0.1", 0}, std::move(expose)).value();
}

}  // namespace

TEST_CASE("a scrape shows the core's samples and that it answers") {
  const Agent agent;
  const auto server = serving([&](auto deadline) { return uplink::exposition(uplink::all_samples(agent.path, deadline)); });
  const std::string answer = ask(server->port(), "GET /metrics HTTP/1.1\r\n");
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(has(answer, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  CHECK(has(answer, "\nnvstripe_ready 1\n"));
  CHECK(has(answer, "\nnvstripe_core_up 1\n"));
  CHECK(has(answer, "nvstripe_nvme_up{device=\"a \\\"b\\\""));
}

TEST_CASE("a core that is gone leaves the uplink's own metrics, and a status of 200") {
  const auto server =
      serving([](auto deadline) { return uplink::exposition(uplink::all_samples("/nonexistent", deadline)); });
  const std::string answer = ask(server->port(), "GET /metrics HTTP/1.1\r\n");
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(has(answer, "\nnvstripe_core_up 0\n"));
  CHECK_FALSE(has(answer, "nvstripe_ready"));
}

TEST_CASE("the scraper's own time limit bounds the question to the core") {
  std::vector<std::chrono::milliseconds> given;
  const auto server = serving([&](std::chrono::milliseconds deadline) {
    given.push_back(deadline);
    return std::string("x 1\n");
  });
  (void)ask(server->port(), "GET /metrics HTTP/1.1\r\nX-Prometheus-Scrape-Timeout-Seconds: 5\r\n");
  (void)ask(server->port(), "GET /metrics HTTP/1.1\r\nX-Prometheus-Scrape-Timeout-Seconds: nonsense\r\n");
  (void)ask(server->port(), "GET /metrics HTTP/1.1\r\nX-Prometheus-Scrape-Timeout-Seconds: 0.1\r\n");
  CHECK(given == std::vector<std::chrono::milliseconds>{4s, 8s, 500ms});
}

TEST_CASE("only GET and HEAD of known paths are answered") {
  const auto server = serving([](auto) { return std::string("x 1\n"); });
  CHECK(has(ask(server->port(), "GET / HTTP/1.1\r\n"), "href=\"/metrics\""));
  CHECK(ask(server->port(), "GET /v1/status HTTP/1.1\r\n").starts_with("HTTP/1.1 404"));
  CHECK(ask(server->port(), "POST /metrics HTTP/1.1\r\n").starts_with("HTTP/1.1 405"));
  const std::string head = ask(server->port(), "HEAD /metrics HTTP/1.1\r\n");
  CHECK(has(head, "Content-Length: 4\r\n"));
  CHECK(head.ends_with("\r\n\r\n"));
  CHECK(ask(server->port(), "GET /metrics HTTP/1.1\r\nX: " + std::string(10'000, 'x') + "\r\n").starts_with("HTTP/1.1 413"));
}

TEST_CASE("clients that say nothing keep nobody from a scrape, and too many are let go") {
  const auto server = serving([](auto) { return std::string("x 1\n"); });
  asio::io_context io;
  std::vector<tcp::socket> silent;
  for (int i = 0; i < 60; ++i) silent.push_back(reach(io, server->port()));
  CHECK(has(ask(server->port(), "GET /metrics HTTP/1.1\r\n"), "x 1"));
  for (int i = 0; i < 20; ++i) silent.push_back(reach(io, server->port()));
  boost::system::error_code code;
  char byte = 0;
  CHECK(silent.back().read_some(asio::buffer(&byte, 1), code) == 0);
  CHECK(code == asio::error::eof);
}

TEST_CASE("a scrape that waits for the core keeps nobody from the landing page") {
  std::atomic<bool> free{false};
  const auto server = serving([&](auto) {
    while (!free) std::this_thread::yield();
    return std::string("x 1\n");
  });
  std::thread waiting([&] { (void)ask(server->port(), "GET /metrics HTTP/1.1\r\n"); });
  CHECK(ask(server->port(), "GET / HTTP/1.1\r\n").starts_with("HTTP/1.1 200"));
  free = true;
  waiting.join();
}

TEST_CASE("the uplink follows the spec's address, and keeps its own while the core is away") {
  std::vector<std::string> said;
  auto agent = std::make_unique<Agent>();
  const std::string path = agent->path;
  const auto first = serving([](auto) { return std::string(); });  // a port that is taken
  agent->listen = "127.0.0.1:" + std::to_string(first->port());
  uplink::Service service(path, [&](const std::string& line) { said.push_back(line); });
  service.follow();
  service.follow();
  CHECK(service.server() == nullptr);
  REQUIRE(said.size() == 1);
  CHECK(has(said[0], "cannot listen on '127.0.0.1', port " + std::to_string(first->port())));
  agent->listen = "off";
  service.follow();
  CHECK(said.back() == "telemetry.listen is off: nothing is served");
  std::uint16_t port = 0;
  {
    const auto second = serving([](auto) { return std::string(); });
    port = second->port();
  }
  agent->listen = "127.0.0.1:" + std::to_string(port);
  service.follow();
  REQUIRE(service.server() != nullptr);
  CHECK(has(ask(port, "GET /metrics HTTP/1.1\r\n"), "\nnvstripe_core_up 1\n"));
  agent.reset();
  service.follow();
  REQUIRE(service.server() != nullptr);
  CHECK(has(ask(port, "GET /metrics HTTP/1.1\r\n"), "\nnvstripe_core_up 0\n"));
}

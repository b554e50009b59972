// Owns the only Beast code of the uplink's listener: one thread for the sockets, two for making answers, callbacks only.
#include "agent/uplink/scrape_server.hpp"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "agent/base/text.hpp"
#include "agent/uplink/exposition.hpp"

namespace nvstripe::uplink {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Code = boost::system::error_code;

constexpr std::uint32_t kMaxHeaderBytes = 8 * 1024;
constexpr int kMaxSessions = 64;  // a fleet's Prometheus pair and some people
constexpr int kMakers = 2;        // answers made at once: one that waits for the core does not keep the landing page
constexpr auto kReadDeadline = std::chrono::seconds(10);
constexpr auto kWriteDeadline = std::chrono::seconds(30);
constexpr auto kAcceptRetry = std::chrono::seconds(1);
// Prometheus waits 10 s where it does not say otherwise; a part of it is kept for the way back.
constexpr std::chrono::milliseconds kDefaultDeadline{8'000}, kShortestDeadline{500}, kLongestDeadline{20'000};

constexpr const char* kLanding =
    "<!doctype html><title>nvstripe</title><h1>nvstripe</h1><p><a href=\"/metrics\">Metrics</a></p>\n";

struct Shared {
  asio::io_context io{1};
  asio::thread_pool makers{kMakers};
  Expose expose;
  int sessions = 0;
};

// "X-Prometheus-Scrape-Timeout-Seconds: 10"
std::chrono::milliseconds deadline_of(std::string_view header) {
  const auto seconds = parse_number(header.substr(0, header.find('.')));
  if (!seconds || *seconds > 3600) return kDefaultDeadline;
  const std::chrono::milliseconds given(*seconds * 800);
  return std::clamp(given, kShortestDeadline, kLongestDeadline);
}

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Shared& shared, tcp::socket socket) : shared_(shared), stream_(std::move(socket)) { ++shared_.sessions; }
  ~Session() { --shared_.sessions; }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeaderBytes);
    parser_->body_limit(0);
    stream_.expires_after(kReadDeadline);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](Code code, std::size_t) { self->on_read(code); });
  }

 private:
  void on_read(Code code) {
    if (code == http::error::header_limit || code == http::error::body_limit)
      return write(http::status::payload_too_large, "text/plain", "the request is too large\n", false);
    if (code) return;  // gone, silent or not HTTP: nothing to answer
    const auto& message = parser_->get();
    const bool keep = message.keep_alive();
    if (message.method() != http::verb::get && message.method() != http::verb::head)
      return write(http::status::method_not_allowed, "text/plain", "only GET and HEAD\n", false);
    const std::string target(message.target());
    const std::string path = target.substr(0, target.find('?'));
    if (path == "/metrics") return make(std::string(message["X-Prometheus-Scrape-Timeout-Seconds"]), keep);
    if (path == "/") return write(http::status::ok, "text/html; charset=utf-8", kLanding, keep);
    write(http::status::not_found, "text/plain", "there is /metrics\n", keep);
  }

  void make(const std::string& timeout, bool keep) {
    const auto deadline = deadline_of(timeout);
    stream_.expires_after(deadline + kWriteDeadline);
    asio::post(shared_.makers, [self = shared_from_this(), deadline, keep] {
      std::string text = self->shared_.expose(deadline);
      asio::post(self->shared_.io, [self, keep, text = std::move(text)]() mutable {
        self->write(http::status::ok, kExpositionType, std::move(text), keep);
      });
    });
  }

  void write(http::status status, std::string_view type, std::string body, bool keep) {
    response_ = {};
    response_.version(11);
    response_.result(status);
    response_.set(http::field::content_type, boost::beast::string_view(type.data(), type.size()));
    response_.keep_alive(keep);
    const std::size_t size = body.size();
    if (parser_->get().method() != http::verb::head) response_.body() = std::move(body);
    response_.content_length(size);
    stream_.expires_after(kWriteDeadline);
    http::async_write(stream_, response_, [self = shared_from_this(), keep](Code code, std::size_t) {
      if (code || !keep) return;
      self->read();
    });
  }

  Shared& shared_;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_{kMaxHeaderBytes * 2};
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
};

class BeastScrapeServer final : public ScrapeServer {
 public:
  explicit BeastScrapeServer(Expose expose) : acceptor_(shared_.io) { shared_.expose = std::move(expose); }
  ~BeastScrapeServer() override {
    shared_.io.stop();
    if (thread_.joinable()) thread_.join();
    shared_.makers.join();
  }
  BeastScrapeServer(const BeastScrapeServer&) = delete;
  BeastScrapeServer& operator=(const BeastScrapeServer&) = delete;

  Result<> open(const Endpoint& endpoint) {
    const std::string what = "cannot listen on '" + endpoint.address + "', port " + std::to_string(endpoint.port);
    Code code;
    const auto address = asio::ip::make_address(endpoint.address, code);
    const tcp::endpoint place(address, endpoint.port);
    if (!code) acceptor_.open(place.protocol(), code);
    if (!code) acceptor_.set_option(tcp::acceptor::reuse_address(true), code);
    // "[::]" means every address, of both families.
    if (!code && address.is_v6()) acceptor_.set_option(asio::ip::v6_only(false), code);
    if (!code) acceptor_.bind(place, code);
    if (!code) acceptor_.listen(kMaxSessions, code);
    if (code) return fail(what + ": " + code.message(), "free the port, or set telemetry.listen", code);
    port_ = acceptor_.local_endpoint(code).port();
    accept();
    thread_ = std::thread([this] { shared_.io.run(); });
    return {};
  }
  [[nodiscard]] std::uint16_t port() const override { return port_; }

 private:
  void accept() {
    acceptor_.async_accept([this](Code code, tcp::socket socket) {
      if (code == asio::error::operation_aborted) return;
      if (code) return accept_later();  // out of descriptors: trying at once would spin
      if (shared_.sessions < kMaxSessions) std::make_shared<Session>(shared_, std::move(socket))->read();
      accept();
    });
  }
  void accept_later() {
    auto timer = std::make_shared<asio::steady_timer>(shared_.io, kAcceptRetry);
    timer->async_wait([this, timer](Code code) {
      if (!code) accept();
    });
  }

  Shared shared_;
  tcp::acceptor acceptor_;
  std::thread thread_;
  std::uint16_t port_ = 0;
};

}  // namespace

Result<std::unique_ptr<ScrapeServer>> ScrapeServer::start(const Endpoint& endpoint, Expose expose) {
  auto server = std::make_unique<BeastScrapeServer>(std::move(expose));
  CHECKED(server->open(endpoint));
  return std::unique_ptr<ScrapeServer>(std::move(server));
}

}  // namespace nvstripe::uplink

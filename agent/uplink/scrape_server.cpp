// Owns listening: one thread for the sockets, two for making answers, one for checking passwords, callbacks only.
#include "agent/uplink/scrape_server.hpp"

#include <thread>
#include <utility>

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/steady_timer.hpp>

#include "agent/uplink/scrape_session.hpp"

namespace nvstripe::uplink {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Code = boost::system::error_code;

constexpr int kMaxSessions = 64;  // a fleet's Prometheus pair and some people
constexpr auto kAcceptRetry = std::chrono::seconds(1);

// Whom checks of passwords are counted for. One host has a whole network of 64 bits in IPv6.
std::string address_of(const tcp::socket& socket) {
  Code code;
  const auto address = socket.remote_endpoint(code).address();
  if (code || address.is_v4() || address.to_v6().is_v4_mapped()) return code ? std::string() : address.to_string();
  const auto bytes = address.to_v6().to_bytes();
  return {bytes.begin(), bytes.begin() + 8};
}

class BeastScrapeServer final : public ScrapeServer {
 public:
  BeastScrapeServer(Expose expose, ScrapeAccess access)
      : shared_(std::move(expose), std::move(access)), acceptor_(shared_.io) {}
  ~BeastScrapeServer() override {
    shared_.io.stop();
    if (thread_.joinable()) thread_.join();
    shared_.checkers.stop();  // what is asked waits for nobody any more
    shared_.checkers.join();
    shared_.makers.stop();  // answers that were not begun are wanted by nobody any more
    shared_.makers.join();
  }
  BeastScrapeServer(const BeastScrapeServer&) = delete;
  BeastScrapeServer& operator=(const BeastScrapeServer&) = delete;

  Result<> open(const Endpoint& endpoint) {
    if (shared_.files) {
      if (const auto access = shared_.files->current(); !access) return tl::unexpected(access.error());
    }
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
      if (shared_.sessions < kMaxSessions) begin(std::move(socket));
      accept();
    });
  }
  void begin(tcp::socket socket) {
    auto access = shared_.access();
    if (!access) return;
    std::string address = address_of(socket);
    if (access->tls)
      std::make_shared<Session<TlsStream>>(shared_, std::move(access), std::move(socket), std::move(address))->start();
    else
      std::make_shared<Session<PlainStream>>(shared_, std::move(access), std::move(socket), std::move(address))->start();
  }
  void accept_later() {
    auto timer = std::make_shared<asio::steady_timer>(shared_.io, kAcceptRetry);
    timer->async_wait([this, timer](Code code) {
      if (!code) accept();
    });
  }

  Scraping shared_;
  tcp::acceptor acceptor_;
  std::thread thread_;
  std::uint16_t port_ = 0;
};

}  // namespace

Result<std::unique_ptr<ScrapeServer>> ScrapeServer::start(const Endpoint& endpoint, Expose expose, ScrapeAccess access) {
  auto server = std::make_unique<BeastScrapeServer>(std::move(expose), std::move(access));
  CHECKED(server->open(endpoint));
  return std::unique_ptr<ScrapeServer>(std::move(server));
}

}  // namespace nvstripe::uplink

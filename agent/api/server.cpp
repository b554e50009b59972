// Owns the only Beast code of the daemon: one thread, callbacks, no coroutines. Every wait of a session has a deadline, so
// that a client that is slow, silent or gone costs one descriptor for seconds and nobody else anything.
#include "agent/api/server.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

namespace nvstripe::api {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Local = asio::local::stream_protocol;
using Code = boost::system::error_code;

constexpr std::uint32_t kMaxHeaderBytes = 8 * 1024;  // curl and our CLI send under 300
constexpr std::uint64_t kMaxBodyBytes = 512 * 1024;  // a spec for 1,000 connections is under 200 KiB
constexpr int kMaxSessions = 64;
constexpr int kMaxUnprivilegedSessions = 48;  // the rest stays free for root
constexpr auto kReadDeadline = std::chrono::seconds(10);
constexpr auto kWriteDeadline = std::chrono::seconds(10);
constexpr auto kTick = std::chrono::seconds(1);

struct Shared {
  asio::io_context io{1};
  Respond respond;
  std::function<void()> tick;
  int sessions = 0;
  int unprivileged = 0;
};

std::uint32_t peer_uid(Local::socket& socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return 0xffffffffu;
  return peer.uid;
}

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Shared& shared, Local::socket socket, std::uint32_t uid) : shared_(shared), stream_(std::move(socket)), uid_(uid) {
    ++shared_.sessions;
    if (uid_ != 0) ++shared_.unprivileged;
  }
  ~Session() {
    --shared_.sessions;
    if (uid_ != 0) --shared_.unprivileged;
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeaderBytes);
    parser_->body_limit(kMaxBodyBytes);
    stream_.expires_after(kReadDeadline);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](Code code, std::size_t) { self->on_read(code); });
  }

 private:
  void on_read(Code code) {
    if (code == http::error::body_limit || code == http::error::header_limit)
      return write(
          HttpResponse{413, R"({"api_version":1,"error":{"what":"the request is too large","remedy":"send less"}})"}, false);
    if (code) return;  // gone, silent or not HTTP: nothing to answer
    const auto& message = parser_->get();
    HttpRequest request;
    request.method = std::string(message.method_string());
    const std::string target(message.target());
    const auto mark = target.find('?');
    request.path = target.substr(0, mark);
    if (mark != std::string::npos) request.query = target.substr(mark + 1);
    request.body = message.body();
    request.uid = uid_;
    write(shared_.respond(request), message.keep_alive());
  }

  void write(HttpResponse answer, bool keep) {
    response_ = {};
    response_.version(11);
    response_.result(answer.status);
    response_.set(http::field::content_type, "application/json");
    response_.keep_alive(keep);
    response_.body() = std::move(answer.body);
    response_.prepare_payload();
    stream_.expires_after(kWriteDeadline);
    http::async_write(stream_, response_, [self = shared_from_this(), keep](Code code, std::size_t) {
      if (code || !keep) return;
      self->read();
    });
  }

  Shared& shared_;
  beast::basic_stream<Local> stream_;
  beast::flat_buffer buffer_{kMaxHeaderBytes + kMaxBodyBytes};
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> response_;
  std::uint32_t uid_;
};

class BeastServer final : public Server {
 public:
  BeastServer(Respond respond, std::function<void()> tick) : acceptor_(shared_.io), timer_(shared_.io) {
    shared_.respond = std::move(respond);
    shared_.tick = std::move(tick);
  }
  ~BeastServer() override {
    shared_.io.stop();
    if (thread_.joinable()) thread_.join();
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  BeastServer(const BeastServer&) = delete;
  BeastServer& operator=(const BeastServer&) = delete;

  Result<> open(const std::string& path) {
    ::unlink(path.c_str());
    Code code;
    acceptor_.open(Local(), code);
    if (!code) acceptor_.bind(Local::endpoint(path), code);
    if (!code) acceptor_.listen(kMaxSessions, code);
    if (code) return fail("cannot serve on '" + path + "': " + code.message(), "check that its folder exists", code);
    path_ = path;
    if (::chmod(path.c_str(), 0666) != 0) return fail_errno("cannot set the mode of '" + path + "'");
    accept();
    if (shared_.tick) arm();
    thread_ = std::thread([this] { shared_.io.run(); });
    return {};
  }

 private:
  void accept() {
    acceptor_.async_accept([this](Code code, Local::socket socket) {
      if (code == asio::error::operation_aborted) return;
      if (code) return accept_later();  // out of descriptors: trying at once would spin
      const std::uint32_t uid = peer_uid(socket);
      const bool full = shared_.sessions >= kMaxSessions || (uid != 0 && shared_.unprivileged >= kMaxUnprivilegedSessions);
      if (!full) std::make_shared<Session>(shared_, std::move(socket), uid)->read();
      accept();
    });
  }
  void accept_later() {
    auto timer = std::make_shared<asio::steady_timer>(shared_.io, kTick);
    timer->async_wait([this, timer](Code code) {
      if (!code) accept();
    });
  }
  void arm() {
    timer_.expires_after(kTick);
    timer_.async_wait([this](Code code) {
      if (code) return;
      shared_.tick();
      arm();
    });
  }

  Shared shared_;
  Local::acceptor acceptor_;
  asio::steady_timer timer_;
  std::thread thread_;
  std::string path_;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const std::string& path, Respond respond, std::function<void()> tick) {
  auto server = std::make_unique<BeastServer>(std::move(respond), std::move(tick));
  CHECKED(server->open(path));
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace nvstripe::api

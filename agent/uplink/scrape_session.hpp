// Owns one client of the scrape endpoint, over TLS or not: handshake, requests one after the other, who may ask, answers.
// Callbacks only, all in the thread of the sockets but for making answers and checking passwords.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "agent/uplink/compression.hpp"
#include "agent/uplink/exposition.hpp"
#include "agent/uplink/scrape_request.hpp"
#include "agent/uplink/scrape_server.hpp"

namespace nvstripe::uplink {

inline constexpr int kMakers = 2;  // answers made at once: one that waits for the core does not keep the landing page

// What all sessions of a server share.
struct Scraping {
  Scraping(Expose made, ScrapeAccess asked)
      : expose(std::move(made)), files(std::move(asked.files)), passwords(std::move(asked.verify)) {}

  // None: nobody is served.
  [[nodiscard]] std::shared_ptr<const WebAccess> access() const {
    if (!files) return anybody;
    const auto found = files->current();
    return found ? *found : nullptr;
  }

  std::atomic<int> sessions{0};
  Expose expose;
  std::shared_ptr<WebFiles> files;
  Passwords passwords;
  const std::shared_ptr<const WebAccess> anybody = std::make_shared<WebAccess>();
  boost::asio::io_context io{1};
  boost::asio::thread_pool makers{kMakers};
  boost::asio::thread_pool checkers{1};  // of passwords; one, so that guesses cost at most one core
};

using PlainStream = boost::beast::tcp_stream;
using TlsStream = boost::asio::ssl::stream<boost::beast::tcp_stream>;

template <class Stream>
class Session : public std::enable_shared_from_this<Session<Stream>> {
 public:
  // `address`: who asks, for sharing out checks of passwords.
  Session(Scraping& shared, std::shared_ptr<const WebAccess> access, boost::asio::ip::tcp::socket socket,
          std::string address)
      : shared_(shared),
        access_(std::move(access)),
        address_(std::move(address)),
        stream_(stream_over(std::move(socket), *access_)) {
    ++shared_.sessions;
  }
  ~Session() { --shared_.sessions; }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() {
    if constexpr (!kTls) {
      read();
    } else {
      stream_.set_verify_callback([access = access_](bool verified, boost::asio::ssl::verify_context& chain) {
        return client_may_enter(*access->config.tls, verified, chain);
      });
      expire_after(kReadDeadline);
      stream_.async_handshake(boost::asio::ssl::stream_base::server, [self = this->shared_from_this()](Code code) {
        if (!code) self->read();
      });
    }
  }

 private:
  using Code = boost::system::error_code;
  using Status = boost::beast::http::status;
  using Field = boost::beast::http::field;
  using Verb = boost::beast::http::verb;

  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;
  static constexpr std::uint32_t kMaxHeaderBytes = 8 * 1024;
  static constexpr std::chrono::seconds kReadDeadline{10}, kWriteDeadline{30}, kCloseDeadline{2};
  static constexpr const char* kLanding =
      "<!doctype html><title>nvstripe</title><h1>nvstripe</h1><p><a href=\"/metrics\">Metrics</a></p>\n";

  struct Answer {
    Status status = Status::ok;
    std::string_view type = "text/plain";
    std::string body;
    bool keep = false;
    bool varies = false, zipped = false;
  };

  static Stream stream_over(boost::asio::ip::tcp::socket socket, const WebAccess& access) {
    if constexpr (kTls) {
      return Stream(boost::beast::tcp_stream(std::move(socket)), *access.tls);
    } else {
      return Stream(std::move(socket));
    }
  }

  void expire_after(std::chrono::milliseconds time) { boost::beast::get_lowest_layer(stream_).expires_after(time); }
  [[nodiscard]] const auto& request() const { return parser_->get(); }
  [[nodiscard]] std::string header(std::string_view name) const {
    return std::string(request()[boost::beast::string_view(name.data(), name.size())]);
  }

  void read() {
    parser_.emplace();
    parser_->header_limit(kMaxHeaderBytes);
    parser_->body_limit(0);
    expire_after(kReadDeadline);
    boost::beast::http::async_read(stream_, buffer_, *parser_,
                                   [self = this->shared_from_this()](Code code, std::size_t) { self->on_read(code); });
  }

  void on_read(Code code) {
    if (code == boost::beast::http::error::header_limit || code == boost::beast::http::error::body_limit)
      return write({.status = Status::payload_too_large, .body = "the request is too large\n"});
    if (code) return;  // gone, silent or not HTTP: nothing to answer
    // Who came under earlier files has to come again, so that a kept connection outlives no removed user or authority.
    if (shared_.access() != access_) return close();
    if (access_->config.users.empty()) return answer();
    ask_who();
  }

  void ask_who() {
    const auto login = parse_login(header("Authorization"));
    if (!login) return refuse();
    if (shared_.passwords.known(access_->config.users, *login)) return answer();
    if (!shared_.passwords.begin(address_))
      return write({.status = Status::service_unavailable, .body = "too many passwords are being checked\n"});
    boost::asio::post(shared_.checkers, [self = this->shared_from_this(), login = *login]() mutable {
      const bool right = self->shared_.passwords.check(self->access_->config.users, login, self->address_);
      auto& io = self->shared_.io;
      boost::asio::post(io, [self = std::move(self), right] {
        if (right) return self->answer();
        self->refuse();
      });
    });
  }

  void refuse() { write({.status = Status::unauthorized, .body = "Unauthorized\n", .keep = request().keep_alive()}); }

  void answer() {
    const bool keep = request().keep_alive();
    if (request().method() != Verb::get && request().method() != Verb::head)
      return write({.status = Status::method_not_allowed, .body = "only GET and HEAD\n"});
    const std::string target(request().target());
    const std::string path = target.substr(0, target.find('?'));
    if (path == "/metrics") return make(keep);
    if (path == "/") return write({.type = "text/html; charset=utf-8", .body = kLanding, .keep = keep});
    write({.status = Status::not_found, .body = "there is /metrics\n", .keep = keep});
  }

  void make(bool keep) {
    const auto deadline = deadline_of(header("X-Prometheus-Scrape-Timeout-Seconds"));
    const bool zipped = accepts_gzip(header("Accept-Encoding"));
    boost::asio::post(shared_.makers, [self = this->shared_from_this(), deadline, zipped, keep]() mutable {
      std::string text = self->shared_.expose(deadline);
      if (zipped) text = gzip(text);
      auto& io = self->shared_.io;
      boost::asio::post(io, [self = std::move(self), zipped, keep, text = std::move(text)]() mutable {
        self->write({.type = kExpositionType, .body = std::move(text), .keep = keep, .varies = true, .zipped = zipped});
      });
    });
  }

  void write(Answer answer) {
    const bool keep = answer.keep;
    response_ = {};
    response_.version(11);
    response_.result(answer.status);
    response_.set(Field::content_type, boost::beast::string_view(answer.type.data(), answer.type.size()));
    if (answer.varies) response_.set(Field::vary, "Accept-Encoding");
    if (answer.zipped) response_.set(Field::content_encoding, "gzip");
    if (answer.status == Status::unauthorized) response_.set(Field::www_authenticate, "Basic realm=\"nvstripe\"");
    if (answer.status == Status::service_unavailable) response_.set(Field::retry_after, "1");
    for (const auto& [name, value] : access_->config.headers) response_.set(name, value);
    response_.keep_alive(keep);
    const std::size_t size = answer.body.size();
    if (request().method() != Verb::head) response_.body() = std::move(answer.body);
    response_.content_length(size);
    expire_after(kWriteDeadline);
    boost::beast::http::async_write(stream_, response_, [self = this->shared_from_this(), keep](Code code, std::size_t) {
      if (code) return;
      if (keep) return self->read();
      self->close();
    });
  }

  // A plain stream is closed when the last of its callbacks is gone.
  void close() {
    if constexpr (kTls) {
      expire_after(kCloseDeadline);
      stream_.async_shutdown([self = this->shared_from_this()](Code) {});
    }
  }

  Scraping& shared_;
  const std::shared_ptr<const WebAccess> access_;
  const std::string address_;
  Stream stream_;
  boost::beast::flat_buffer buffer_{kMaxHeaderBytes * 2};
  std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
  boost::beast::http::response<boost::beast::http::string_body> response_;
};

}  // namespace nvstripe::uplink

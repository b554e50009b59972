// Owns the only Beast code of what is sent: asynchronous operations, each run to its end with a deadline. TLS is 1.2 or
// newer, and the certificate must be the host's.
#include "agent/uplink/poster.hpp"

#include <optional>
#include <utility>
#include <variant>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include "agent/base/text.hpp"

namespace nvstripe::uplink {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Code = boost::system::error_code;

constexpr std::uint64_t kMaxAnswer = 64 * 1024;  // what is longer is cut off; only its beginning is looked at
constexpr std::size_t kKeptBody = 4096;
constexpr std::uint32_t kMaxHeader = 16 * 1024;

Result<std::unique_ptr<ssl::context>> tls_context(const Credentials& credentials) {
  auto made = std::make_unique<ssl::context>(ssl::context::tls_client);
  const auto wrong = [](const std::string& what, const Code& code) {
    return fail(what + ": " + code.message(), "write PEM files, see docs/uplink.md", code);
  };
  Code code;
  made->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                        ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
                    code);
  if (code) return wrong("cannot set up TLS", code);
  made->set_verify_mode(ssl::verify_peer, code);
  if (code) return wrong("cannot set up TLS", code);
  if (credentials.ca.empty()) {
    made->set_default_verify_paths(code);
  } else {
    made->add_certificate_authority(asio::buffer(credentials.ca), code);
  }
  if (code) return wrong("cannot use the authorities that receivers are judged by ('upstream-ca.pem')", code);
  if (credentials.certificate.empty()) return made;
  made->use_certificate_chain(asio::buffer(credentials.certificate), code);
  if (code) return wrong("cannot use 'upstream-cert.pem'", code);
  made->use_private_key(asio::buffer(credentials.key), ssl::context::pem, code);
  if (code) return wrong("cannot use 'upstream-key.pem' with 'upstream-cert.pem'", code);
  return made;
}

}  // namespace

// One connection: plain, or TLS over it.
class Poster::Connection {
 public:
  Connection(const PosterOptions& options, std::unique_ptr<ssl::context> context, const std::atomic<bool>& aborted)
      : options_(options), aborted_(aborted), context_(std::move(context)) {
    if (context_) {
      tls_ = std::make_unique<beast::ssl_stream<beast::tcp_stream>>(io_, *context_);
    } else {
      plain_ = std::make_unique<beast::tcp_stream>(io_);
    }
  }

  Code open(std::string& doing) {
    tcp::resolver resolver(io_);
    tcp::resolver::results_type found;
    doing = "cannot resolve '" + options_.url.host + "'";
    Code code = run([&](auto done) {
      resolver.async_resolve(options_.url.host, std::to_string(options_.url.port),
                             [&found, done](Code result, tcp::resolver::results_type results) {
                               found = std::move(results);
                               done(result);
                             });
    });
    if (code) return code;
    doing = "cannot connect to '" + options_.url.authority() + "'";
    lowest().expires_after(options_.connect_deadline);
    code =
        run([&](auto done) { lowest().async_connect(found, [done](Code result, const tcp::endpoint&) { done(result); }); });
    if (code || !tls_) return code;
    doing = "TLS to '" + options_.url.authority() + "' fails";
    return handshake();
  }

  Code write(const http::request<http::string_body>& request) {
    lowest().expires_after(options_.answer_deadline);
    return run([&](auto done) {
      on_stream([&](auto& stream) { http::async_write(stream, request, [done](Code code, std::size_t) { done(code); }); });
    });
  }

  // A body that is too long does not make an answer void, one that is cut off does. Its length is seen with the header.
  // Interim answers (100, 103) are passed over: taken for the answer, each would leave the true one to the next request.
  Code read(std::optional<http::response_parser<http::string_body>>& parser) {
    Code code;
    do {
      parser.emplace();
      parser->header_limit(kMaxHeader);
      parser->body_limit(kMaxAnswer);
      code = run([&](auto done) {
        on_stream([&](auto& stream) {
          http::async_read(stream, buffer_, *parser, [done](Code result, std::size_t) { done(result); });
        });
      });
    } while (!code && parser->get().result_int() < 200);
    if (code || buffer_.size() != 0) usable_ = false;  // what follows an answer unasked belongs to no later request
    return code == http::error::body_limit ? Code() : code;
  }

  void stop() { io_.stop(); }
  [[nodiscard]] bool usable() const { return usable_; }
  [[nodiscard]] bool used() const { return used_; }
  void set_used(bool keep) {
    used_ = true;
    usable_ = usable_ && keep;
  }

 private:
  Code handshake() {
    const std::string& host = options_.url.host;
    tls_->set_verify_callback(ssl::host_name_verification(host));
    Code none;
    const bool numeric = !asio::ip::make_address(host, none).is_unspecified() && !none;
    if (!numeric && !SSL_set_tlsext_host_name(tls_->native_handle(), host.c_str())) return asio::error::invalid_argument;
    lowest().expires_after(options_.connect_deadline);
    return run([&](auto done) { tls_->async_handshake(ssl::stream_base::client, done); });
  }

  beast::tcp_stream& lowest() { return tls_ ? beast::get_lowest_layer(*tls_) : *plain_; }
  template <class Use>
  void on_stream(Use use) {
    if (tls_) {
      use(*tls_);
    } else {
      use(*plain_);
    }
  }

  // Starts one operation and runs it to its end; the streams' own deadlines end it.
  template <class Start>
  Code run(Start start) {
    std::optional<Code> result;
    io_.restart();
    if (aborted_) return asio::error::operation_aborted;  // after the restart, which would undo a stop
    start([&result](Code code) { result = code; });
    io_.run();
    return result.value_or(asio::error::operation_aborted);
  }

  const PosterOptions& options_;
  const std::atomic<bool>& aborted_;
  asio::io_context io_{1};
  std::unique_ptr<ssl::context> context_;
  std::unique_ptr<beast::ssl_stream<beast::tcp_stream>> tls_;
  std::unique_ptr<beast::tcp_stream> plain_;
  beast::flat_buffer buffer_;
  bool used_ = false, usable_ = true;
};

Poster::Poster(PosterOptions options) : options_(std::move(options)) {}
Poster::~Poster() = default;

void Poster::abort() {
  aborted_ = true;
  const std::lock_guard lock(mutex_);
  if (connection_) connection_->stop();
}

void Poster::drop_connection() {
  const std::lock_guard lock(mutex_);
  connection_.reset();
}

Result<> Poster::keep(Error wrong) {
  if (!have_credentials_) return tl::unexpected(std::move(wrong));
  if (options_.say && wrong.what != told_)
    options_.say("changed keys are not taken over, the old ones go on: " + wrong.what + "; " + wrong.remedy);
  told_ = wrong.what;
  return {};
}

// Takes over changed files. While they are being replaced one by one they may not fit each other: then those that did fit
// stay.
Result<> Poster::refresh() {
  auto read = read_credentials(options_.folders, options_.files);
  if (!read) return keep(std::move(read).error());
  if (have_credentials_ && *read == credentials_) {
    told_.clear();
    return {};
  }
  if (options_.url.tls) {
    auto context = tls_context(*read);
    if (!context) return keep(std::move(context).error());
  }
  told_.clear();
  credentials_ = std::move(*read);
  have_credentials_ = true;
  drop_connection();
  return {};
}

Posted Poster::exchange(const std::string& text, bool& stale) {
  std::string doing;
  if (!connection_) {
    std::unique_ptr<ssl::context> context;
    if (options_.url.tls) {
      auto made = tls_context(credentials_);
      if (!made) return {.error = made.error().what};
      context = std::move(*made);
    }
    auto fresh = std::make_unique<Connection>(options_, std::move(context), aborted_);
    {
      const std::lock_guard lock(mutex_);
      connection_ = std::move(fresh);
    }
    if (const Code code = connection_->open(doing)) return {.error = doing + ": " + code.message()};
  }
  http::request<http::string_body> request(http::verb::post, options_.url.target, 11);
  request.set(http::field::host, options_.url.authority());
  request.set(http::field::user_agent, "nvstripe-uplink/" NVSTRIPE_VERSION);
  request.set(http::field::content_type, options_.content_type);
  for (const auto& [name, value] : options_.headers) request.set(name, value);
  if (options_.url.tls && !credentials_.token.empty())
    request.set(http::field::authorization, "Bearer " + credentials_.token);
  request.body() = text;
  request.prepare_payload();
  std::optional<http::response_parser<http::string_body>> parser;
  Code code = connection_->write(request);
  if (!code) code = connection_->read(parser);
  stale = code && connection_->used() && (!parser || !parser->is_header_done()) && code != beast::error::timeout;
  if (code) return {.error = "no answer from '" + options_.url.authority() + "': " + code.message()};
  const auto& answer = parser->get();
  connection_->set_used(answer.keep_alive());
  return {.status = static_cast<int>(answer.result_int()),
          .retry_after = std::string(answer[http::field::retry_after]),
          .body = answer.body().substr(0, kKeptBody)};
}

Posted Poster::post(const std::string& text) {
  if (aborted_) return {.error = "ending"};
  if (const auto ready = refresh(); !ready) return {.error = ready.error().what + "; " + ready.error().remedy};
  bool stale = false;
  Posted posted = exchange(text, stale);
  if (posted.status == 0 || !connection_ || !connection_->usable()) drop_connection();
  if (!stale || aborted_) return posted;
  // The receiver had closed the kept connection meanwhile; should it have taken the text all the same, its id is the same.
  stale = false;
  posted = exchange(text, stale);
  if (posted.status == 0 || !connection_ || !connection_->usable()) drop_connection();
  return posted;
}

}  // namespace nvstripe::uplink

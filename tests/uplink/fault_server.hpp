// Owns a receiver on loopback that answers as told: any status, silence, resets, half bodies, with TLS or without.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

namespace nvstripe::uplink {

struct Heard {
  std::string head, body;
};

class FaultServer {
 public:
  // The bytes of the answer to each request; empty: the connection is closed without one.
  using Answer = std::function<std::string(const Heard&)>;

  // `pem`: certificate and key of the server; empty: no TLS. `client_ca`: what clients must show.
  explicit FaultServer(Answer answer, const std::string& pem = {}, const std::string& client_ca = {})
      : answer_(std::move(answer)), acceptor_(io_, {boost::asio::ip::make_address("127.0.0.1"), 0}) {
    namespace ssl = boost::asio::ssl;
    if (!pem.empty()) {
      context_ = std::make_unique<ssl::context>(ssl::context::tls_server);
      context_->use_certificate_chain(boost::asio::buffer(pem));
      context_->use_private_key(boost::asio::buffer(pem), ssl::context::pem);
      if (!client_ca.empty()) {
        context_->add_certificate_authority(boost::asio::buffer(client_ca));
        context_->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
      }
    }
    thread_ = std::thread([this] { serve(); });
  }
  ~FaultServer() {
    ended_ = true;
    boost::system::error_code code;
    boost::asio::ip::tcp::socket last(io_);  // wakes the accept
    (void)last.connect(acceptor_.local_endpoint(), code);
    thread_.join();
  }
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  [[nodiscard]] std::vector<Heard> heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }
  // Until so many requests were answered; a minute at most.
  [[nodiscard]] bool wait_for(std::size_t requests) const {
    std::unique_lock lock(mutex_);
    return answered_.wait_for(lock, std::chrono::minutes(1), [&] { return heard_.size() >= requests; });
  }
  [[nodiscard]] int connections() const { return connections_; }

  static std::string plain(int status, const std::string& more = {}, const std::string& body = {}) {
    return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + more + "Content-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }

 private:
  void serve() {
    std::vector<std::thread> talks;
    while (!ended_) {
      boost::system::error_code code;
      auto socket = std::make_shared<boost::asio::ip::tcp::socket>(io_);
      acceptor_.accept(*socket, code);
      if (ended_ || code) continue;
      ++connections_;
      {
        const std::lock_guard lock(mutex_);
        sockets_.push_back(socket);
      }
      talks.emplace_back([this, socket] { greet(*socket); });
    }
    {
      const std::lock_guard lock(mutex_);
      for (const auto& socket : sockets_) {
        boost::system::error_code code;
        (void)socket->shutdown(boost::asio::ip::tcp::socket::shutdown_both, code);
      }
    }
    for (std::thread& talk : talks) talk.join();
  }

  void greet(boost::asio::ip::tcp::socket& socket) {
    boost::system::error_code code;
    if (!context_) {
      talk(socket);
    } else {
      boost::asio::ssl::stream<boost::asio::ip::tcp::socket&> stream(socket, *context_);
      stream.handshake(boost::asio::ssl::stream_base::server, code);
      if (!code) talk(stream);
    }
    (void)socket.shutdown(boost::asio::ip::tcp::socket::shutdown_both, code);
  }

  template <class Stream>
  void talk(Stream& stream) {
    std::string buffered;
    boost::system::error_code code;
    while (!ended_) {
      const std::size_t head = boost::asio::read_until(stream, boost::asio::dynamic_buffer(buffered), "\r\n\r\n", code);
      if (code) return;
      Heard one{buffered.substr(0, head), {}};
      const auto at = one.head.find("Content-Length: ");
      const std::size_t size = at == std::string::npos ? 0 : std::stoul(one.head.substr(at + 16));
      if (buffered.size() < head + size) {
        boost::asio::read(stream, boost::asio::dynamic_buffer(buffered),
                          boost::asio::transfer_exactly(head + size - buffered.size()), code);
        if (code) return;
      }
      one.body = buffered.substr(head, size);
      buffered.erase(0, head + size);
      std::string answer;
      {
        const std::lock_guard lock(mutex_);
        answer = answer_(one);
        heard_.push_back(std::move(one));
        answered_.notify_all();
      }
      if (answer.empty()) return;
      boost::asio::write(stream, boost::asio::buffer(answer), code);
      if (code || answer.find("Connection: close") != std::string::npos) return;
    }
  }

  Answer answer_;
  boost::asio::io_context io_{1};
  boost::asio::ip::tcp::acceptor acceptor_;
  std::unique_ptr<boost::asio::ssl::context> context_;
  mutable std::mutex mutex_;
  mutable std::condition_variable answered_;
  std::vector<Heard> heard_;
  std::vector<std::shared_ptr<boost::asio::ip::tcp::socket>> sockets_;
  std::atomic<int> connections_{0};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace nvstripe::uplink

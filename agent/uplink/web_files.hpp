// Owns what the scrape endpoint serves by: the web config and the keys it names, read again whenever they changed.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/verify_context.hpp>

#include "agent/uplink/web_config.hpp"

namespace nvstripe::uplink {

// One version of the files; never changed once it is made.
struct WebAccess {
  WebConfig config;
  std::unique_ptr<boost::asio::ssl::context> tls;  // none: plain HTTP
};

class WebFiles {
 public:
  using Say = std::function<void(const std::string&)>;  // a line for the journal; called from any thread
  WebFiles(std::string path, Say say) : path_(std::move(path)), say_(std::move(say)) {}

  // The newest version that can be used. One that cannot is told of once and the last good one stays; an error says that
  // there never was a good one. Safe to call from several threads.
  [[nodiscard]] Result<std::shared_ptr<const WebAccess>> current();

 private:
  void tell(const std::string& text);

  const std::string path_;
  const Say say_;
  std::mutex mutex_;
  std::string told_;
  std::vector<std::string> contents_;  // of what access_ was made of
  std::shared_ptr<const WebAccess> access_;
};

// Whether a client's certificate may be taken, as OpenSSL asks it for each certificate of the chain.
[[nodiscard]] bool client_may_enter(const WebTls& tls, bool verified, boost::asio::ssl::verify_context& chain);

}  // namespace nvstripe::uplink

// Owns HTTP to a receiver: POST over TLS or not, one connection kept open, each request bounded in time and answer. A
// redirect is never followed and no proxy is asked.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/base/url.hpp"
#include "agent/uplink/credentials.hpp"
#include "agent/uplink/delivery.hpp"

namespace nvstripe::uplink {

struct PosterOptions {
  Url url;
  std::string content_type;
  std::vector<std::pair<std::string, std::string>> headers;  // more of them
  std::vector<std::string> folders = credential_folders();   // of keys and tokens
  CredentialFiles files;
  std::function<void(const std::string&)> say = {};  // a line for the journal: changed files that cannot be used
  std::chrono::milliseconds connect_deadline{10'000}, answer_deadline{30'000};
};

class Poster final : public Receiver {
 public:
  explicit Poster(PosterOptions options);
  ~Poster() override;
  Poster(const Poster&) = delete;
  Poster& operator=(const Poster&) = delete;
  // Blocks, at most the sum of the deadlines, twice where a kept connection turns out to be dead.
  [[nodiscard]] Posted post(const std::string& text) override;
  // From another thread: lets a request under way end at once, and all later ones.
  void abort();

 private:
  class Connection;
  [[nodiscard]] Result<> refresh();
  [[nodiscard]] Posted exchange(const std::string& text, bool& stale);

  PosterOptions options_;
  Credentials credentials_;
  bool have_credentials_ = false;
  std::string told_;
  void drop_connection();
  // Goes on with the credentials that were good, and says why; an error where there are none yet.
  [[nodiscard]] Result<> keep(Error wrong);

  std::mutex mutex_;  // of the pointer, which abort() uses from another thread
  std::unique_ptr<Connection> connection_;
  std::atomic<bool> aborted_{false};
};

}  // namespace nvstripe::uplink

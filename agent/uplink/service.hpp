// Owns the life of the uplink: it follows the spec's address, serves there, and ends when told.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "agent/uplink/core.hpp"
#include "agent/uplink/scrape_server.hpp"

namespace nvstripe::uplink {

// One look at what is wanted; called every few seconds.
class Service {
 public:
  using Say = std::function<void(const std::string&)>;  // a line for the journal
  Service(std::string socket, Say say) : socket_(std::move(socket)), say_(std::move(say)) {}
  // Follows a change of address; an address that cannot be had is tried again. While the core does not answer, all stays.
  void follow();
  [[nodiscard]] const ScrapeServer* server() const { return server_.get(); }

 private:
  void serve(const Endpoint& endpoint);
  void tell(const std::string& text);  // once, until something else is to be told

  std::string socket_;
  Say say_;
  std::string told_;
  std::optional<Listening> listening_;  // what is served now; none: not known, or it could not be had
  std::unique_ptr<ScrapeServer> server_;
};

}  // namespace nvstripe::uplink

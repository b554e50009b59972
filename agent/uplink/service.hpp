// Owns the life of the uplink: it follows the spec, serves and sends as that says, and ends when told.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "agent/uplink/core.hpp"
#include "agent/uplink/event_sink.hpp"
#include "agent/uplink/push_sink.hpp"
#include "agent/uplink/scrape_server.hpp"

namespace nvstripe::uplink {

// One look at what is wanted; called every few seconds.
class Service {
 public:
  using Say = std::function<void(const std::string&)>;  // a line for the journal
  Service(std::string socket, Say say, OtlpSettings otlp = {});
  // Follows a change of the spec; an address that cannot be had is tried again. While the core does not answer, all stays.
  void follow();
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  [[nodiscard]] const ScrapeServer* server() const { return server_.get(); }

 private:
  void follow_listen(const std::optional<Endpoint>& wanted, const std::string& web_config);
  void follow_events(const std::optional<Url>& wanted);
  void follow_push(PushKind kind, std::optional<PushWanted> wanted);
  void serve(const Endpoint& endpoint);
  void tell(const std::string& text);  // once, until something else is to be told

  std::string socket_;
  Say say_;
  std::string told_;
  bool listening_known_ = false;  // listening_ is as wanted
  std::optional<Endpoint> listening_;
  std::string web_config_;           // its path
  std::shared_ptr<WebFiles> files_;  // of web_config_, where it is set
  std::optional<Url> sending_;
  std::atomic<bool> sends_events_{false};  // asked by the threads that answer scrapes
  struct Push {
    explicit Push(std::string name) : figures(std::move(name)) {}
    std::optional<PushWanted> wanted;
    std::atomic<bool> on{false};
    SinkFigures figures;
    std::unique_ptr<PushSink> sink;
  };
  [[nodiscard]] SampleSet samples(std::chrono::milliseconds deadline) const;

  OtlpSettings otlp_;
  SinkFigures event_figures_{"events", false};
  Push otlp_push_{"metrics"}, remote_write_push_{"remote_write"};
  std::unique_ptr<EventSink> events_;
  std::unique_ptr<ScrapeServer> server_;  // ends first: it shows the figures
};

}  // namespace nvstripe::uplink

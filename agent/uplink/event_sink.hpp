// Owns the threads that deliver events: one a stream, so that the end of a job never waits behind bulk.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/base/url.hpp"
#include "agent/uplink/poster.hpp"
#include "agent/uplink/sink_figures.hpp"

namespace nvstripe::uplink {

struct EventSinkOptions {
  std::string socket;  // of the agent
  Url url;
  std::vector<std::string> folders = credential_folders();
  std::function<void(const std::string&)> say;  // a line for the journal
  // At first each stream waits up to so long, so that machines that start together do not speak together.
  std::chrono::milliseconds start_spread{3'000};
};

class EventSink {
 public:
  EventSink(EventSinkOptions options, SinkFigures& figures);
  ~EventSink();  // a request under way is cut off: should it have arrived, its event's id is the same the next time
  EventSink(const EventSink&) = delete;
  EventSink& operator=(const EventSink&) = delete;

 private:
  struct Stream {
    std::string name, told;
    std::unique_ptr<Poster> poster;
    std::thread thread;
  };
  void deliver(Stream& stream);
  [[nodiscard]] bool pause(std::chrono::milliseconds time);  // false: the end
  void tell(Stream& stream, const std::string& text) const;

  EventSinkOptions options_;
  SinkFigures& figures_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::vector<Stream> streams_;
};

}  // namespace nvstripe::uplink

// Owns the thread that pushes metrics to one sink: OTLP/HTTP or Prometheus remote write.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "agent/telemetry/sample.hpp"
#include "agent/uplink/core.hpp"
#include "agent/uplink/metrics_push.hpp"
#include "agent/uplink/otlp_settings.hpp"
#include "agent/uplink/poster.hpp"

namespace nvstripe::uplink {

enum class PushKind { otlp, remote_write };

struct PushSinkOptions {
  PushKind kind = PushKind::otlp;
  Url url;
  std::chrono::milliseconds every{15'000};
  OtlpSettings otlp;                   // of OTLP only
  std::function<SampleSet()> samples;  // may take seconds
  std::function<Sender()> sender;
  std::vector<std::string> folders = credential_folders();
  std::function<void(const std::string&)> say;  // a line for the journal
};

class PushSink {
 public:
  PushSink(PushSinkOptions options, SinkFigures& figures);
  ~PushSink();  // what is kept of metrics is lost with it
  PushSink(const PushSink&) = delete;
  PushSink& operator=(const PushSink&) = delete;

 private:
  void push();
  [[nodiscard]] std::string body();
  void look_at(const Posted& posted);
  void tell(const std::string& text);

  PushSinkOptions options_;
  SinkFigures& figures_;
  const std::uint64_t started_ns_;
  std::string told_;
  Poster poster_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace nvstripe::uplink

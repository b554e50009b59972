// Owns what differs between the two kinds: the body, the headers, and what an answer says.
#include "agent/uplink/push_sink.hpp"

#include <chrono>
#include <random>

#include "agent/telemetry/otlp.hpp"
#include "agent/telemetry/remote_write.hpp"
#include "agent/uplink/compression.hpp"
#include "agent/uplink/counted.hpp"

namespace nvstripe::uplink {
namespace {

std::uint64_t nanoseconds_since_1970() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count());
}

PosterOptions poster_options(const PushSinkOptions& options) {
  PosterOptions made;
  made.url = options.url;
  made.folders = options.folders;
  made.say = options.say;
  made.content_type = "application/x-protobuf";
  if (options.kind == PushKind::remote_write) {
    made.headers = {{"Content-Encoding", "snappy"}, {"X-Prometheus-Remote-Write-Version", "0.1.0"}};
    return made;
  }
  made.headers = options.otlp.headers;
  if (options.otlp.gzip) made.headers.emplace_back("Content-Encoding", "gzip");
  made.answer_deadline = options.otlp.timeout;
  made.files = options.otlp.files;
  return made;
}

std::vector<std::pair<std::string, std::string>> resource_of(const OtlpSettings& settings, const Sender& sender) {
  std::vector<std::pair<std::string, std::string>> out{
      {"service.name", settings.service_name}, {"service.version", NVSTRIPE_VERSION}, {"host.name", sender.hostname}};
  if (!sender.instance.empty()) out.emplace_back("service.instance.id", sender.instance);
  if (!sender.provider.empty()) out.emplace_back("cloud.provider", sender.provider);
  for (const auto& given : settings.attributes) {
    std::erase_if(out, [&](const auto& own) { return own.first == given.first; });
    out.push_back(given);
  }
  return out;
}

}  // namespace

PushSink::PushSink(PushSinkOptions options, SinkFigures& figures)
    : options_(std::move(options)),
      figures_(figures),
      started_ns_(nanoseconds_since_1970()),
      poster_(poster_options(options_)) {
  thread_ = std::thread([this] { push(); });
}

PushSink::~PushSink() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  poster_.abort();
  thread_.join();
}

std::string PushSink::body() {
  const std::uint64_t now = nanoseconds_since_1970();
  const SampleSet samples = options_.samples();
  const Sender sender = options_.sender();
  if (options_.kind == PushKind::remote_write) {
    const std::string made =
        remote_write::write_request(samples, "nvstripe", sender.hostname.empty() ? "unknown" : sender.hostname,
                                    static_cast<std::int64_t>(now / 1'000'000));
    return made.empty() ? made : snappy_block(made);
  }
  const std::string made =
      otlp::metrics_request(samples, {resource_of(options_.otlp, sender), NVSTRIPE_VERSION, now, started_ns_});
  return made.empty() || !options_.otlp.gzip ? made : gzip(made);
}

// OTLP: an answer of 200 may say that some points were not taken; they are never sent again.
void PushSink::look_at(const Posted& posted) {
  if (options_.kind != PushKind::otlp) return;
  const auto partial = otlp::read_response(posted.body);
  if (!partial || partial->rejected <= 0) return;
  figures_.count_rejected(static_cast<double>(partial->rejected));
  tell(std::to_string(partial->rejected) + " points were not taken: " + partial->message);
}

void PushSink::tell(const std::string& text) {
  const std::string name = options_.kind == PushKind::otlp ? "metrics" : "remote_write";
  if (text != told_) options_.say(name + ": " + (text.empty() ? "pushed again" : text));
  told_ = text;
}

void PushSink::push() {
  std::mt19937_64 random(std::random_device{}());
  Counted receiver(poster_, figures_);
  const auto begun = std::chrono::steady_clock::now();
  MetricsPush push(options_.every,
                   {[this] { return body(); }, receiver, options_.kind == PushKind::otlp ? judge_otlp : judge_remote_write,
                    [this](const Posted& posted) { look_at(posted); },
                    [&random] { return std::uniform_real_distribution<double>(0, 1)(random); },
                    [] { return static_cast<std::int64_t>(nanoseconds_since_1970() / 1'000'000'000); },
                    [this](const std::string& text) { tell(text); }, figures_});
  const auto elapsed = [&] {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
  };
  std::unique_lock lock(mutex_);
  while (!ended_) {
    lock.unlock();
    const auto next = push.step(elapsed());
    lock.lock();
    ending_.wait_for(lock, next, [this] { return ended_; });
  }
}

}  // namespace nvstripe::uplink

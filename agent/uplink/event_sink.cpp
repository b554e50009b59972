// Owns the pace of the threads; what is sent when lies in delivery.cpp.
#include "agent/uplink/event_sink.hpp"

#include <chrono>
#include <random>

#include "agent/model/event.hpp"
#include "agent/uplink/counted.hpp"
#include "agent/uplink/outbox_client.hpp"

namespace nvstripe::uplink {
namespace {

double seconds_since_1970() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

EventSink::EventSink(EventSinkOptions options, SinkFigures& figures) : options_(std::move(options)), figures_(figures) {
  streams_.reserve(kStreams.size());
  for (const std::string_view name : kStreams) {
    PosterOptions poster;
    poster.url = options_.url;
    poster.content_type = std::string(kCloudEventType);
    poster.folders = options_.folders;
    poster.say = options_.say;
    streams_.push_back({std::string(name), {}, std::make_unique<Poster>(std::move(poster)), {}});
  }
  for (Stream& stream : streams_) stream.thread = std::thread([this, &stream] { deliver(stream); });
}

EventSink::~EventSink() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ending_.notify_all();
  for (Stream& stream : streams_) stream.poster->abort();
  for (Stream& stream : streams_) stream.thread.join();
}

bool EventSink::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  return !ending_.wait_for(lock, time, [this] { return ended_; });
}

void EventSink::tell(Stream& stream, const std::string& text) const {
  if (text != stream.told) options_.say(text.empty() ? "events are delivered again" : text);
  stream.told = text;
}

void EventSink::deliver(Stream& stream) {
  std::mt19937_64 random(std::random_device{}());
  const auto draw = [&random] { return std::uniform_real_distribution<double>(0, 1)(random); };
  OutboxClient outbox(options_.socket);
  Counted receiver(*stream.poster, figures_);
  Delivery delivery(stream.name, {outbox, receiver, draw, [] { return static_cast<std::int64_t>(seconds_since_1970()); },
                                  [this, &stream](const std::string& text) { tell(stream, text); }});
  auto next =
      std::chrono::milliseconds(static_cast<std::int64_t>(draw() * static_cast<double>(options_.start_spread.count())));
  while (pause(next)) {
    next = delivery.step();
    figures_.set_backoff(stream.name, delivery.failing() ? std::chrono::duration<double>(next).count() : 0);
  }
}

}  // namespace nvstripe::uplink

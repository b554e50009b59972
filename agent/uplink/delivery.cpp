// Owns the order of things: deliver, acknowledge, pull. A crash at any point sends an event twice and never loses one; its
// id is the same both times.
#include "agent/uplink/delivery.hpp"

#include <algorithm>

#include "agent/base/text.hpp"

namespace nvstripe::uplink {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kIdle{1'000};       // between questions to an agent that has nothing to send
constexpr milliseconds kCorePause{2'000};  // while the agent does not answer
constexpr milliseconds kGonePause = std::chrono::hours(1);
constexpr unsigned kAcknowledgeEach = 20;  // an acknowledgement is a commit of the agent; so many come twice after a crash
// A receiver that is broken may answer 400 to everything. A refusal is believed when the receiver took something else since
// the last one, or after so many tries, about forty minutes; then one event is set aside, and doubt begins anew.
constexpr unsigned kDoubts = 24;
// After trouble a backlog starts slowly and gets faster, as the receiver may have a fleet of others to hear.
constexpr double kSlowestPaceMs = 500, kFaster = 0.9, kFullPaceMs = 1;
constexpr std::size_t kMaxReason = 300;

std::string words_of(const Posted& posted) {
  if (posted.status == 0) return posted.error;
  std::string out = "status " + std::to_string(posted.status);
  const std::string_view body = trim(posted.body);
  if (!body.empty()) out += ": " + printable(body.substr(0, kMaxReason));
  return out;
}

}  // namespace

void Delivery::forget() {
  batch_.clear();
  delivered_.reset();
  unacknowledged_ = 0;
}

// True when nothing that arrived waits for its acknowledgement.
bool Delivery::settle() {
  if (!delivered_) return true;
  const auto done = parts_.outbox.acknowledge(stream_, *delivered_);
  if (!done && done.error().cause != std::make_error_code(std::errc::invalid_argument)) {
    parts_.tell(done.error().what);
    return false;
  }
  if (!done) forget();
  delivered_.reset();
  unacknowledged_ = 0;
  return true;
}

bool Delivery::pull() {
  auto pulled = parts_.outbox.pull(stream_);
  if (!pulled) {
    parts_.tell(pulled.error().what);
    return false;
  }
  batch_.assign(std::make_move_iterator(pulled->begin()), std::make_move_iterator(pulled->end()));
  return true;
}

milliseconds Delivery::step() {
  if ((batch_.empty() || unacknowledged_ >= kAcknowledgeEach) && !settle()) return kCorePause;
  if (batch_.empty() && !pull()) return kCorePause;
  if (batch_.empty()) return kIdle;
  const Posted posted = parts_.receiver.post(batch_.front().text);
  switch (judge_event(posted.status)) {
    case Verdict::accepted:
      return on_accepted();
    case Verdict::refused:
      return on_refused(posted);
    case Verdict::gone:
      (void)settle();
      ++tries_;
      parts_.tell("the receiver of events is gone for good (" + words_of(posted) + ")");
      return kGonePause;
    case Verdict::again:
      break;
  }
  return on_failed(posted);
}

milliseconds Delivery::on_accepted() {
  if (tries_ > 0) parts_.tell({});
  tries_ = doubts_ = 0;
  trusted_ = true;
  delivered_ = std::move(batch_.front());
  batch_.pop_front();
  // One that was sent again is acknowledged by itself: it lies beside the order of the others.
  unacknowledged_ = delivered_->again ? kAcknowledgeEach : unacknowledged_ + 1;
  if ((batch_.empty() || unacknowledged_ >= kAcknowledgeEach) && !settle()) return kCorePause;
  pace_ms_ = pace_ms_ * kFaster < kFullPaceMs ? 0 : pace_ms_ * kFaster;
  return milliseconds(static_cast<std::int64_t>(pace_ms_));
}

milliseconds Delivery::on_refused(const Posted& posted) {
  // One that was sent again lies aside already: to believe its refusal loses nothing, and doubt would keep all others
  // waiting.
  if (!batch_.front().again && !trusted_ && ++doubts_ < kDoubts) return on_failed(posted);
  if (!settle()) return kCorePause;
  if (batch_.empty()) return milliseconds(0);  // the agent's outbox is another one now
  if (const auto done = parts_.outbox.refuse(stream_, batch_.front(), words_of(posted)); !done) {
    if (done.error().cause == std::make_error_code(std::errc::invalid_argument)) forget();
    parts_.tell(done.error().what);
    return kCorePause;
  }
  parts_.tell("the receiver refused an event for good (" + words_of(posted) + "); 'nvstripe events --dead' shows it");
  trusted_ = false;
  doubts_ = tries_ = 0;
  batch_.pop_front();
  return milliseconds(static_cast<std::int64_t>(pace_ms_));
}

milliseconds Delivery::on_failed(const Posted& posted) {
  (void)settle();  // tried again before the next event
  parts_.tell("cannot deliver events: " + words_of(posted));
  pace_ms_ = kSlowestPaceMs;
  const auto asked = parse_retry_after(posted.retry_after, parts_.now());
  return pause_before_retry(tries_++, parts_.draw(), asked);
}

}  // namespace nvstripe::uplink

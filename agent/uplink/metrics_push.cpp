// Owns the two schedules of a sink, taking and sending. Batches go in order of time: receivers refuse older samples after
// newer.
#include "agent/uplink/metrics_push.hpp"

#include <algorithm>

#include "agent/base/text.hpp"

namespace nvstripe::uplink {
namespace {

using std::chrono::milliseconds;

constexpr int kCatchUp = 20;  // a backlog goes out at most so many times faster than it came
constexpr std::size_t kMaxReason = 300;

std::string words_of(const Posted& posted) {
  if (posted.status == 0) return posted.error;
  return "status " + std::to_string(posted.status) + ": " + printable(trim(posted.body).substr(0, kMaxReason));
}

}  // namespace

void MetricsPush::drop_oldest() {
  bytes_ -= batches_.front().size();
  batches_.pop_front();
}

void MetricsPush::take(milliseconds now) {
  // The first one comes anywhere within the interval, so that machines that start together do not speak together.
  if (next_take_.count() < 0) {
    next_take_ = now + milliseconds(static_cast<std::int64_t>(parts_.draw() * static_cast<double>(every_.count())));
    return;
  }
  if (now < next_take_) return;
  next_take_ = std::max(next_take_ + every_, now + every_ / 2);  // what a stop of the machine left out is not made up for
  std::string body = parts_.take();
  if (body.empty()) return;
  bytes_ += body.size();
  batches_.push_back(std::move(body));
  while (batches_.size() > kMaxBatches || (bytes_ > kMaxBatchBytes && batches_.size() > 1)) {
    drop_oldest();
    parts_.figures.count_dropped(1);
  }
}

void MetricsPush::send(milliseconds now) {
  if (batches_.empty() || now < next_send_) return;
  const Posted posted = parts_.receiver.post(batches_.front());
  const Verdict verdict = parts_.judge(posted.status);
  if (verdict == Verdict::again) {
    parts_.tell("cannot push: " + words_of(posted));
    behind_ = true;
    next_send_ = now + pause_before_retry(tries_++, parts_.draw(), parse_retry_after(posted.retry_after, parts_.now()));
    return;
  }
  if (verdict == Verdict::accepted) {
    parts_.accepted(posted);
    if (tries_ > 0) parts_.tell({});
  } else {
    parts_.figures.count_dropped(1);
    parts_.tell("a batch was refused: " + words_of(posted));
  }
  tries_ = 0;
  drop_oldest();
  behind_ = behind_ && !batches_.empty();
  next_send_ = behind_ ? now + every_ / kCatchUp : now;
}

milliseconds MetricsPush::step(milliseconds now) {
  take(now);
  send(now);
  parts_.figures.set_backoff("metrics", tries_ == 0 ? 0 : std::chrono::duration<double>(next_send_ - now).count());
  const milliseconds next = batches_.empty() ? next_take_ : std::min(next_take_, next_send_);
  return std::max(next - now, milliseconds(1));
}

}  // namespace nvstripe::uplink

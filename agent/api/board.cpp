// Owns the exchange between the engine and the API. Holds its lock only to copy or move values.
#include "agent/api/board.hpp"

#include <algorithm>
#include <utility>

namespace nvstripe::api {

void Board::publish(Snapshot snapshot) {
  const std::lock_guard lock(mutex_);
  snapshot.serial = next_serial_++;
  snapshot_ = std::make_shared<const Snapshot>(std::move(snapshot));
}

void Board::set_activity(std::string sentence, std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  activity_ = Activity{std::move(sentence), now_ms};
}

std::optional<Request> Board::take() {
  const std::lock_guard lock(mutex_);
  if (queue_.empty()) return std::nullopt;
  auto next = std::find_if(queue_.begin(), queue_.end(), [](const Request& waiting) { return waiting.verb != Verb::plan; });
  if (next == queue_.end()) next = queue_.begin();
  Request request = std::move(*next);
  queue_.erase(next);
  progress_[request.id].state = Progress::State::running;
  return request;
}

bool Board::has_requests() const {
  const std::lock_guard lock(mutex_);
  return !queue_.empty();
}

void Board::begin_line(std::uint64_t id, const std::string& action_id, const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  Progress& progress = progress_[id];
  progress.lines.push_back(ActionOutcome{action_id, sentence, {}, {}});
  progress.last_line_open = true;
}

void Board::end_line(std::uint64_t id, const ActionOutcome& outcome) {
  const std::lock_guard lock(mutex_);
  Progress& progress = progress_[id];
  if (progress.last_line_open)
    progress.lines.back() = outcome;
  else
    progress.lines.push_back(outcome);
  progress.last_line_open = false;
}

void Board::finish(std::uint64_t id, std::vector<ActionOutcome> outcomes, std::string error, std::string remedy,
                   std::string answer) {
  const std::lock_guard lock(mutex_);
  Progress& progress = progress_[id];
  progress.state = error.empty() ? Progress::State::done : Progress::State::failed;
  progress.lines = std::move(outcomes);
  progress.last_line_open = false;
  progress.error = std::move(error);
  progress.remedy = std::move(remedy);
  progress.answer = std::move(answer);
  while (progress_.size() > kMaxRemembered) {
    const auto oldest = progress_.begin();
    if (oldest->second.state == Progress::State::queued || oldest->second.state == Progress::State::running) break;
    progress_.erase(oldest);
  }
}

void Board::beat(std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  beat_ms_ = now_ms;
}

void Board::set_wake(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

std::shared_ptr<const Snapshot> Board::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

Activity Board::activity() const {
  const std::lock_guard lock(mutex_);
  return activity_;
}

Result<std::uint64_t> Board::submit(Verb verb, std::string argument) {
  std::function<void()> wake;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto alike = std::count_if(queue_.begin(), queue_.end(), [&](const Request& waiting) {
      return (waiting.verb == Verb::plan) == (verb == Verb::plan);
    });
    if (static_cast<std::size_t>(alike) >= kMaxQueued)
      return fail("cannot take the request: " + std::to_string(kMaxQueued) + " others wait already",
                  "wait until they are done; 'nvstripe status' says what the agent is at");
    id = next_id_++;
    progress_[id] = Progress{};
    queue_.push_back(Request{id, verb, std::move(argument)});
    wake = wake_;
  }
  if (wake) wake();
  return id;
}

std::optional<Progress> Board::progress(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = progress_.find(id);
  if (found == progress_.end()) return std::nullopt;
  return found->second;
}

std::int64_t Board::last_beat_ms() const {
  const std::lock_guard lock(mutex_);
  return beat_ms_;
}

}  // namespace nvstripe::api

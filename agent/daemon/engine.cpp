// Owns the timing of the loop. A change is acted on after it has been quiet for a moment; without a change the slow drift
// timer is all that wakes it, beside a pulse that reads a few small files.
#include "agent/daemon/engine.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include <boost/json.hpp>

#include "agent/model/event.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::daemon {
namespace {

constexpr std::int64_t kCoalesceMs = 200;         // uevents of one hotplug come within tens of milliseconds
constexpr std::int64_t kSwarmMs = 1'000;          // between passes that found nothing to do, however many events come
constexpr std::int64_t kSettleMs = 500;           // an editor or cloud-init writes a file within this
constexpr std::int64_t kSettleLongestMs = 5'000;  // a file that never rests is read anyway
constexpr std::int64_t kDriftMs = 60'000;         // what no event tells of is noticed after a minute
constexpr std::int64_t kPulseMs = 5'000;          // nvme sends no uevent when a controller loses its connection (6.1)
constexpr std::int64_t kLookRetryMs = 10'000;     // after a pass that could not run at all

void empty_eventfd(int fd) {
  std::uint64_t count = 0;
  (void)!::read(fd, &count, sizeof count);  // non-blocking; empty is fine
}

bool empty_inotify(int fd) {
  alignas(inotify_event) char buffer[8192];
  bool any = false;
  while (::read(fd, buffer, sizeof buffer) > 0) any = true;
  return any;
}

}  // namespace

// Every look and step is a sign of life for the watchdog.
class Engine::WatchedWorld final : public World {
 public:
  explicit WatchedWorld(const EngineParts& parts) : parts_(parts) {}
  Inventory look(const Spec& spec, FacetSet wanted) override {
    parts_.board.beat(parts_.now_ms());
    last_ = parts_.world.look(spec, wanted);
    return last_;
  }
  [[nodiscard]] const Inventory& last_look() const { return last_; }
  void begin_action(const Action& action) override { parts_.world.begin_action(action); }
  void end_action() override { parts_.world.end_action(); }
  Result<> perform(const Step& step) override {
    parts_.board.beat(parts_.now_ms());
    return parts_.world.perform(step);
  }

 private:
  const EngineParts& parts_;
  Inventory last_;
};

Engine::Engine(EngineParts parts)
    : parts_(std::move(parts)), world_(std::make_shared<WatchedWorld>(parts_)), reconciler_(*world_, parts_.store) {
  parts_.specs.restore();
  if (parts_.watch_specs) parts_.watch_specs();
  refresh_spec(false);
}

void Engine::stop() {
  stopping_ = true;
  const std::uint64_t one = 1;
  if (parts_.wake_fd >= 0) (void)!::write(parts_.wake_fd, &one, sizeof one);  // full: it is awake already
}

void Engine::run() {
  while (!stopping_) {
    turn();
    if (!stopping_) wait();
  }
}

void Engine::turn() {
  parts_.board.beat(parts_.now_ms());
  while (!stopping_) {
    const auto request = parts_.board.take();
    if (!request) break;
    serve(*request);
    // Everybody may ask for plans: one a turn, so that callers who never stop keep nobody from passes and root's requests.
    if (request->verb == api::Verb::plan) break;
  }
  if (stopping_) return;
  const std::int64_t now = parts_.now_ms();
  if (settle_due_ms_ >= 0 && (now >= settle_due_ms_ || now >= settle_latest_ms_)) {
    settle_due_ms_ = -1;
    refresh_spec(false);
  }
  if (now >= pulse_due_ms_) {
    pulse_due_ms_ = now + kPulseMs;
    std::string pulse = parts_.pulse ? parts_.pulse() : std::string();
    if (pulse != pulse_) pass_due_ms_ = std::min(pass_due_ms_, now);
    pulse_ = std::move(pulse);
  }
  if (now >= drift_due_ms_) refresh_spec(false);  // a watch can be missed: folders made later, overlays
  if (now >= pass_due_ms_ || now >= drift_due_ms_ || now >= retry_due_ms()) pass({}, 0);
}

// When a failed action may be tried again, at least a moment after the last pass.
std::int64_t Engine::retry_due_ms() const {
  const auto next_try = reconciler_.next_try_ms();
  return next_try ? std::max(*next_try, passed_ms_ + kSwarmMs) : std::numeric_limits<std::int64_t>::max();
}

std::int64_t Engine::timeout_ms() const {
  if (parts_.board.has_requests()) return 0;
  std::int64_t due = std::min({pass_due_ms_, drift_due_ms_, pulse_due_ms_});
  if (settle_due_ms_ >= 0) due = std::min({due, settle_due_ms_, settle_latest_ms_});
  due = std::min(due, retry_due_ms());
  return std::clamp<std::int64_t>(due - parts_.now_ms(), 0, kDriftMs);
}

void Engine::wait() {
  std::vector<pollfd> waiting{{parts_.wake_fd, POLLIN, 0}, {parts_.spec_fd, POLLIN, 0}};
  for (const ChangeSource& source : parts_.sources) waiting.push_back({source.fd, source.events, 0});
  if (::poll(waiting.data(), waiting.size(), static_cast<int>(timeout_ms())) <= 0) return;
  std::vector<short> revents;
  for (const pollfd& entry : waiting) revents.push_back(entry.revents);
  read_sources(revents);
}

void Engine::read_sources(const std::vector<short>& revents) {
  const std::int64_t now = parts_.now_ms();
  if (revents[0] != 0) {  // requests are taken by the next turn; a target view may have changed as well
    empty_eventfd(parts_.wake_fd);
    want_pass(now);
  }
  if (revents[1] != 0 && empty_inotify(parts_.spec_fd)) {
    if (settle_due_ms_ < 0) settle_latest_ms_ = now + kSettleLongestMs;
    settle_due_ms_ = now + kSettleMs;
  }
  for (std::size_t i = 0; i < parts_.sources.size(); ++i)
    if (revents[i + 2] != 0 && parts_.sources[i].drain()) want_pass(now);
}

void Engine::want_pass(std::int64_t now) {
  pass_due_ms_ = std::min(pass_due_ms_, std::max(now + kCoalesceMs, not_before_ms_));
}

void Engine::refresh_spec(bool confirmed) {
  const auto outcome = parts_.specs.refresh(confirmed);
  if (parts_.watch_specs) parts_.watch_specs();
  if (outcome == SpecSource::Outcome::unchanged) return;
  const api::SpecState& state = parts_.specs.state();
  boost::json::object data;
  EventDraft event;
  event.subject = "spec";
  if (outcome == SpecSource::Outcome::loaded) {
    event.type = event::kSpecLoaded;
    data["files"] = state.files.size();
    data["exports"] = state.spec.exports.size();
    data["connections"] = state.spec.connections.size();
    data["volumes"] = state.spec.volumes.size();
    ready_told_ = false;
  } else {
    event.type = event::kSpecRejected;
    data["errors"] = state.problem;
  }
  event.data = json::text(data);
  if (const auto written = parts_.store.write({}, {event}); !written) pass_error_ = written.error().what;
  pass_due_ms_ = std::min(pass_due_ms_, parts_.now_ms());
  publish();
}

void Engine::pass(const Permission& permission, std::uint64_t request) {
  const std::int64_t now = parts_.now_ms();
  pass_due_ms_ = drift_due_ms_ = now + kDriftMs;
  // Without any spec there is nothing to act on: an empty one would read as "nothing is wanted any more" (law 9).
  if (parts_.specs.state().loaded.empty()) return look_only();
  const auto progress = [this, request](const Action& action, const ActionOutcome* outcome) {
    show_progress(action, outcome, request);
  };
  const auto began = std::chrono::steady_clock::now();
  auto report = reconciler_.pass(parts_.specs.state().spec, permission, now, progress);
  if (parts_.tally != nullptr) parts_.tally->passed(std::chrono::steady_clock::now() - began, report ? &*report : nullptr);
  parts_.board.set_activity({}, parts_.now_ms());
  if (report) {
    report_ = std::move(*report);
    pass_error_.clear();
    // Two idle passes may be one hotplug; the third within a second is somebody's storm of events.
    idle_passes_ = report_.outcomes.empty() ? idle_passes_ + 1 : 0;
    if (now - passed_ms_ > 5 * kSwarmMs) idle_passes_ = 0;
    passed_ms_ = parts_.now_ms();
    not_before_ms_ = idle_passes_ > 2 ? passed_ms_ + kSwarmMs : 0;
    looked_ = true;
    taken_ = parts_.now_text();
  } else {
    pass_error_ = report.error().what;
    drift_due_ms_ = now + kLookRetryMs;
  }
  publish();
  tell_ready();
}

// What readers see while a pass works: the newest look, and no waiting for what is being done.
void Engine::show_progress(const Action& action, const ActionOutcome* outcome, std::uint64_t request) {
  if (outcome != nullptr) {
    if (parts_.tally != nullptr) parts_.tally->acted(*outcome);
    if (request != 0) parts_.board.end_line(request, *outcome);
    return;
  }
  parts_.board.set_activity(action.sentence, parts_.now_ms());
  if (request != 0) parts_.board.begin_line(request, action.id, action.sentence);
  if (auto records = parts_.store.records()) {
    report_.seen = world_->last_look();
    report_.seen.records = Facet<Records>::known(std::move(*records));
  }
  std::erase_if(report_.plan.conflicts, [&](const Conflict& conflict) {
    return conflict.object == action.object && conflict.standing == Standing::waiting;
  });
  looked_ = true;
  taken_ = parts_.now_text();
  publish();
}

void Engine::look_only() {
  report_ = PassReport{};
  report_.seen = world_->look(parts_.specs.state().spec, kAllFacets);
  if (const auto records = parts_.store.records(); records)
    report_.seen.records = Facet<Records>::known(*records);
  else
    report_.seen.records = Facet<Records>::unavailable(records.error().what);
  looked_ = true;
  taken_ = parts_.now_text();
  publish();
}

void Engine::publish() {
  api::Snapshot snapshot;
  snapshot.taken = looked_ ? taken_ : std::string();
  snapshot.spec = parts_.specs.state();
  snapshot.pass = report_;
  snapshot.pass_error = pass_error_;
  parts_.board.publish(std::move(snapshot));
}

void Engine::tell_ready() {
  if (ready_told_ || !parts_.volumes_ready) return;
  const api::Status status = api::status_of(*parts_.board.snapshot());
  if (status.volumes.empty()) return;
  for (const api::VolumeStatus& volume : status.volumes)
    if (volume.state != api::VolumeState::mounted && volume.state != api::VolumeState::unclaimed) return;
  ready_told_ = true;
  parts_.volumes_ready();
}

}  // namespace nvstripe::daemon

// Owns Board: the one place where the engine thread and the API thread meet. The engine publishes snapshots and takes
// requests; the API reads snapshots and submits requests. Nobody ever waits here for the other side.
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/api/snapshot.hpp"
#include "agent/base/result.hpp"

namespace nvstripe::api {

enum class Verb { plan, apply, hold, release, revert, adopt };

struct Request {
  std::uint64_t id = 0;
  Verb verb = Verb::plan;
  std::string argument;  // plan: spec text, or empty; apply: accepted digest; hold: object; release: volume name
};

// What became of a request. `lines` grows while it is worked on: one sentence an action, in order.
struct Progress {
  enum class State { queued, running, done, failed };
  State state = State::queued;
  std::vector<ActionOutcome> lines;
  bool last_line_open = false;  // the last line's action has begun and not ended
  std::string error, remedy;    // of the request as a whole
  std::string answer;           // JSON text, for plan
};

struct Activity {  // what the engine's hands are at, for people who wait
  std::string sentence;
  std::int64_t since_ms = 0;  // boot time
};

class Board {
 public:
  // Requests nobody has taken yet; more means that the caller repeats itself. Plans, which everybody may ask for, and what
  // only root may ask for are counted apart, so that nobody can keep root out.
  static constexpr std::size_t kMaxQueued = 16;
  static constexpr std::size_t kMaxRemembered = 64;  // finished requests kept for a caller who asks late

  // ---- engine side
  void publish(Snapshot snapshot);
  void set_activity(std::string sentence, std::int64_t now_ms);
  [[nodiscard]] std::optional<Request> take();  // changes before plans, each in the order they came
  [[nodiscard]] bool has_requests() const;
  void begin_line(std::uint64_t id, const std::string& action_id, const std::string& sentence);
  void end_line(std::uint64_t id, const ActionOutcome& outcome);  // of the open line; one of its own where none is open
  void finish(std::uint64_t id, std::vector<ActionOutcome> outcomes, std::string error, std::string remedy,
              std::string answer);
  void beat(std::int64_t now_ms);  // the engine is alive
  void set_wake(std::function<void()> wake);

  // ---- API side
  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const;
  [[nodiscard]] Activity activity() const;
  [[nodiscard]] Result<std::uint64_t> submit(Verb verb, std::string argument);
  [[nodiscard]] std::optional<Progress> progress(std::uint64_t id) const;
  [[nodiscard]] std::int64_t last_beat_ms() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_ = std::make_shared<const Snapshot>();
  Activity activity_;
  std::deque<Request> queue_;
  std::map<std::uint64_t, Progress> progress_;
  std::uint64_t next_id_ = 1;
  std::uint64_t next_serial_ = 1;
  std::int64_t beat_ms_ = 0;
  std::function<void()> wake_;
};

}  // namespace nvstripe::api

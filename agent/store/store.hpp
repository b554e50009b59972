// Owns the one SQLite connection: records, intents and the event outbox (WAL, synchronous FULL). A damaged file is set
// aside, a new epoch begins, and an event says so. Nothing else in the project names SQLite.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "agent/engine/journal.hpp"

namespace nvstripe::store {

// The outbox is bounded in rows and bytes: an agent whose events nobody fetches must not fill /var.
inline constexpr std::uint64_t kMaxEvents = 100'000;

struct EventQuery {
  std::uint64_t after_sequence = 0;
  std::uint32_t limit = 100;  // newest when `newest`, else oldest after after_sequence
  bool newest = false;
};

inline constexpr std::uint64_t kMaxEventBytes = 64u << 20;
// With less than this free on the file's file system the outbox does not grow: each new event takes an old one's place.
inline constexpr std::uint64_t kMinFreeBytes = 64u << 20;
inline constexpr std::uint64_t kMinEvents = 1'000;  // but so many are always kept

struct OpenOptions {
  std::uint64_t max_events = kMaxEvents;
  std::uint64_t max_bytes = kMaxEventBytes;
  std::function<std::uint64_t()> free_bytes = {};  // of the file system; nothing: asked of it
};

// ---- what upstream has not acknowledged yet
struct OutboxItem {
  Event event;
  bool again = false;  // it was refused, and is sent once more because somebody asked for that
};

struct DeadLetter {  // refused for good by the receiver
  Event event;
  std::string stream, reason, refused;  // refused: when, RFC 3339
  bool again = false;                   // will be sent once more
};

struct StreamState {
  std::string stream, oldest;  // oldest: when the oldest unacknowledged event happened; empty: none waits
  std::uint64_t records = 0, bytes = 0, dead = 0, dropped = 0;
};

// What became of an item that pending() gave. The epoch keeps an answer that crossed a reset of the file from being taken.
struct Answered {
  std::string stream;
  std::uint64_t epoch = 0, sequence = 0;
  bool again = false;
};

// May be asked from several threads; calls are served one by one.
class Store : public Journal {
 public:
  // `path` is the database file, ":memory:" in tests. Opening makes and migrates it. Only one process may have it open.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::string& path, const OpenOptions& options = {});
  // In order of sequence.
  [[nodiscard]] virtual Result<std::vector<Event>> events(const EventQuery& query) = 0;
  // Events that were dropped unacknowledged since this epoch began.
  [[nodiscard]] virtual Result<std::uint64_t> dropped_events() = 0;
  [[nodiscard]] virtual std::uint64_t epoch() const = 0;
  // "urn:uuid:…" of this state file: with an event's id it is unique in the world.
  [[nodiscard]] virtual std::string source() const = 0;

  // The oldest unacknowledged events of a stream, in order; those to be sent again come alone and first.
  [[nodiscard]] virtual Result<std::vector<OutboxItem>> pending(const std::string& stream, std::uint32_t limit) = 0;
  // Everything of the stream up to this one has arrived. Only the newest sequence may be beyond what pending() gave.
  [[nodiscard]] virtual Result<> acknowledge(const Answered& answered) = 0;
  // The receiver will never take this one; it must be the next of its stream. An event tells of it.
  [[nodiscard]] virtual Result<> refuse(const Answered& answered, const std::string& reason) = 0;
  [[nodiscard]] virtual Result<std::vector<DeadLetter>> dead_letters() = 0;
  // Sends refused events once more: one, or all for 0. Returns how many.
  [[nodiscard]] virtual Result<std::uint64_t> replay(std::uint64_t sequence) = 0;
  [[nodiscard]] virtual Result<std::vector<StreamState>> streams() = 0;
};

}  // namespace nvstripe::store

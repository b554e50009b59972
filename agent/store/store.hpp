// Owns the one SQLite connection: records, intents and the event outbox (WAL, synchronous FULL). A damaged file is set
// aside, a new epoch begins, and an event says so. Nothing else in the project names SQLite.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/engine/journal.hpp"

namespace nvstripe::store {

// The outbox is bounded: an agent whose events nobody fetches must not fill /var. About 50 MB.
inline constexpr std::uint64_t kMaxEvents = 100'000;

struct EventQuery {
  std::uint64_t after_sequence = 0;
  std::uint32_t limit = 100;  // newest when `newest`, else oldest after after_sequence
  bool newest = false;
};

struct OpenOptions {
  std::uint64_t max_events = kMaxEvents;
};

// May be asked from several threads; calls are served one by one.
class Store : public Journal {
 public:
  // `path` is the database file, ":memory:" in tests. Opening makes and migrates it. Only one process may have it open.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::string& path, const OpenOptions& options = {});
  // In order of sequence.
  [[nodiscard]] virtual Result<std::vector<Event>> events(const EventQuery& query) = 0;
  // Oldest events that were dropped unread since this epoch began: the gap before the oldest sequence.
  [[nodiscard]] virtual Result<std::uint64_t> dropped_events() = 0;
  [[nodiscard]] virtual std::uint64_t epoch() const = 0;
};

}  // namespace nvstripe::store

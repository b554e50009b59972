// Owns the one SQLite connection: records, intents and the event outbox (WAL, synchronous FULL). A damaged file is set
// aside, a new epoch begins, and an event says so. Nothing else in the project names SQLite.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/engine/journal.hpp"

namespace nvstripe::store {

struct EventQuery {
  std::uint64_t after_sequence = 0;
  std::uint32_t limit = 100;  // newest when `newest`, else oldest after after_sequence
  bool newest = false;
};

class Store : public Journal {
 public:
  // `path` is the database file, ":memory:" in tests. Opening makes and migrates it.
  [[nodiscard]] static Result<std::unique_ptr<Store>> open(const std::string& path);
  [[nodiscard]] virtual Result<std::vector<Event>> events(const EventQuery& query) = 0;
};

}  // namespace nvstripe::store

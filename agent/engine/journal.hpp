// Owns Journal: what survives a crash. Records, intents and events; each call is one durable transaction.
// Implemented by agent/store (SQLite) and, for simulations, in memory.
#pragma once
#include <string>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/model/event.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/record.hpp"

namespace nvstripe {

struct EventDraft {  // epoch, sequence, id and time are given when it is written
  std::string type, subject, data;
  bool operator==(const EventDraft&) const = default;
};

class Journal {
 public:
  virtual ~Journal() = default;
  [[nodiscard]] virtual Result<Records> records() = 0;  // fresh_generation is drawn anew by each call
  // Writes records and events together, or neither.
  [[nodiscard]] virtual Result<> write(const std::vector<Record>& records, const std::vector<EventDraft>& events) = 0;
};

}  // namespace nvstripe

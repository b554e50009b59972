// Owns Event: something that happened, past tense, written in one transaction with the state change it tells of.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace nvstripe {

// One row of the table in event.cpp: every type there is, from which docs and checks are made.
struct EventType {
  std::string_view name;     // "io.nvstripe.volume.mounted.v1"
  std::string_view summary;  // when it is emitted
};

struct Event {
  std::uint64_t epoch = 0;     // new whenever the state file was lost and begun anew
  std::uint64_t sequence = 0;  // rises by one within an epoch
  std::string id;              // stable: epoch and sequence
  std::string time;            // RFC 3339, UTC
  std::string type;            // a name from the table
  std::string subject;         // "volume/train"
  std::string data;            // JSON object text
  bool operator==(const Event&) const = default;
};

}  // namespace nvstripe

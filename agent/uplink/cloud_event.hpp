// Owns the CloudEvents 1.0 text of an event: JSON in structured mode.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"

namespace nvstripe::uplink {

// Exactly so: one wide-spread reader takes neither upper case nor a missing blank.
inline constexpr std::string_view kCloudEventType = "application/cloudevents+json; charset=utf-8";

struct Waiting {  // an event that the agent's outbox holds for upstream
  std::uint64_t epoch = 0, sequence = 0;
  bool again = false;  // refused once, and sent again because somebody asked
  std::string text;    // as a CloudEvent
};

// Of the agent's answer to a pull. An event without the fields that make it one is an error: better stuck than lost.
[[nodiscard]] Result<std::vector<Waiting>> waiting_events(std::string_view answer);

}  // namespace nvstripe::uplink

// Owns the questions to the agent's root process, over its socket: samples of metrics, and where to listen.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "agent/base/endpoint.hpp"
#include "agent/telemetry/sample.hpp"

namespace nvstripe::uplink {

// The core's samples and the uplink's own. A core that does not answer in time leaves the own ones, with nvstripe_core_up 0.
[[nodiscard]] SampleSet all_samples(const std::string& socket, std::chrono::milliseconds deadline);

struct Listening {
  std::optional<Endpoint> endpoint;  // none: the spec says off
  bool operator==(const Listening&) const = default;
};
// What the spec in force says; an error while the core does not answer: nobody knows then whether the default is wanted.
[[nodiscard]] Result<Listening> wanted_listening(const std::string& socket, std::chrono::milliseconds deadline);

}  // namespace nvstripe::uplink

// Owns the questions to the agent's root process, over its socket: samples of metrics, where to listen and where to send.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "agent/base/endpoint.hpp"
#include "agent/base/url.hpp"
#include "agent/telemetry/sample.hpp"

namespace nvstripe::uplink {

// Adds what the uplink knows of itself.
using AddOwn = std::function<void(SampleGathering&)>;

// The core's samples and the uplink's own. A core that does not answer in time leaves the own ones, with nvstripe_core_up 0.
[[nodiscard]] SampleSet all_samples(const std::string& socket, std::chrono::milliseconds deadline,
                                    const AddOwn& add_own = {});

struct Wanted {
  std::optional<Endpoint> listen;  // none: the spec says off
  std::optional<Url> events;       // where events are sent; none: nowhere
  bool operator==(const Wanted&) const = default;
};
// What the spec in force says; an error while the core does not answer: nobody knows then whether the default is wanted.
[[nodiscard]] Result<Wanted> wanted(const std::string& socket, std::chrono::milliseconds deadline);

}  // namespace nvstripe::uplink

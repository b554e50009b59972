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

struct PushWanted {
  Url url;
  std::chrono::milliseconds every{15'000};
  bool operator==(const PushWanted&) const = default;
};

struct Wanted {
  std::optional<Endpoint> listen;  // none: the spec says off
  std::string web_config;          // file with TLS and users of it; empty: neither
  std::optional<Url> events;       // where events are sent; none: nowhere
  std::optional<PushWanted> metrics, remote_write;
  bool operator==(const Wanted&) const = default;
};
// What the spec in force says; an error while the core does not answer: nobody knows then whether the default is wanted.
[[nodiscard]] Result<Wanted> wanted(const std::string& socket, std::chrono::milliseconds deadline);

struct Sender {                              // as the agent's identity tells it
  std::string hostname, provider, instance;  // instance: a UUID of this agent's state
  bool operator==(const Sender&) const = default;
};

// Who this machine is, for those who get its metrics; empty fields where the core does not answer.
[[nodiscard]] Sender sender_of(const std::string& socket, std::chrono::milliseconds deadline);

}  // namespace nvstripe::uplink

// Owns the way from a snapshot, and from what was counted and measured beside it, to the samples of the core.
#pragma once
#include <string>
#include <vector>

#include "agent/api/snapshot.hpp"
#include "agent/api/status.hpp"
#include "agent/model/figures.hpp"
#include "agent/store/store.hpp"
#include "agent/telemetry/core_samples.hpp"

namespace nvstripe::api {

struct Measured {  // by the daemon, beside its looks
  AgentCounters counters;
  Figures figures;
  JobsView jobs;
};

using StreamStates = std::vector<store::StreamState>;

// `status` is that of the snapshot, `streams` the outbox. Reads the volumes' I/O counts below `sys_block` ("/sys/block"),
// which waits for no device; all else is in the arguments.
[[nodiscard]] SampleSet metrics_of(const Snapshot& snapshot, const Status& status, const Measured& measured,
                                   const std::string& sys_block, const StreamStates& streams = {});

}  // namespace nvstripe::api

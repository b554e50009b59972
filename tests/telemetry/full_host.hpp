// Owns a made-up host on which every part of the core's metrics has something to say.
#pragma once
#include <string>

#include "agent/api/metrics.hpp"

namespace nvstripe::full {

// Volume 'train' on four remote drives over rdma, mounted; one controller of a second target away; two local drives, one of
// them exported by nvmet, the other one with a model that no text format likes; a conflict, a hold, a changed setting.
[[nodiscard]] api::Snapshot snapshot();
[[nodiscard]] api::Measured measured();
// What sysfs has of the volume's array; the folder is where `stat` and `inflight` of it shall lie.
void write_io_counts(const std::string& sys_block);
// Samples of all that, and of an outbox and of jobs.
[[nodiscard]] SampleSet samples(const std::string& sys_block);

[[nodiscard]] double value(const SampleSet& samples, const std::string& name, const std::vector<std::string>& labels);
[[nodiscard]] bool has(const SampleSet& samples, const std::string& name);

}  // namespace nvstripe::full

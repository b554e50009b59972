// Owns the samples that the root daemon answers with: a pure function of one snapshot and of what was counted beside it. A
// facet that cannot be seen leaves its families out, and nvstripe_collector_success says so; nothing is shown as zero that
// is not known to be zero.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "agent/model/figures.hpp"
#include "agent/telemetry/counters.hpp"
#include "agent/telemetry/sample.hpp"

namespace nvstripe {

struct VolumeView {                                               // as status tells it
  std::string name, state, mount_path, device, stack, transport;  // device: its key, empty while there is none
  bool mounted = false;
  std::uint64_t members = 0, members_live = 0;
};

struct ExportView {
  std::string name, state;
};

struct SpoolView {  // what one sink has not acknowledged of one stream
  std::string sink, stream;
  std::uint64_t records = 0, bytes = 0, dead_letters = 0;
  double oldest = 0;  // since 1970; 0: none waits
};

struct JobsView {
  std::map<std::string, std::uint64_t> running;                           // by source
  std::map<std::string, std::map<std::string, std::uint64_t>> completed;  // by source and result
  std::map<std::string, Distribution> seconds;                            // by source
};

struct CoreView {
  std::string version;
  bool looked = false;  // `pass` holds a look
  const PassReport& pass;
  bool spec_in_force = false;  // there is a spec
  bool spec_accepted = false;  // nothing that lies in the folders was rejected
  bool ready = false;          // all is as the spec asks
  std::vector<VolumeView> volumes;
  std::vector<ExportView> exports;
  AgentCounters counters;
  Figures figures;
  std::map<std::string, IoCounts> io;  // by volume
  std::vector<SpoolView> spools;
  std::map<std::string, std::uint64_t> dropped_events;  // by stream
  JobsView jobs;
};

// The collectors that run in the background, beside the table's.
inline constexpr std::string_view kSpaceCollector = "volume_space", kHealthCollector = "nvme_health";

[[nodiscard]] SampleSet core_samples(const CoreView& view);

}  // namespace nvstripe

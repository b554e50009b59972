// Owns when a job begins, is seen and ends, as pure functions: what is known of it and what is told now give the record and
// the events to write together. One end is one event, whichever of its witnesses comes first.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/engine/journal.hpp"
#include "agent/jobs/ending.hpp"
#include "agent/model/record.hpp"

namespace nvstripe::jobs {

struct JobStart {
  std::string id, name;  // id: see valid_id(); may be empty when there is an invocation id, which then is the id
  JobSource source = JobSource::report;
  std::uint32_t uid = 0;
  std::string unit, invocation_id, boot_id;
  std::vector<JobVolume> counts;  // now
};

struct JobEnd {
  std::string id, name;
  JobSource source = JobSource::report;
  std::uint32_t uid = 0;
  std::string unit, invocation_id;
  Ending how;
  std::uint64_t started = 0, ended = 0;  // milliseconds since 1970; 0: as recorded, and now
  std::optional<std::uint64_t> memory_peak_bytes;
  bool operator==(const JobEnd&) const = default;
};

struct JobReport {
  std::string id;
  double accelerator_utilization = 0;
  std::string accelerator_source;  // reported or proxy
};

struct Change {
  JobRecord record;
  std::vector<EventDraft> events;
  bool write = true;  // false: nothing worth a commit
};

inline constexpr std::size_t kMaxName = 128;
inline constexpr std::uint64_t kSeenEveryMs = 60'000;  // a heartbeat within this of the last one is not written

// Reasons of ends that were noticed afterwards: when they happened is not known, so there is no duration.
inline constexpr std::string_view kReboot = "reboot", kLost = "lost";

[[nodiscard]] std::optional<double> duration_s(const JobRecord& record);  // of one that ended, where it is known
[[nodiscard]] bool valid_id(std::string_view id);                         // [A-Za-z0-9._-]{1,64}
[[nodiscard]] Result<> check_name(std::string_view name);
[[nodiscard]] std::string time_text(std::uint64_t ms);  // RFC 3339, UTC; empty for 0

// `known`: the record of that job, or nullptr. The cause of a refusal: ENOENT not known, EEXIST ended already.
[[nodiscard]] Result<Change> begin(const JobRecord* known, const JobStart& told, std::uint64_t now_ms);
[[nodiscard]] Result<Change> seen(const JobRecord* known, const std::string& id, std::uint64_t now_ms);
[[nodiscard]] Result<Change> report(const JobRecord* known, const JobReport& told, std::uint64_t now_ms);
// `boot_id` and `counts` are those of now; counts of another boot are not compared. An end of one that ended changes
// nothing; one of a job that nobody knew of is recorded as it is told.
[[nodiscard]] Change end(const JobRecord* known, const JobEnd& told, const std::string& boot_id,
                         const std::vector<JobVolume>& counts, std::uint64_t now_ms);

// What was read and written between two counts; of volumes whose disk is the same in both.
[[nodiscard]] std::vector<JobVolume> between(const std::vector<JobVolume>& first, const std::vector<JobVolume>& last);

}  // namespace nvstripe::jobs

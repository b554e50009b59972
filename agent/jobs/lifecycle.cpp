// Owns the changes of a job's record, and the data of its two events.
#include "agent/jobs/lifecycle.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::jobs {
namespace {

std::error_code cause(int code) { return {code, std::system_category()}; }

tl::unexpected<Error> not_known(const std::string& id) {
  return fail("job '" + printable(id) + "' is not known", "'nvstripe job list' shows those that are", cause(ENOENT));
}
tl::unexpected<Error> ended_already(const std::string& id) {
  return fail("job '" + printable(id) + "' has ended already", "choose another id for another run", cause(EEXIST));
}

std::string subject_of(const JobRecord& record) { return "job/" + record.id; }

EventDraft started_event(const JobRecord& record) {
  const boost::json::object data{{"name", record.name},
                                 {"source", to_text(record.source)},
                                 {"uid", record.uid},
                                 {"started", time_text(record.started)}};
  return {std::string(event::kJobStarted), subject_of(record), json::text(data)};
}

EventDraft ended_event(const JobRecord& record) {
  boost::json::object data{{"name", record.name},
                           {"source", to_text(record.source)},
                           {"uid", record.uid},
                           {"result", to_text(record.result)},
                           {"ended", time_text(record.ended)}};
  if (record.started != 0) data["started"] = time_text(record.started);
  if (const auto duration = duration_s(record)) data["duration_s"] = *duration;
  if (!record.reason.empty()) data["reason"] = record.reason;
  if (record.exit_status) data["exit_status"] = *record.exit_status;
  if (!record.signal.empty()) data["signal"] = record.signal;
  if (!record.volumes.empty()) {
    boost::json::object volumes;
    for (const JobVolume& volume : record.volumes)
      volumes[volume.name] = boost::json::object{{"read_bytes", volume.read_bytes}, {"written_bytes", volume.written_bytes}};
    data["volumes"] = std::move(volumes);
  }
  if (record.memory_peak_bytes) data["memory_peak_bytes"] = *record.memory_peak_bytes;
  if (record.accelerator_utilization) {
    data["accelerator_utilization"] = *record.accelerator_utilization;
    data["accelerator_source"] = record.accelerator_source;
  }
  return {std::string(event::kJobEnded), subject_of(record), json::text(data)};
}

JobRecord fresh(const JobEnd& told) {
  JobRecord record;
  record.id = told.id.empty() ? told.invocation_id : told.id;
  record.name = told.name.empty() ? record.id : told.name;
  record.source = told.source;
  record.uid = told.uid;
  record.started = told.started;
  return record;
}

}  // namespace

std::optional<double> duration_s(const JobRecord& record) {
  if (record.started == 0 || record.ended < record.started) return {};
  if (record.reason == kReboot || record.reason == kLost) return {};
  return static_cast<double>(record.ended - record.started) / 1000.0;
}

bool valid_id(std::string_view id) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !id.empty() && id.size() <= 64 && std::all_of(id.begin(), id.end(), allowed);
}

Result<> check_name(std::string_view name) {
  if (name.size() > kMaxName || printable(name) != name)
    return fail("the name of the job is too long or has odd characters",
                "use at most " + std::to_string(kMaxName) + " printable characters");
  return {};
}

std::string time_text(std::uint64_t ms) {
  if (ms == 0) return {};
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  return std::string(text.data()) + "." + std::to_string(1000 + ms % 1000).substr(1) + "Z";
}

Result<Change> begin(const JobRecord* known, const JobStart& told, std::uint64_t now_ms) {
  if (known != nullptr && known->ended != 0) return ended_already(known->id);
  if (known != nullptr && told.uid != 0 && known->uid != told.uid)
    return fail("job '" + known->id + "' is another user's", "give another id",
                std::error_code(EEXIST, std::system_category()));
  if (known != nullptr) return seen(known, known->id, now_ms);
  JobRecord record;
  record.id = told.id.empty() ? told.invocation_id : told.id;
  if (!valid_id(record.id))
    return fail("'" + printable(record.id) + "' is no id of a job", "use 1 to 64 of letters, digits, '.', '_' and '-'");
  CHECKED(check_name(told.name));
  record.name = told.name.empty() ? record.id : told.name;
  record.source = told.source;
  record.uid = told.uid;
  record.unit = told.unit;
  record.invocation_id = told.invocation_id;
  record.boot_id = told.boot_id;
  record.started = record.last_seen = now_ms;
  record.counts_at_start = told.counts;
  return Change{record, {started_event(record)}};
}

Result<Change> seen(const JobRecord* known, const std::string& id, std::uint64_t now_ms) {
  if (known == nullptr) return not_known(id);
  if (known->ended != 0) return ended_already(id);
  Change change{*known, {}};
  change.write = now_ms >= known->last_seen + kSeenEveryMs;
  if (change.write) change.record.last_seen = now_ms;
  return change;
}

Result<Change> report(const JobRecord* known, const JobReport& told, std::uint64_t now_ms) {
  if (known == nullptr) return not_known(told.id);
  if (known->ended != 0) return ended_already(told.id);
  if (!std::isfinite(told.accelerator_utilization) || told.accelerator_utilization < 0 || told.accelerator_utilization > 1)
    return fail("accelerator utilisation is a ratio from 0 to 1", "for 85 % give 0.85");
  if (told.accelerator_source != "reported" && told.accelerator_source != "proxy")
    return fail("the source of an accelerator utilisation is 'reported' or 'proxy'");
  Change change{*known, {}};
  // What the job says of itself is worth more than what a driver counted.
  const bool worse = known->accelerator_source == "reported" && told.accelerator_source == "proxy";
  if (!worse) {
    change.record.accelerator_utilization = told.accelerator_utilization;
    change.record.accelerator_source = told.accelerator_source;
  }
  change.record.last_seen = now_ms;
  return change;
}

Change end(const JobRecord* known, const JobEnd& told, const std::string& boot_id, const std::vector<JobVolume>& counts,
           std::uint64_t now_ms) {
  if (known != nullptr && known->ended != 0) return {*known, {}, false};
  JobRecord record = known != nullptr ? *known : fresh(told);
  if (record.unit.empty()) record.unit = told.unit;
  if (record.invocation_id.empty()) record.invocation_id = told.invocation_id;
  if (!record.boot_id.empty() && record.boot_id == boot_id) record.volumes = between(record.counts_at_start, counts);
  record.counts_at_start.clear();
  record.ended = told.ended != 0 ? told.ended : now_ms;
  record.last_seen = std::max(record.last_seen, record.ended);
  record.result = told.how.result;
  record.reason = told.how.reason;
  record.exit_status = told.how.exit_status;
  record.signal = told.how.signal;
  record.memory_peak_bytes = told.memory_peak_bytes;
  return {record, {ended_event(record)}};
}

std::vector<JobVolume> between(const std::vector<JobVolume>& first, const std::vector<JobVolume>& last) {
  std::vector<JobVolume> out;
  for (const JobVolume& then : first) {
    const auto now = std::find_if(last.begin(), last.end(), [&](const JobVolume& one) {
      return one.name == then.name && one.diskseq == then.diskseq;
    });
    if (now == last.end() || now->read_bytes < then.read_bytes || now->written_bytes < then.written_bytes) continue;
    out.push_back({then.name, then.diskseq, now->read_bytes - then.read_bytes, now->written_bytes - then.written_bytes});
  }
  return out;
}

}  // namespace nvstripe::jobs

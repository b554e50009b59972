// Owns the order of a change: judged, written, then known.
#include "agent/jobs/ledger.hpp"

#include <algorithm>
#include <utility>

namespace nvstripe::jobs {

Result<std::unique_ptr<Ledger>> Ledger::open(Journal& journal, OnEnd on_end) {
  TRY(Records records, journal.records());
  return std::make_unique<Ledger>(journal, std::move(records.jobs), std::move(on_end));
}

Ledger::Ledger(Journal& journal, std::vector<JobRecord> records, OnEnd on_end)
    : journal_(journal), on_end_(std::move(on_end)) {
  for (JobRecord& record : records) {
    const std::string id = record.id;
    records_.insert_or_assign(id, std::move(record));
  }
}

const JobRecord* Ledger::known(const std::string& id, const std::string& invocation_id) const {
  if (const auto found = records_.find(id); found != records_.end()) return &found->second;
  if (invocation_id.empty()) return nullptr;
  const auto same = std::find_if(records_.begin(), records_.end(),
                                 [&](const auto& entry) { return entry.second.invocation_id == invocation_id; });
  return same == records_.end() ? nullptr : &same->second;
}

// What is kept besides `one_more`, which just ended, less the oldest that is one too many.
std::vector<Record> Ledger::beyond_bound(const JobRecord& one_more) const {
  std::vector<std::pair<std::uint64_t, std::string>> ended;
  for (const auto& [id, record] : records_)
    if (record.ended != 0 && id != one_more.id) ended.emplace_back(record.ended, id);
  if (ended.size() < kJobsKept) return {};
  std::sort(ended.begin(), ended.end());
  ended.resize(ended.size() + 1 - kJobsKept);
  std::vector<Record> out;
  for (const auto& [when, id] : ended) out.emplace_back(Forget{"job", id});
  return out;
}

Result<JobRecord> Ledger::keep(Result<Change> change) {
  if (!change) return tl::unexpected(std::move(change).error());
  if (!change->write) return change->record;
  const bool ends = change->record.ended != 0;
  std::vector<Record> records;
  if (ends) records = beyond_bound(change->record);
  records.emplace_back(change->record);
  CHECKED(journal_.write(records, change->events));
  for (const Record& record : records)
    if (const auto* gone = std::get_if<Forget>(&record)) records_.erase(gone->key);
  records_.insert_or_assign(change->record.id, change->record);
  if (ends && on_end_) on_end_(change->record);
  return change->record;
}

Result<JobRecord> Ledger::begin(const JobStart& told, std::uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  const JobRecord* record = known(told.id, told.invocation_id);
  const auto count = std::count_if(records_.begin(), records_.end(), [](const auto& one) { return one.second.ended == 0; });
  if (record == nullptr && static_cast<std::size_t>(count) >= kMaxRunning)
    return fail(std::to_string(count) + " jobs run already", "'nvstripe job end' tells of those that have ended",
                std::error_code(ENOSPC, std::system_category()));
  return keep(jobs::begin(record, told, now_ms));
}

Result<JobRecord> Ledger::seen(const std::string& id, std::uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  return keep(jobs::seen(known(id, {}), id, now_ms));
}

Result<JobRecord> Ledger::report(const JobReport& told, std::uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  return keep(jobs::report(known(told.id, {}), told, now_ms));
}

Result<JobRecord> Ledger::end(const JobEnd& told, const std::string& boot_id, const std::vector<JobVolume>& counts,
                              std::uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  return keep(jobs::end(known(told.id, told.invocation_id), told, boot_id, counts, now_ms));
}

Result<> Ledger::end_of_other_boots(const std::string& boot_id, std::uint64_t now_ms) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lost;
  for (const auto& [id, record] : records_)
    if (record.ended == 0 && record.boot_id != boot_id) lost.push_back(id);
  for (const std::string& id : lost) {
    JobEnd told;
    told.id = id;
    told.how.reason = kReboot;
    CHECKED(keep(jobs::end(known(id, {}), told, boot_id, {}, now_ms)));
  }
  return {};
}

std::optional<JobRecord> Ledger::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  const auto found = records_.find(id);
  return found == records_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<JobRecord> Ledger::list() const {
  std::vector<JobRecord> out;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& entry : records_) out.push_back(entry.second);
  }
  const auto order = [](const JobRecord& job) {
    return std::tuple(job.ended != 0, ~(job.ended != 0 ? job.ended : job.started));
  };
  std::stable_sort(out.begin(), out.end(), [&](const JobRecord& a, const JobRecord& b) { return order(a) < order(b); });
  return out;
}

std::map<JobSource, std::uint64_t> Ledger::running() const {
  const std::lock_guard lock(mutex_);
  std::map<JobSource, std::uint64_t> out;
  for (const JobSource source : kJobSources) out[source] = 0;
  for (const auto& entry : records_)
    if (entry.second.ended == 0) ++out[entry.second.source];
  return out;
}

}  // namespace nvstripe::jobs

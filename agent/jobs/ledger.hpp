// Owns Ledger: the jobs that are known, in memory and through the Journal. Each change is durable before it is answered;
// those that ended are kept for a while, bounded, so that another word of the same end is known for one.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/engine/journal.hpp"
#include "agent/jobs/lifecycle.hpp"

namespace nvstripe::jobs {

inline constexpr std::size_t kMaxRunning = 1000;  // more means that somebody never tells ends

// May be asked from several threads.
class Ledger {
 public:
  // Told of each job that ended, once, when that is durable. Must not ask the ledger.
  using OnEnd = std::function<void(const JobRecord&)>;
  [[nodiscard]] static Result<std::unique_ptr<Ledger>> open(Journal& journal, OnEnd on_end = {});
  Ledger(Journal& journal, std::vector<JobRecord> records, OnEnd on_end);

  // Causes of refusals: as in lifecycle.hpp, and ENOSPC where too many run.
  [[nodiscard]] Result<JobRecord> begin(const JobStart& told, std::uint64_t now_ms);
  [[nodiscard]] Result<JobRecord> seen(const std::string& id, std::uint64_t now_ms);
  [[nodiscard]] Result<JobRecord> report(const JobReport& told, std::uint64_t now_ms);
  [[nodiscard]] Result<JobRecord> end(const JobEnd& told, const std::string& boot_id, const std::vector<JobVolume>& counts,
                                      std::uint64_t now_ms);
  // Ends, as unknown, what runs since another boot.
  [[nodiscard]] Result<> end_of_other_boots(const std::string& boot_id, std::uint64_t now_ms);

  [[nodiscard]] std::optional<JobRecord> find(const std::string& id) const;
  [[nodiscard]] std::vector<JobRecord> list() const;  // running ones first, each group the newest first
  [[nodiscard]] std::map<JobSource, std::uint64_t> running() const;

 private:
  [[nodiscard]] const JobRecord* known(const std::string& id, const std::string& invocation_id) const;
  [[nodiscard]] Result<JobRecord> keep(Result<Change> change);
  [[nodiscard]] std::vector<Record> beyond_bound(const JobRecord& one_more) const;

  Journal& journal_;
  OnEnd on_end_;
  mutable std::mutex mutex_;
  std::map<std::string, JobRecord> records_;
};

}  // namespace nvstripe::jobs

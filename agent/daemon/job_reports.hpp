// Owns taking the ends of jobs that were left as files while the agent was away.
#pragma once
#include <cstdint>
#include <string>

#include "agent/jobs/ledger.hpp"

namespace nvstripe::daemon {

struct ReportsPlace {
  std::string folder;
  std::uint32_t owner = 0;  // whose files are believed
};

// Makes the folder, for its owner alone.
[[nodiscard]] Result<> make_reports_folder(const std::string& folder);
// Takes each report and removes its file. One that cannot be believed or read goes to bad/ below the folder, which is said
// on standard error; one that cannot be recorded now stays for the next time.
void take_reports(const ReportsPlace& place, jobs::Ledger& ledger, const std::string& boot_id, std::uint64_t now_ms);

}  // namespace nvstripe::daemon

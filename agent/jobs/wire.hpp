// Owns what is told of jobs as JSON text: bodies of requests, files of reports, answers. Strict: a field that is not known
// or of another type is an error, so that a misspelled one is not silently lost.
#pragma once
#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

#include "agent/base/result.hpp"
#include "agent/jobs/lifecycle.hpp"
#include "agent/jobs/run_command.hpp"

namespace nvstripe::jobs {

// Where ends are left while the agent is away, one file each, put there whole by a rename; a name that begins with a dot is
// not finished.
inline constexpr const char* kReportsFolder = "/var/lib/nvstripe/job-reports";
inline constexpr std::size_t kMaxReportBytes = 64 * 1024;  // of a report's file

// Whoever tells; only root may say whose job it is, how it came to be known, and when it began and ended.
struct Teller {
  std::uint32_t uid = 0;
  [[nodiscard]] bool trusted() const { return uid == 0; }
};

[[nodiscard]] Result<JobStart> parse_start(std::string_view text, Teller teller);
// `source`: where the text names none.
[[nodiscard]] Result<JobEnd> parse_end(std::string_view text, Teller teller, JobSource source = JobSource::report);
[[nodiscard]] Result<JobReport> parse_report(std::string_view text);
[[nodiscard]] Result<JobRun> parse_run(std::string_view text);
[[nodiscard]] std::string id_in(std::string_view text);  // the field "id", or empty

[[nodiscard]] std::string start_text(const JobStart& start);
[[nodiscard]] std::string end_text(const JobEnd& end);
[[nodiscard]] std::string run_text(const JobRun& run);

// As `nvstripe job list -o json` shows it: times as text, null for what is not known.
[[nodiscard]] boost::json::object job_json(const JobRecord& record);

}  // namespace nvstripe::jobs

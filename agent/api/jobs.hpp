// Owns what the routes of jobs need besides the board and the store, the routes themselves, and the jobs' metrics.
#pragma once
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "agent/api/server.hpp"
#include "agent/api/snapshot.hpp"
#include "agent/host/accounts.hpp"
#include "agent/jobs/ledger.hpp"
#include "agent/jobs/run_command.hpp"
#include "agent/telemetry/core_samples.hpp"

namespace nvstripe::api {

struct RouteContext;

struct JobsContext {
  jobs::Ledger& ledger;
  host::Accounts accounts;
  std::string boot_id;
  std::function<std::uint64_t()> now_ms;  // since 1970
  std::function<Result<>()> can_run;      // whether the machine has what running takes
  // Hands a command, whose job has begun, to whoever starts it. Never waits.
  std::function<void(jobs::JobRun, jobs::RunAs)> run;
  std::string sys_block = "/sys/block";
};

// Why the caller may not do this to jobs; nothing: he may. Members of the group and root may; for a job that is known its
// own user may, too, except start and run.
[[nodiscard]] std::optional<HttpResponse> refuse_job(const RouteContext& context, const HttpRequest& request);

HttpResponse get_jobs(const RouteContext& context, const HttpRequest& request);
HttpResponse get_job(const RouteContext& context, const HttpRequest& request);  // /v1/jobs/ID
HttpResponse post_job_start(const RouteContext& context, const HttpRequest& request);
HttpResponse post_job_heartbeat(const RouteContext& context, const HttpRequest& request);
HttpResponse post_job_report(const RouteContext& context, const HttpRequest& request);
HttpResponse post_job_end(const RouteContext& context, const HttpRequest& request);
HttpResponse post_job_run(const RouteContext& context, const HttpRequest& request);

// What the kernel counts now of the volumes' devices; those that cannot be seen are left out.
[[nodiscard]] std::vector<JobVolume> volume_counts(const Snapshot& snapshot, const std::string& sys_block);

// Counts jobs that end, for metrics. May be asked from several threads.
class JobFigures {
 public:
  void ended(const JobRecord& record);
  [[nodiscard]] JobsView view(const jobs::Ledger& ledger) const;

 private:
  mutable std::mutex mutex_;
  JobsView counted_;
};

}  // namespace nvstripe::api

// Owns who may tell what of jobs, and the answers. Nothing here waits: what starts a command does so elsewhere.
#include "agent/api/jobs.hpp"

#include <sys/random.h>

#include <array>

#include <boost/json.hpp>

#include "agent/api/routes.hpp"
#include "agent/api/status.hpp"
#include "agent/base/text.hpp"
#include "agent/host/io_counts.hpp"
#include "agent/jobs/wire.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::api {
namespace {

constexpr std::uint64_t kSectorBytes = 512;  // of sysfs, whatever the device's blocks are
constexpr std::string_view kJobsPath = "/v1/jobs/";

HttpResponse refuse(unsigned status, const Error& error) { return {status, json::text(json::error_document(error))}; }

unsigned status_of_cause(const Error& error) {
  if (is_errno(error, ENOENT)) return 404;
  if (is_errno(error, EEXIST)) return 409;
  if (is_errno(error, ENOSPC)) return 503;
  // Errors of our own making are about what was sent; one with a cause is the store's.
  return error.cause ? 500 : 400;
}

HttpResponse answer(const Result<JobRecord>& record) {
  if (!record) return refuse(status_of_cause(record.error()), record.error());
  boost::json::object out = json::document();
  out["job"] = jobs::job_json(*record);
  return {200, json::text(out)};
}

HttpResponse not_here() { return refuse(503, Error{"jobs are not kept here", "try again in a moment", {}}); }

jobs::Teller teller(const HttpRequest& request) { return {request.uid}; }

std::vector<JobVolume> counts_now(const RouteContext& context) {
  return volume_counts(*context.board.snapshot(), context.jobs->sys_block);
}

Result<std::string> draw_id() {
  std::array<std::uint8_t, 8> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail_errno("cannot draw random bytes");
  return hex(bytes.data(), bytes.size());
}

}  // namespace

std::optional<HttpResponse> refuse_job(const RouteContext& context, const HttpRequest& request) {
  if (context.jobs == nullptr) return not_here();
  if (request.uid == 0) return {};
  if (request.path != "/v1/jobs/start" && request.path != "/v1/jobs/run") {
    const auto job = context.jobs->ledger.find(jobs::id_in(request.body));
    const bool ends = request.path == "/v1/jobs/end";
    if (ends && job && job->source == JobSource::run)
      return refuse(403, Error{"job '" + job->id + "' is run by systemd, which tells its end itself",
                               "'systemctl stop " + jobs::unit_of(job->id) + "' as root ends it",
                               {}});
    if (job && job->uid == request.uid) return {};
    if (job && (ends || job->uid != 0))
      return refuse(403, Error{"job '" + job->id + "' is another user's", "its own user and root tell of it", {}});
  }
  const auto account = context.jobs->accounts(request.uid);
  if (account && account->may_declare) return {};
  return refuse(403, Error{"only root, members of the group '" + std::string(host::kJobsGroup) +
                               "' and, once it has begun, a job's own user may do this",
                           "'sudo adduser NAME " + std::string(host::kJobsGroup) + "' makes NAME a member",
                           {}});
}

HttpResponse get_jobs(const RouteContext& context, const HttpRequest&) {
  if (context.jobs == nullptr) return not_here();
  boost::json::array list;
  for (const JobRecord& record : context.jobs->ledger.list()) list.push_back(jobs::job_json(record));
  boost::json::object out = json::document();
  out["jobs"] = std::move(list);
  return {200, json::text(out)};
}

HttpResponse get_job(const RouteContext& context, const HttpRequest& request) {
  if (context.jobs == nullptr) return not_here();
  const std::string id = request.path.substr(kJobsPath.size());
  const auto record = context.jobs->ledger.find(id);
  if (record) return answer(*record);
  return refuse(404, Error{"job '" + printable(id) + "' is not known", "'nvstripe job list' shows those that are", {}});
}

HttpResponse post_job_start(const RouteContext& context, const HttpRequest& request) {
  auto start = jobs::parse_start(request.body, teller(request));
  if (!start) return refuse(400, start.error());
  start->boot_id = context.jobs->boot_id;
  start->counts = counts_now(context);
  return answer(context.jobs->ledger.begin(*start, context.jobs->now_ms()));
}

HttpResponse post_job_heartbeat(const RouteContext& context, const HttpRequest& request) {
  return answer(context.jobs->ledger.seen(jobs::id_in(request.body), context.jobs->now_ms()));
}

HttpResponse post_job_report(const RouteContext& context, const HttpRequest& request) {
  const auto report = jobs::parse_report(request.body);
  if (!report) return refuse(400, report.error());
  return answer(context.jobs->ledger.report(*report, context.jobs->now_ms()));
}

HttpResponse post_job_end(const RouteContext& context, const HttpRequest& request) {
  const auto end = jobs::parse_end(request.body, teller(request));
  if (!end) return refuse(400, end.error());
  const JobsContext& jobs = *context.jobs;
  return answer(jobs.ledger.end(*end, jobs.boot_id, counts_now(context), jobs.now_ms()));
}

HttpResponse post_job_run(const RouteContext& context, const HttpRequest& request) {
  auto run = jobs::parse_run(request.body);
  if (!run) return refuse(400, run.error());
  const auto account = context.jobs->accounts(request.uid);
  if (!account)
    return refuse(403, Error{"user " + std::to_string(request.uid) + " is not known to this machine",
                             "run the job as a user that 'getent passwd' lists",
                             {}});
  if (const auto can = context.jobs->can_run(); !can) return refuse(503, can.error());
  if (run->id.empty()) {
    const auto drawn = draw_id();
    if (!drawn) return refuse(500, drawn.error());
    run->id = *drawn;
  }
  if (context.jobs->ledger.find(run->id))
    return refuse(409, Error{"there is a job '" + run->id + "' already", "choose another id, or give none", {}});
  jobs::JobStart start;
  start.id = run->id;
  start.name = run->name;
  start.source = JobSource::run;
  start.uid = request.uid;
  start.unit = jobs::unit_of(run->id);
  start.boot_id = context.jobs->boot_id;
  start.counts = counts_now(context);
  const auto begun = context.jobs->ledger.begin(start, context.jobs->now_ms());
  if (begun) context.jobs->run(std::move(*run), {request.uid, account->gid});
  return answer(begun);
}

std::vector<JobVolume> volume_counts(const Snapshot& snapshot, const std::string& sys_block) {
  std::vector<JobVolume> out;
  for (const VolumeStatus& volume : status_of(snapshot).volumes) {
    const BlockDevice* device = volume.device.empty() ? nullptr : snapshot.pass.seen.find(DeviceKey{volume.device});
    if (device == nullptr) continue;
    const auto io = host::io_counts(sys_block + "/" + device->kernel_name, device->diskseq);
    if (!io) continue;
    out.push_back({volume.name, device->diskseq, io->read_sectors * kSectorBytes, io->written_sectors * kSectorBytes});
  }
  return out;
}

void JobFigures::ended(const JobRecord& record) {
  const std::lock_guard lock(mutex_);
  const std::string source(to_text(record.source));
  ++counted_.completed[source][std::string(to_text(record.result))];
  const auto seconds = jobs::duration_s(record);
  if (!seconds) return;
  if (const MetricRow* row = find_metric("nvstripe_job_duration_seconds"))
    counted_.seconds[source].observe(*seconds, row->bounds);
}

JobsView JobFigures::view(const jobs::Ledger& ledger) const {
  const auto running = ledger.running();  // before the lock: the ledger calls ended() under its own
  const std::lock_guard lock(mutex_);
  JobsView view = counted_;
  for (const auto& [source, count] : running) view.running[std::string(to_text(source))] = count;
  return view;
}

}  // namespace nvstripe::api

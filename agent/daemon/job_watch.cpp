// Owns the rounds and the thread that makes them.
#include "agent/daemon/job_watch.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdio>

#include "agent/base/text.hpp"
#include "agent/host/tools.hpp"

namespace nvstripe::daemon {
namespace {

constexpr std::chrono::seconds kEvery{3};
constexpr std::chrono::seconds kStartDeadline{20};
constexpr std::size_t kMaxReason = 200;

}  // namespace

void JobRounds::end(const std::string& id, jobs::Ending how) {
  jobs::JobEnd told;
  told.id = id;
  told.how = std::move(how);
  const auto kept = ledger_.end(told, boot_id_, {}, now_ms_());
  if (!kept) std::fprintf(stderr, "cannot record the end of job '%s': %s\n", id.c_str(), kept.error().what.c_str());
}

void JobRounds::start(const jobs::JobRun& run, jobs::RunAs as) {
  host::Command command;
  command.argv = jobs::run_argv(run, as);
  command.deadline = kStartDeadline;
  command.cancel_fd = cancel_fd_;
  const auto done = runner_.run(command);
  if (done && done->exit_status == 0) return;
  // Cut off, nobody knows whether systemd took it: if it did not, the job is gone at one of the next looks.
  if (done && (done->timed_out || done->abandoned || done->exit_status < 0)) return;
  // It said no, and the unit is there: its answer was lost, and the unit tells its own end.
  if (::access((places_.transient + "/" + jobs::unit_of(run.id)).c_str(), F_OK) == 0) return;
  const Error error = done ? host::explain(command.argv, *done) : done.error();
  end(run.id, {JobResult::failed, printable("not started: " + error.what).substr(0, kMaxReason), {}, {}});
}

std::vector<std::string> JobRounds::gone() const {
  std::vector<std::string> out;
  const std::uint64_t now = now_ms_();
  for (const JobRecord& job : ledger_.list()) {
    if (job.ended != 0 || job.source != JobSource::run || job.boot_id != boot_id_) continue;
    if (now < job.started + kAppearsMs) continue;
    if (::access((places_.transient + "/" + jobs::unit_of(job.id)).c_str(), F_OK) != 0 && errno == ENOENT)
      out.push_back(job.id);
  }
  return out;
}

// A unit is gone only after what ends it ran, so what is gone before reports are taken has left its report by then.
void JobRounds::look() {
  const auto lost = gone();
  (void)make_reports_folder(places_.reports.folder);  // without it there is nothing to take
  take_reports(places_.reports, ledger_, boot_id_, now_ms_());
  for (const std::string& id : lost) end(id, {JobResult::unknown, std::string(jobs::kLost), {}, {}});
  if (boots_settled_ || boot_id_.empty()) return;
  boots_settled_ = ledger_.end_of_other_boots(boot_id_, now_ms_()).has_value();
}

JobWatch::JobWatch(jobs::Ledger& ledger, JobPlaces places, std::string boot_id, std::function<std::uint64_t()> now_ms)
    : stop_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      rounds_(ledger, std::move(places), std::move(boot_id), host::live_runner(), std::move(now_ms), stop_.get()),
      thread_([this] { run(); }) {}

JobWatch::~JobWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);  // cannot fail: it is written once
  wake_.notify_all();
  thread_.join();
}

void JobWatch::start(jobs::JobRun run, jobs::RunAs as) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(std::move(run), as);
  }
  wake_.notify_all();
}

void JobWatch::run() {
  auto next = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!waiting_.empty()) {
      const auto [command, as] = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      rounds_.start(command, as);
      lock.lock();
    } else if (std::chrono::steady_clock::now() >= next) {
      lock.unlock();
      rounds_.look();  // no command waits now, so all that are older than a minute were handed over
      next = std::chrono::steady_clock::now() + kEvery;
      lock.lock();
    } else {
      wake_.wait_until(lock, next, [this] { return stopping_ || !waiting_.empty(); });
    }
  }
}

}  // namespace nvstripe::daemon

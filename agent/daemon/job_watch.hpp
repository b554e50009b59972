// Owns the thread of jobs: it starts commands, takes reports, and ends what is gone. What it asks of systemd may wait, so
// neither the engine nor the API does it.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "agent/base/fd.hpp"
#include "agent/daemon/job_reports.hpp"
#include "agent/host/command.hpp"
#include "agent/jobs/ledger.hpp"
#include "agent/jobs/run_command.hpp"

namespace nvstripe::daemon {

struct JobPlaces {
  ReportsPlace reports;
  std::string transient = "/run/systemd/transient";  // systemd keeps a unit's file here for as long as it has the unit
};

// What is done when; without a thread of its own, for tests.
class JobRounds {
 public:
  JobRounds(jobs::Ledger& ledger, JobPlaces places, std::string boot_id, host::Runner& runner,
            std::function<std::uint64_t()> now_ms, int cancel_fd = -1)
      : ledger_(ledger),
        places_(std::move(places)),
        boot_id_(std::move(boot_id)),
        runner_(runner),
        now_ms_(std::move(now_ms)),
        cancel_fd_(cancel_fd) {}

  // A command that was just handed to systemd has this long until its unit must be there.
  static constexpr std::uint64_t kAppearsMs = 60'000;

  void start(const jobs::JobRun& run, jobs::RunAs as);
  void look();

 private:
  [[nodiscard]] std::vector<std::string> gone() const;
  void end(const std::string& id, jobs::Ending how);

  jobs::Ledger& ledger_;
  JobPlaces places_;
  std::string boot_id_;
  host::Runner& runner_;
  std::function<std::uint64_t()> now_ms_;
  int cancel_fd_;
  bool boots_settled_ = false;
};

class JobWatch {
 public:
  JobWatch(jobs::Ledger& ledger, JobPlaces places, std::string boot_id, std::function<std::uint64_t()> now_ms);
  ~JobWatch();
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;

  void start(jobs::JobRun run, jobs::RunAs as);  // soon, in the thread

 private:
  void run();

  Fd stop_;  // an eventfd: readable ends the child that asks systemd
  JobRounds rounds_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::pair<jobs::JobRun, jobs::RunAs>> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace nvstripe::daemon

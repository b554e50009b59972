// Owns the wiring of the service. Threads: main (signals), engine, API; the target watch and the figures have
// their own.
#include "agent/daemon/service.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include <boost/json.hpp>

#include "agent/api/client.hpp"
#include "agent/api/routes.hpp"
#include "agent/daemon/engine.hpp"
#include "agent/daemon/figures_watch.hpp"
#include "agent/daemon/job_watch.hpp"
#include "agent/daemon/tally.hpp"
#include "agent/daemon/watches.hpp"
#include "agent/engine/machine.hpp"
#include "agent/engine/tables.hpp"
#include "agent/host/accounts.hpp"
#include "agent/host/command.hpp"
#include "agent/host/reader.hpp"
#include "agent/host/targets.hpp"
#include "agent/host/tools.hpp"
#include "agent/host/uevents.hpp"
#include "agent/jobs/wire.hpp"
#include "agent/model/event.hpp"
#include "agent/model/json.hpp"
#include "agent/store/store.hpp"
#include "configurators/release.hpp"
#include "configurators/revert.hpp"

namespace nvstripe::daemon {
namespace {

constexpr const char* kLockPath = "/run/nvstripe/nvstriped.lock";
constexpr const char* kStatePath = "/var/lib/nvstripe/state.db";
constexpr std::int64_t kSilentEngineMs = 15 * 60'000;  // longer than any step's deadline: then the watchdog may act
constexpr int kStopStepMs = 20;
constexpr int kStopWaitMs = 8'000;  // for the step at hand; a crash after that is what recovery is for

std::int64_t now_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  (void)std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

int end_with(const Error& error) {
  std::fprintf(stderr, "%s%s%s\n", error.what.c_str(), error.remedy.empty() ? "" : "; ", error.remedy.c_str());
  return 1;
}

Result<Fd> only_instance() {
  for (const char* folder : {"/run/nvstripe", "/var/lib/nvstripe"})
    if (::mkdir(folder, 0755) != 0 && errno != EEXIST) return fail_errno("cannot make '" + std::string(folder) + "'");
  Fd lock(::open(kLockPath, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.get() < 0) return fail_errno("cannot open '" + std::string(kLockPath) + "'");
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    return fail_errno("another nvstriped runs already", errno, "'systemctl status nvstriped' shows it");
  return lock;
}

void start_volumes_target() {
  const auto done = host::run_command(
      {.argv = {"systemctl", "--no-block", "start", "nvstripe-volumes.target"}, .deadline = std::chrono::seconds(10)});
  if (!done || done->exit_status != 0) std::fputs("cannot start 'nvstripe-volumes.target'\n", stderr);
}

EventDraft started_event() {
  return EventDraft{std::string(event::kAgentStarted), "agent",
                    json::text(boost::json::object{{"version", NVSTRIPE_VERSION}})};
}

std::optional<std::uint32_t> uid_of(const char* user) {
  const passwd* found = ::getpwnam(user);
  return found == nullptr ? std::nullopt : std::optional<std::uint32_t>(found->pw_uid);
}

double now_seconds() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::uint64_t wall_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::string read_boot_id() {
  std::string text;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, text);
  return text;
}

Result<> can_run_jobs() {
  CHECKED(host::tool_path("systemd-run"));
  if (::access("/run/systemd/system", F_OK) != 0)
    return fail("this machine was not booted with systemd, which runs jobs", "tell of the job by 'nvstripe job start'");
  return {};
}

// What the daemon keeps of jobs; the watch goes first, as it uses the rest.
struct Jobs {
  Jobs(api::SharedStore& store, std::vector<JobRecord> known)
      : ledger(store, std::move(known), [this](const JobRecord& record) { figures.ended(record); }) {}
  api::JobFigures figures;
  jobs::Ledger ledger;
  std::string boot_id = read_boot_id();
  JobWatch watch{ledger, JobPlaces{.reports = {.folder = jobs::kReportsFolder}}, boot_id, wall_ms};

  [[nodiscard]] api::JobsContext context() {
    const auto run = [this](jobs::JobRun command, jobs::RunAs as) { watch.start(std::move(command), as); };
    return {ledger, host::live_accounts(), boot_id, wall_ms, can_run_jobs, run};
  }
};

api::Measured measured(const Tally& tally, const Jobs& jobs) {
  api::Measured out = tally.measured();
  out.jobs = jobs.figures.view(jobs.ledger);
  return out;
}

MachineParts machine_parts(host::TargetWatch& targets, api::SharedStore& store, Tally& tally) {
  MachineParts parts;
  parts.reader = host::live_reader([](std::string_view command, const std::vector<std::string>& devices) {
    return host::read_output(host::live_runner(), command, devices);
  });
  parts.targets = &targets;
  parts.observe = [&tally](const host::Reader& reader, const Spec& spec, FacetSet wanted, Inventory& seen) {
    observe_told(reader, spec, wanted, seen, [&](const Collector& collector, std::chrono::nanoseconds took) {
      tally.collected(collector.name, took, all_known(collector.writes, seen));
    });
  };
  if (auto uevents = host::Uevents::open()) parts.uevents = std::move(*uevents);
  parts.records = [&store]() -> Facet<Records> {
    auto records = store.records();
    return records ? Facet<Records>::known(std::move(*records)) : Facet<Records>::unavailable(records.error().what);
  };
  return parts;
}

struct Watches {
  FolderWatch folders;
  PolledFile mounts{"/proc/self/mountinfo"}, arrays{"/proc/mdstat"};
  std::unique_ptr<host::Uevents> uevents;
};

Result<> open_watches(Watches& watches) {
  CHECKED(watches.folders.open());
  TRY(watches.uevents, host::Uevents::open());
  return {};
}

void connect_watches(Watches& watches, SpecSource& specs, EngineParts& parts) {
  host::Uevents* uevents = watches.uevents.get();
  parts.sources = {watches.mounts.source(), watches.arrays.source(),
                   ChangeSource{uevents->fd(), POLLIN, [uevents] { return uevents->drain(); }}};
  parts.watch_specs = [&watches, &specs] { watches.folders.watch(specs.watched()); };
  parts.spec_fd = watches.folders.fd();
  parts.pulse = [] { return nvme_pulse("/"); };
}

void connect_machine(EngineParts& parts) {
  parts.volumes_ready = start_volumes_target;
  parts.release_volume = configure::release_volume;
  parts.revert_tuning = configure::revert_tuning;
  parts.now_ms = now_ms;
  parts.now_text = now_text;
}

sigset_t block_ending_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);  // all threads inherit it; only the first one waits for them
  (void)std::signal(SIGPIPE, SIG_IGN);
  return ending;
}

// `alive` is asked each second: the watchdog hears of it from this thread, which waits for neither disk nor network.
void run_until_signal(Engine& engine, api::SharedStore& store, const sigset_t& ending, const std::function<bool()>& alive) {
  std::atomic<bool> ended{false};
  std::thread thread([&engine, &ended] {
    engine.run();
    ended = true;
  });
  constexpr timespec kSecond{1, 0};
  while (::sigtimedwait(&ending, nullptr, &kSecond) < 0)
    if (alive()) (void)::sd_notify(0, "WATCHDOG=1");
  (void)::sd_notify(0, "STOPPING=1");
  engine.stop();
  for (int waited = 0; !ended && waited < kStopWaitMs; waited += kStopStepMs) ::poll(nullptr, 0, kStopStepMs);
  // An event that cannot be written is only a missing line.
  (void)store.write({}, {EventDraft{std::string(event::kAgentStopped), "agent", "{}"}});
  if (!ended) ::_exit(0);  // a step is under way in a child, which goes on; the next start looks at what came of it
  thread.join();
}

}  // namespace

int serve() {
  const sigset_t ending = block_ending_signals();
  const auto lock = only_instance();
  if (!lock) return end_with(lock.error());
  auto opened = store::Store::open(kStatePath);
  if (!opened) return end_with(opened.error());
  auto remembered = (*opened)->records();
  if (!remembered) return end_with(remembered.error());
  api::SharedStore store(std::move(*opened));
  const Fd wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  const auto wake_up = [fd = wake.get()] {
    const std::uint64_t one = 1;
    (void)!::write(fd, &one, sizeof one);  // full: awake already
  };
  api::Board board;
  board.set_wake(wake_up);
  board.beat(now_ms());
  std::atomic<std::int64_t> served_ms{now_ms()};
  const auto tick = [&served_ms] { served_ms = now_ms(); };
  const auto alive = [&] { return now_ms() - std::min(board.last_beat_ms(), served_ms.load()) < kSilentEngineMs; };
  Tally tally(now_seconds);
  Jobs jobs(store, std::move(remembered->jobs));
  const api::JobsContext jobs_context = jobs.context();
  const api::RouteContext routes{.board = board,
                                 .store = store,
                                 .now_ms = now_ms,
                                 .measured = [&] { return measured(tally, jobs); },
                                 .jobs = &jobs_context,
                                 .uplink_uid = uid_of("nvstripe-uplink")};
  const auto respond = [&routes](const api::HttpRequest& request) { return api::respond(routes, request); };
  const auto server = api::Server::start(api::kSocketPath, respond, tick);
  if (!server) return end_with(server.error());
  if (const auto written = store.write({}, {started_event()}); !written) return end_with(written.error());

  Watches watches;
  if (const auto watched = open_watches(watches); !watched) return end_with(watched.error());
  SpecSource specs(SpecPlaces{}, load_spec_or_error, now_text);
  host::TargetWatch targets(wake_up);
  Machine machine(machine_parts(targets, store, tally));
  EngineParts parts{machine, store, board, specs, load_spec_or_error};
  connect_watches(watches, specs, parts);
  connect_machine(parts);
  parts.wake_fd = wake.get();
  parts.tally = &tally;
  Engine engine(std::move(parts));
  const FiguresWatch figures(board, tally);
  (void)::sd_notify(0, "READY=1\nSTATUS=serving");
  run_until_signal(engine, store, ending, alive);
  return 0;
}

}  // namespace nvstripe::daemon

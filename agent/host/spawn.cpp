// Owns the call of posix_spawn and the list of abandoned children.
#include "agent/host/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <mutex>

namespace nvstripe::host {
namespace {

// PATH for programs that call others (mdadm, lvm, modprobe); nothing is taken over from whoever started us.
constexpr std::array<const char*, 7> kEnvironment = {
    "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/", "SYSTEMD_PAGER=", "SYSTEMD_COLORS=0",
    "LVM_SUPPRESS_FD_WARNINGS=1",         nullptr};

// Children that did not die of SIGKILL; asked again, without waiting, whenever another one is started.
class Abandoned {
 public:
  void add(pid_t pid) {
    const std::lock_guard lock(mutex_);
    pids_.push_back(pid);
  }
  void reap() {
    const std::lock_guard lock(mutex_);
    std::erase_if(pids_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
  }

 private:
  std::mutex mutex_;
  std::vector<pid_t> pids_;
};
Abandoned& abandoned() {
  static Abandoned list;
  return list;
}

// posix_spawn's two objects, released whatever happens.
struct SpawnSetup {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

}  // namespace

Result<pid_t> spawn_program(const std::string& path, const std::vector<std::string>& argv, const Streams& streams) {
  SpawnSetup setup;
  const std::array<int, 3> given = {streams.in, streams.out, streams.err};
  for (int fd = 0; fd < 3; ++fd) {
    const int from = given[static_cast<std::size_t>(fd)];
    if (from < 0) {
      posix_spawn_file_actions_addopen(&setup.actions, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
    } else {
      posix_spawn_file_actions_adddup2(&setup.actions, from, fd);
    }
  }
  posix_spawn_file_actions_addclosefrom_np(&setup.actions, 3);
  posix_spawn_file_actions_addchdir_np(&setup.actions, "/");
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&setup.attributes, &none);
  posix_spawnattr_setsigdefault(&setup.attributes, &all);
  posix_spawnattr_setpgroup(&setup.attributes, 0);
  posix_spawnattr_setflags(&setup.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  arguments.reserve(argv.size() + 1);
  for (const auto& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int code = posix_spawn(&pid, path.c_str(), &setup.actions, &setup.attributes, arguments.data(),
                               const_cast<char**>(kEnvironment.data()));
  if (code != 0) return fail_errno("cannot start '" + path + "'", code);
  return pid;
}

// The header <sys/pidfd.h> of glibc 2.36 declares these functions without C linkage.
Fd open_pidfd(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

void abandon(pid_t pid) { abandoned().add(pid); }

void reap_abandoned() { abandoned().reap(); }

}  // namespace nvstripe::host

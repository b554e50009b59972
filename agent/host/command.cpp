// Owns the life of a child process: spawn, poll, end, reap or abandon.
#include "agent/host/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "agent/base/fd.hpp"
#include "agent/host/tools.hpp"

namespace nvstripe::host {
namespace {

using Clock = std::chrono::steady_clock;

// PATH for programs that call others (mdadm, lvm, modprobe); nothing is taken over from whoever started us.
constexpr std::array<const char*, 7> kEnvironment = {
    "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", "HOME=/",  "SYSTEMD_PAGER=", "SYSTEMD_COLORS=0",
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

struct Pipe {
  Fd read, write;
};
Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("cannot make a pipe");
  Pipe made{Fd(ends[0]), Fd(ends[1])};
  if (::fcntl(made.read.get(), F_SETFL, O_NONBLOCK) != 0) return fail_errno("cannot set a pipe to non-blocking");
  return made;
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

Result<pid_t> spawn(const std::string& path, const std::vector<std::string>& argv, const Pipe& out, const Pipe& err) {
  SpawnSetup setup;
  posix_spawn_file_actions_addopen(&setup.actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&setup.actions, out.write.get(), 1);
  posix_spawn_file_actions_adddup2(&setup.actions, err.write.get(), 2);
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

// One output stream: bounded text, and whole lines handed on.
class Stream {
 public:
  Stream(Fd fd, std::string& text, std::size_t limit, bool& truncated, const std::function<void(std::string_view)>* on_line)
      : fd_(std::move(fd)), text_(text), limit_(limit), truncated_(truncated), on_line_(on_line) {}

  [[nodiscard]] int fd() const { return fd_.get(); }
  // Takes what is there; closes at the end of the stream.
  void drain() {
    std::array<char, 16384> buffer{};
    while (fd_) {
      const auto got = ::read(fd_.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0) {
        fd_.reset();
        return;
      }
      take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    }
  }

 private:
  void take(std::string_view piece) {
    const auto room = limit_ - std::min(limit_, text_.size());
    if (piece.size() > room) truncated_ = true;
    text_.append(piece.substr(0, room));
    if (on_line_ == nullptr || !*on_line_) return;
    for (auto end = text_.find('\n', told_); end != std::string::npos; end = text_.find('\n', told_)) {
      const std::string line = text_.substr(told_, end - told_);
      told_ = end + 1;
      (*on_line_)(line);
    }
  }

  Fd fd_;
  std::string& text_;
  std::size_t limit_, told_ = 0;
  bool& truncated_;
  const std::function<void(std::string_view)>* on_line_;
};

// The header <sys/pidfd.h> of glibc 2.36 declares these functions without C linkage.
Fd open_pidfd(pid_t pid) { return Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

enum class Stage { running, told_to_end, killed, given_up };

class Child {
 public:
  Child(pid_t pid, const Command& command, CommandResult& result)
      : pid_(pid), pidfd_(open_pidfd(pid)), command_(command), result_(result), due_(Clock::now() + command.deadline) {}

  // Polls until the child ended or was given up.
  void watch(Stream& out, Stream& err) {
    while (stage_ != Stage::given_up) {
      std::array<pollfd, 3> polled = {pollfd{out.fd(), POLLIN, 0}, pollfd{err.fd(), POLLIN, 0}, pollfd{pidfd_.get(), POLLIN, 0}};
      const int ready = ::poll(polled.data(), polled.size(), wait_ms());
      out.drain();
      err.drain();
      // A grandchild may hold the pipes open for ever: the end of the child itself is what counts.
      if (ready >= 0 && reaped()) {
        out.drain();
        err.drain();
        return;
      }
      if (Clock::now() >= due_) advance();
    }
  }

 private:
  [[nodiscard]] int wait_ms() const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due_ - Clock::now()).count() + 1;
    // Without a pidfd (refused by a filter) the child is looked for ten times a second.
    return static_cast<int>(std::clamp<long long>(left, 0, pidfd_ ? 60'000 : 100));
  }
  bool reaped() {
    int status = 0;
    const pid_t got = ::waitpid(pid_, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return false;
    if (got == pid_ && WIFEXITED(status) && !result_.timed_out) result_.exit_status = WEXITSTATUS(status);
    if (got == pid_ && WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
    return true;
  }
  void advance() {
    result_.timed_out = true;
    due_ = Clock::now() + command_.grace;
    if (stage_ == Stage::running && !command_.kill_at_once) {
      ::kill(-pid_, SIGTERM);
      stage_ = Stage::told_to_end;
    } else if (stage_ == Stage::running || stage_ == Stage::told_to_end) {
      ::kill(-pid_, SIGKILL);
      stage_ = Stage::killed;
    } else {
      result_.abandoned = true;
      abandoned().add(pid_);
      stage_ = Stage::given_up;
    }
  }

  pid_t pid_;
  Fd pidfd_;
  const Command& command_;
  CommandResult& result_;
  Clock::time_point due_;
  Stage stage_ = Stage::running;
};

class LiveRunner : public Runner {
 public:
  Result<CommandResult> run(const Command& command) override { return run_command(command); }
};

}  // namespace

Result<CommandResult> run_command(const Command& command) {
  abandoned().reap();
  if (command.argv.empty()) return fail("cannot start a program without a name");
  std::string path = command.argv[0];
  if (!path.starts_with('/')) {
    TRY(path, tool_path(path));
  }
  TRY(Pipe out, make_pipe());
  TRY(Pipe err, make_pipe());
  TRY(const pid_t pid, spawn(path, command.argv, out, err));
  out.write.reset();
  err.write.reset();
  CommandResult result;
  Stream out_stream(std::move(out.read), result.out, command.max_output, result.truncated, &command.on_line);
  Stream err_stream(std::move(err.read), result.err, command.max_output, result.truncated, nullptr);
  Child(pid, command, result).watch(out_stream, err_stream);
  return result;
}

Runner& live_runner() {
  static LiveRunner runner;
  return runner;
}

}  // namespace nvstripe::host

// Owns the life of a child process: spawn, poll, end, reap or abandon.
#include "agent/host/command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/base/fd.hpp"
#include "agent/host/spawn.hpp"
#include "agent/host/tools.hpp"

namespace nvstripe::host {
namespace {

using Clock = std::chrono::steady_clock;

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

enum class Stage { running, told_to_end, killed, given_up };

class Child {
 public:
  Child(pid_t pid, const Command& command, CommandResult& result)
      : pid_(pid), pidfd_(open_pidfd(pid)), command_(command), result_(result), due_(Clock::now() + command.deadline) {}

  // Polls until the child ended or was given up.
  void watch(Stream& out, Stream& err) {
    while (stage_ != Stage::given_up) {
      std::array<pollfd, 4> polled = {pollfd{out.fd(), POLLIN, 0}, pollfd{err.fd(), POLLIN, 0},
                                      pollfd{pidfd_.get(), POLLIN, 0},
                                      pollfd{stage_ == Stage::running ? command_.cancel_fd : -1, POLLIN, 0}};
      const int ready = ::poll(polled.data(), polled.size(), wait_ms());
      out.drain();
      err.drain();
      // A grandchild may hold the pipes open for ever: the end of the child itself is what counts.
      if (ready >= 0 && reaped()) {
        out.drain();
        err.drain();
        return;
      }
      if (Clock::now() >= due_ || (polled[3].revents & POLLIN) != 0) advance();
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
      abandon(pid_);
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
  reap_abandoned();
  if (command.argv.empty()) return fail("cannot start a program without a name");
  std::string path = command.argv[0];
  if (!path.starts_with('/')) {
    TRY(path, tool_path(path));
  }
  TRY(Pipe out, make_pipe());
  TRY(Pipe err, make_pipe());
  TRY(const pid_t pid, spawn_program(path, command.argv, {.out = out.write.get(), .err = err.write.get()}));
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

// Owns the parent's half of the hands: requests, answers, deadlines.
#include "agent/host/hands.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "agent/host/child.hpp"
#include "agent/host/spawn.hpp"

namespace nvstripe::host {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

// The child ends itself after ten idle seconds; it is not asked again in the second half of them.
constexpr std::chrono::seconds kReuse{5};

std::string text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(json::string_view(key.data(), key.size()));
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

Result<std::string> read_answer(const std::string& line, const std::string& what) {
  boost::system::error_code code;
  const auto value = json::parse(line, code);
  if (code || !value.is_object()) return fail(what + ": the child's answer is not understood", "see the log");
  const auto& object = value.get_object();
  if (const auto* error = object.if_contains("errno"); error != nullptr && error->is_int64()) {
    const auto number = static_cast<int>(error->get_int64());
    return fail(text_of(object, "what"), text_of(object, "remedy"),
                number == 0 ? std::error_code() : std::error_code(number, std::system_category()));
  }
  return text_of(object, "result");
}

Result<> nothing(Result<std::string> answer) {
  if (!answer) return tl::unexpected(std::move(answer).error());
  return {};
}

std::string request(std::string_view verb, json::object fields) {
  fields["verb"] = json::string_view(verb.data(), verb.size());
  return json::serialize(fields) + "\n";
}

}  // namespace

Result<> Hands::start() {
  if (pid_ > 0 && Clock::now() - used_ < kReuse) return {};
  let_go();
  reap_abandoned();
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) return fail_errno("cannot make a socket pair");
  to_child_ = Fd(pair[0]);
  const Fd other(pair[1]);
  TRY(pid_, spawn_program("/proc/self/exe", child_argv("hands", std::chrono::milliseconds(0), {}),
                          {.in = other.get(), .out = other.get()}));
  return {};
}

void Hands::let_go() {
  to_child_.reset();
  pending_.clear();
  if (pid_ > 0) abandon(pid_);  // it sees the end of its input and ends; reaped later
  pid_ = -1;
}

void Hands::give_up() {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
  let_go();
}

Result<std::string> Hands::answer_until(Clock::time_point due) {
  for (;;) {
    if (const auto end = pending_.find('\n'); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due - Clock::now()).count();
    if (left <= 0) return fail_errno("no answer", ETIMEDOUT);
    pollfd polled{to_child_.get(), POLLIN, 0};
    if (::poll(&polled, 1, static_cast<int>(std::min<long long>(left, 60'000))) <= 0) continue;
    std::array<char, 4096> buffer{};
    const auto got = ::read(to_child_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail_errno("the child ended", EPIPE);
    pending_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Result<std::string> Hands::ask(const std::string& line, std::chrono::milliseconds deadline, const std::string& what) {
  CHECKED(start());
  const auto due = Clock::now() + deadline;
  std::string_view rest = line;
  while (!rest.empty()) {
    const auto put = ::send(to_child_.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const auto code = errno;
      give_up();
      return fail_errno(what, code, "it is tried again");
    }
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  auto answer = answer_until(due);
  used_ = Clock::now();
  if (answer) return read_answer(*answer, what);
  give_up();
  if (is_errno(answer.error(), ETIMEDOUT)) {
    return fail_errno(what + " has not returned after " + std::to_string(deadline.count() / 1000) + " s and was given up",
                      ETIMEDOUT, "look for a drive or target that does not answer: 'nvstripe status'");
  }
  return fail(what + ": " + answer.error().what, "it is tried again", answer.error().cause);
}

Result<> Hands::write_attribute(const std::string& path, const std::string& value, std::chrono::milliseconds deadline) {
  return nothing(ask(request("write_attribute", {{"path", path}, {"value", value}}), deadline, "writing '" + path + "'"));
}
Result<> Hands::put_file(const PutFile& step) {
  return nothing(ask(request("put_file", {{"path", step.path}, {"text", step.text}, {"mode", step.mode}}), kFileDeadline,
                     "writing '" + step.path + "'"));
}
Result<> Hands::make_dir(const std::string& path) {
  return nothing(ask(request("make_dir", {{"path", path}}), kFileDeadline, "making folder '" + path + "'"));
}
Result<> Hands::make_mount_point(const std::string& path) {
  return nothing(ask(request("make_mount_point", {{"path", path}}), kFileDeadline, "preparing mount point '" + path + "'"));
}
Result<> Hands::make_link(const std::string& target, const std::string& path) {
  return nothing(ask(request("make_link", {{"target", target}, {"path", path}}), kFileDeadline, "linking '" + path + "'"));
}
Result<> Hands::remove_path(const std::string& path) {
  return nothing(ask(request("remove_path", {{"path", path}}), kFileDeadline, "removing '" + path + "'"));
}
Result<> Hands::set_owner(const SetOwner& step) {
  return nothing(
      ask(request("set_owner", {{"path", step.path}, {"owner", step.owner}, {"group", step.group}, {"mode", step.mode}}),
          kFileDeadline, "setting the owner of '" + step.path + "'"));
}

Result<std::string> Hands::connect(const Connect& step) {
  json::object fields = {{"nqn", step.nqn},
                         {"transport", step.transport},
                         {"traddr", step.traddr},
                         {"trsvcid", step.trsvcid},
                         {"host_traddr", step.host_traddr},
                         {"hostnqn", step.hostnqn},
                         {"hostid", step.hostid},
                         {"nr_io_queues", step.nr_io_queues},
                         {"queue_size", step.queue_size},
                         {"keep_alive_tmo", step.keep_alive_tmo},
                         {"reconnect_delay", step.reconnect_delay},
                         {"ctrl_loss_tmo", step.ctrl_loss_tmo},
                         {"fast_io_fail_tmo", step.fast_io_fail_tmo}};
  auto answer = ask(request("connect", std::move(fields)), step.deadline,
                    "connecting '" + step.nqn + "' at '" + step.traddr + ":" + step.trsvcid + "' by " + step.transport);
  if (!answer && is_errno(answer.error(), ETIMEDOUT)) {
    answer.error().remedy = "the target accepts connections but does not answer: check it, then it is tried again";
  }
  return answer;
}

Result<> Hands::delete_controller(const DeleteController& step, std::chrono::milliseconds deadline) {
  json::object fields = {{"name", step.name},
                         {"nqn", step.nqn},
                         {"transport", step.transport},
                         {"traddr", step.traddr},
                         {"trsvcid", step.trsvcid}};
  return nothing(ask(request("delete_controller", std::move(fields)), deadline,
                     "disconnecting '" + step.nqn + "' at '" + step.traddr + "'"));
}

}  // namespace nvstripe::host

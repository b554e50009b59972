// Owns the threads of the watch, their pace and their memory.
#include "agent/host/targets.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <condition_variable>
#include <thread>

#include "agent/base/fd.hpp"
#include "agent/host/child.hpp"

namespace nvstripe::host {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

// Name resolution, two reachability checks of a few seconds each, and a discovery controller by each transport.
constexpr std::chrono::seconds kDeadline{25};
constexpr std::chrono::seconds kSlowestFailing{30}, kSlowestFollowing{300}, kFollowing{60};

json::string_view view_of(std::string_view text) { return {text.data(), text.size()}; }

std::string text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(view_of(key));
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

Reach reach_of(const json::object& object, std::string_view key) {
  const auto text = text_of(object, key);
  for (const auto reach : {Reach::unknown, Reach::checking, Reach::reachable, Reach::unreachable, Reach::silent}) {
    if (to_text(reach) == text) return reach;
  }
  return Reach::unknown;
}

std::string_view word(Transport transport) {
  switch (transport) {
    case Transport::rdma:
      return "rdma";
    case Transport::tcp:
      return "tcp";
    case Transport::automatic:
      break;
  }
  return "auto";
}

}  // namespace

std::string to_line(const TargetView& view) {
  json::array subsystems;
  for (const auto& one : view.subsystems) {
    subsystems.push_back(
        json::object{{"nqn", one.nqn}, {"transport", one.transport}, {"traddr", one.traddr}, {"trsvcid", one.trsvcid}});
  }
  return json::serialize(json::object{{"connection", view.connection},
                                      {"tcp", view_of(to_text(view.tcp))},
                                      {"rdma", view_of(to_text(view.rdma))},
                                      {"resolved_address", view.resolved_address},
                                      {"local_address", view.local_address},
                                      {"discovered", view.discovered},
                                      {"subsystems", std::move(subsystems)},
                                      {"problem", view.problem},
                                      {"tcp_problem", view.tcp_problem},
                                      {"rdma_problem", view.rdma_problem}});
}

Result<TargetView> parse_target_line(std::string_view line) {
  boost::system::error_code code;
  const auto value = json::parse(view_of(line), code);
  if (code || !value.is_object()) return fail("a target's view is not understood");
  const auto& object = value.get_object();
  TargetView view{.connection = text_of(object, "connection"),
                  .tcp = reach_of(object, "tcp"),
                  .rdma = reach_of(object, "rdma"),
                  .resolved_address = text_of(object, "resolved_address"),
                  .local_address = text_of(object, "local_address"),
                  .problem = text_of(object, "problem"),
                  .tcp_problem = text_of(object, "tcp_problem"),
                  .rdma_problem = text_of(object, "rdma_problem")};
  const auto* discovered = object.if_contains("discovered");
  view.discovered = discovered != nullptr && discovered->is_bool() && discovered->get_bool();
  const auto* subsystems = object.if_contains("subsystems");
  if (subsystems == nullptr || !subsystems->is_array()) return fail("a target's view has no subsystems");
  for (const auto& item : subsystems->get_array()) {
    if (!item.is_object()) return fail("a target's subsystem is not understood");
    const auto& one = item.get_object();
    view.subsystems.push_back(
        {text_of(one, "nqn"), text_of(one, "transport"), text_of(one, "traddr"), text_of(one, "trsvcid")});
  }
  return view;
}

TargetView unfinished(TargetView last, bool timed_out) {
  const char* why = timed_out ? "it accepted a connection and then did not answer" : "the check of it ended early";
  for (auto* reach : {&last.tcp, &last.rdma}) {
    if (*reach == Reach::reachable && timed_out && !last.discovered) *reach = Reach::silent;
    if (*reach == Reach::checking) *reach = Reach::unreachable;
  }
  if (last.resolved_address.empty()) why = "its name could not be resolved in time";
  if (last.problem.empty()) last.problem = why;
  return last;
}

TargetView with_memory(TargetView fresh, const TargetView& before) {
  if (!fresh.discovered && before.discovered) {
    fresh.discovered = true;
    fresh.subsystems = before.subsystems;
  }
  if (fresh.resolved_address.empty()) fresh.resolved_address = before.resolved_address;
  if (fresh.local_address.empty()) fresh.local_address = before.local_address;
  return fresh;
}

bool answers(const TargetView& view) {
  return view.problem.empty() && (view.tcp == Reach::reachable || view.rdma == Reach::reachable);
}

std::chrono::seconds TargetPace::after(bool answered, bool changed) {
  if (!answered) {
    const auto wait = failing_;
    failing_ = std::min(failing_ * 2, kSlowestFailing);
    following_ = kFollowing;
    return wait;
  }
  failing_ = std::chrono::seconds(1);
  if (changed) following_ = kFollowing;
  const auto wait = following_;
  following_ = std::min(following_ * 2, kSlowestFollowing);
  return wait;
}

TargetView ask_target(const TargetQuestion& question, int cancel_fd) {
  const auto& to = question.connection;
  TargetView last{.connection = to.name};
  Command command = child_command("target", kDeadline,
                                  {to.name, to.address, std::to_string(to.port), std::string(word(to.transport)),
                                   to.subsystem.value_or(""), question.hostnqn, question.hostid});
  command.cancel_fd = cancel_fd;
  command.on_line = [&](std::string_view line) {
    if (auto parsed = parse_target_line(line)) last = std::move(*parsed);
  };
  const auto result = run_command(command);
  if (!result) {
    last.problem = result.error().what;
    return last;
  }
  return result->exit_status == 0 ? last : unfinished(std::move(last), result->timed_out);
}

// One connection's thread.
class TargetWatch::Follower {
 public:
  Follower(TargetQuestion question, const Ask& ask, const std::function<void()>& changed)
      : question_(std::move(question)), ask_(ask), changed_(changed), cancel_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    view_.connection = question_.connection.name;
    view_.tcp = question_.connection.transport == Transport::rdma ? Reach::unknown : Reach::checking;
    view_.rdma = question_.connection.transport == Transport::tcp ? Reach::unknown : Reach::checking;
    thread_ = std::thread([this] { work(); });
  }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;
  ~Follower() {
    stop();
    thread_.join();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    const std::uint64_t one = 1;
    (void)!::write(cancel_.get(), &one, sizeof one);  // cannot fail before 2^64 calls
    wake_.notify_all();
  }
  void ask_again() {
    {
      const std::lock_guard lock(mutex_);
      asked_ = true;
    }
    wake_.notify_all();
  }
  [[nodiscard]] const TargetQuestion& question() const { return question_; }
  [[nodiscard]] TargetView view() const {
    const std::lock_guard lock(mutex_);
    return view_;
  }

 private:
  void work() {
    constexpr std::chrono::seconds kLeast{1};
    for (;;) {
      auto fresh = ask_(question_, cancel_.get());
      const bool answered = answers(fresh);
      std::unique_lock lock(mutex_);
      if (stopping_) return;
      fresh = with_memory(std::move(fresh), view_);
      const bool changed = fresh != view_;
      view_ = std::move(fresh);
      const auto wait = pace_.after(answered, changed);
      lock.unlock();
      if (changed) changed_();
      lock.lock();
      if (wake_.wait_for(lock, kLeast, [&] { return stopping_; })) return;
      wake_.wait_for(lock, wait - kLeast, [&] { return stopping_ || asked_; });
      asked_ = false;
      if (stopping_) return;
    }
  }

  const TargetQuestion question_;
  const Ask& ask_;
  const std::function<void()>& changed_;
  Fd cancel_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false, asked_ = false;
  TargetView view_;
  TargetPace pace_;
  std::thread thread_;
};

TargetWatch::TargetWatch(std::function<void()> changed, Ask ask) : changed_(std::move(changed)), ask_(std::move(ask)) {}

TargetWatch::~TargetWatch() {
  const std::lock_guard lock(mutex_);
  for (auto& follower : followers_) follower->stop();  // all at once, then each is joined
  followers_.clear();
}

void TargetWatch::follow(const std::vector<ConnectionSpec>& connections, const std::string& hostnqn,
                         const std::string& hostid) {
  std::vector<std::unique_ptr<Follower>> ended, kept;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& connection : connections) {
      const TargetQuestion question{connection, hostnqn, hostid};
      const auto same = std::find_if(followers_.begin(), followers_.end(),
                                     [&](const auto& one) { return one && one->question() == question; });
      kept.push_back(same == followers_.end() ? std::make_unique<Follower>(question, ask_, changed_) : std::move(*same));
    }
    ended = std::exchange(followers_, std::move(kept));
    for (auto& follower : ended) {
      if (follower) follower->stop();
    }
  }
  ended.clear();  // joins outside the lock: a thread may be calling `changed`
}

void TargetWatch::ask_again() {
  const std::lock_guard lock(mutex_);
  for (auto& follower : followers_) follower->ask_again();
}

std::vector<TargetView> TargetWatch::views() const {
  std::vector<TargetView> all;
  const std::lock_guard lock(mutex_);
  for (const auto& follower : followers_) all.push_back(follower->view());
  return all;
}

}  // namespace nvstripe::host

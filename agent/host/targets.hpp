// Owns what is found out about the targets of the spec, asynchronously: names, routes, reachability, discovery logs. One
// thread a connection, and all that may block in a child of it, so that a dead target delays nobody. It connects nothing
// but short-lived discovery controllers, and only to targets that answered before.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/host/command.hpp"
#include "agent/model/inventory.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::host {

struct TargetQuestion {
  ConnectionSpec connection;
  std::string hostnqn, hostid;  // empty: not known yet; then no discovery log is read
  bool operator==(const TargetQuestion&) const = default;
};

// One look at a target in a child; ends at the deadline or when cancel_fd becomes readable.
[[nodiscard]] TargetView ask_target(const TargetQuestion& question, int cancel_fd);

[[nodiscard]] std::string to_line(const TargetView& view);
[[nodiscard]] Result<TargetView> parse_target_line(std::string_view line);
// What a look that did not end says: a target that let itself be reached and was then not heard of is silent.
[[nodiscard]] TargetView unfinished(TargetView last, bool timed_out);
// What was read from the discovery log stays known while the target is away.
[[nodiscard]] TargetView with_memory(TargetView fresh, const TargetView& before);
[[nodiscard]] bool answers(
    const TargetView& view);  // reached by a transport that was asked, and discovered if that was asked

// When to look again: soon after failures, ever slower; slowly after success, slower when nothing changes.
class TargetPace {
 public:
  [[nodiscard]] std::chrono::seconds after(bool answered, bool changed);

 private:
  std::chrono::seconds failing_{1}, following_{60};
};

class TargetWatch {
 public:
  using Ask = std::function<TargetView(const TargetQuestion&, int cancel_fd)>;
  // `changed` is called from threads of the watch whenever a view differs from the one before.
  explicit TargetWatch(std::function<void()> changed, Ask ask = ask_target);
  ~TargetWatch();
  TargetWatch(const TargetWatch&) = delete;
  TargetWatch& operator=(const TargetWatch&) = delete;

  // Begins with new connections, ends with those that are gone, begins anew with those that changed.
  void follow(const std::vector<ConnectionSpec>& connections, const std::string& hostnqn, const std::string& hostid);
  // Looks again soon: something is missing, or a controller was lost. Repeated calls within a second count once.
  void ask_again();
  [[nodiscard]] std::vector<TargetView> views() const;

 private:
  class Follower;
  std::function<void()> changed_;
  Ask ask_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Follower>> followers_;
};

}  // namespace nvstripe::host

// Owns `nvstripe wait`: 0 when the volumes are mounted, 2 when one of them is refused, 1 when the time is over, saying what
// it waits for. An agent that is not there yet is waited for as well: scripts run right after the package was installed.
#include <poll.h>

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "agent/api/client.hpp"
#include "agent/cli/commands.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPollMs = 500;
// A refusal counts when it stands for 10 s without the agent doing anything: while drives come one by one after a connect
// or a hotplug, there are too few of them for a while.
constexpr int kRefusedPolls = 20;

struct Verdict {
  bool done = false, refused = false;
  std::string waits;  // one sentence a volume
};

// A storage VM has no volumes: there, what is waited for is that its exports serve.
void judge_exports(const boost::json::value& status, Verdict& verdict) {
  const auto& exports = list_of(status, "exports");
  verdict.done = !exports.empty();
  if (exports.empty()) verdict.waits += "the spec names no volume and no export yet\n";
  for (const auto& entry : exports) {
    const std::string state = text_of(entry, "state");
    if (state == "serving") continue;
    verdict.done = false;
    verdict.refused = verdict.refused || state == "refused";
    verdict.waits += "export '" + text_of(entry, "name") + "' is " + state + "\n";
    for (const auto& reason : list_of(entry, "waits_for"))
      verdict.waits += "  " + text_of(reason, "why") + "\n    remedy: " + text_of(reason, "remedy") + "\n";
  }
}

Verdict judge(const boost::json::value& status, const std::vector<std::string>& names) {
  Verdict verdict{.done = true};
  std::set<std::string> missing(names.begin(), names.end());
  std::size_t counted = 0;
  for (const auto& volume : list_of(status, "volumes")) {
    const std::string name = text_of(volume, "name"), state = text_of(volume, "state");
    if (names.empty() ? state == "unclaimed" : missing.erase(name) == 0) continue;
    ++counted;
    if (state == "mounted") continue;
    verdict.done = verdict.done && state == "degraded" && text_of(volume, "device").size() > 0;
    verdict.refused = verdict.refused || state == "refused" || state == "data_lost" || state == "released";
    verdict.waits += "volume '" + name + "' is " + state + "\n";
    for (const auto& reason : list_of(volume, "waits_for"))
      verdict.waits += "  " + text_of(reason, "why") + "\n    remedy: " + text_of(reason, "remedy") + "\n";
  }
  for (const std::string& name : missing) verdict.waits += "volume '" + name + "' is not in the spec\n";
  if (!missing.empty() || counted == 0) verdict.done = false;
  if (const auto* spec = status.as_object().if_contains("spec"); spec != nullptr && !text_of(*spec, "problem").empty())
    verdict.waits += "the spec is not in force: " + text_of(*spec, "problem") + "\n";
  if (counted == 0 && missing.empty()) judge_exports(status, verdict);
  if (!verdict.done)
    for (const auto& failure : list_of(status, "failures")) verdict.waits += "  failed: " + text_of(failure, "error") + "\n";
  return verdict;
}

}  // namespace

int wait_for_volumes(const Context& context, const std::vector<std::string>& names, std::chrono::milliseconds timeout) {
  const auto until = Clock::now() + timeout;
  std::string waits = "the agent did not answer\n";
  bool reached = false;
  int refused = 0;
  for (;;) {
    const auto answer = api::exchange(context.socket, "GET", "/v1/status");
    if (answer && answer->status == 200) {
      const auto status = json::parse(answer->body);
      if (!status || !status->is_object())
        return complain(context, Error{"the agent's answer cannot be read", "report this", {}}, kFailed);
      reached = true;
      const Verdict verdict = judge(*status, names);
      waits = verdict.waits;
      const bool idle = text_of(*status, "activity").empty();
      refused = verdict.refused && idle ? refused + 1 : 0;
      if ((verdict.done && idle) || refused >= kRefusedPolls) {
        (void)print_document(context, *status);
        if (!verdict.waits.empty()) fmt::print(stderr, "{}", verdict.waits);
        return verdict.done ? kFine : kConflicts;
      }
    }
    if (Clock::now() >= until) break;
    ::poll(nullptr, 0,
           static_cast<int>(std::clamp<std::int64_t>(
               std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count(), 0, kPollMs)));
  }
  fmt::print(stderr, "nvstripe: the time is over\n{}", waits);
  return reached ? kFailed : kNotReachable;
}

}  // namespace nvstripe::cli

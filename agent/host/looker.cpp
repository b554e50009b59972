// Owns whom to ask, and remembering the answers.
#include "agent/host/looker.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>

#include "agent/host/block_node.hpp"
#include "agent/host/child.hpp"

namespace nvstripe::host {
namespace {

namespace json = boost::json;
using Clock = std::chrono::steady_clock;

constexpr auto kForever = Clock::time_point::max();

Traces traces_on_host(const std::string& device_number) {
  Traces traces{0, sectors_written("/sys/dev/block/" + device_number + "/stat")};
  struct stat found {};
  if (::stat(("/run/udev/data/b" + device_number).c_str(), &found) == 0)
    traces.record_time = static_cast<std::int64_t>(found.st_mtim.tv_sec) * 1'000'000'000 + found.st_mtim.tv_nsec;
  else if (::access("/run/udev/control", F_OK) != 0)
    traces.record_time = kNoUdev;
  return traces;
}

template <class Value>
Value named(const json::object& object, std::string_view key, std::initializer_list<Value> values) {
  const auto* text = object.if_contains(json::string_view(key.data(), key.size()));
  for (const auto value : values) {
    if (text != nullptr && text->is_string() && to_text(value) == std::string_view(text->get_string())) return value;
  }
  return *values.begin();
}

std::string text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(json::string_view(key.data(), key.size()));
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

const NvmeController* controller_named(const Inventory& seen, const std::string& name) {
  const auto& all = seen.controllers.value();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const NvmeController& one) { return one.kernel_name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string not_live(const BlockDevice& device, const Inventory& seen, int depth) {
  constexpr int kDeepest = 8;  // drive, slice, array, volume: more is a loop
  if (depth > kDeepest) return "it is stacked too deep to be followed";
  for (const auto& slave : device.slaves) {
    const BlockDevice* below = seen.find(slave);
    if (below == nullptr) return "what it is stacked on cannot be seen";
    if (auto why = not_live(*below, seen, depth + 1); !why.empty()) return why;
  }
  if (!device.kernel_name.starts_with("nvme")) return {};
  if (!seen.controllers.is_known()) return "its controllers cannot be seen";
  const bool live = std::any_of(device.controllers.begin(), device.controllers.end(), [&](const std::string& name) {
    const auto* controller = controller_named(seen, name);
    return controller != nullptr && controller->state == "live";
  });
  return live ? std::string() : "no controller of it is live";
}

void set(BlockDevice& device, const LookAnswer& answer) {
  device.look = answer.look;
  device.look_reason = answer.reason;
  device.content = answer.content;
  device.signatures = answer.signatures;
}

Depth depth_for(const BlockDevice& device) { return device.holders.empty() ? Depth::both : Depth::held; }

// What udev's record said may be shown where it names something; that it names nothing proves nothing.
void set_not_asked(BlockDevice& device, const std::string& why) {
  device.content = device.signatures.empty() ? Content::unknown : Content::data;
  if (device.look == Look::found || device.look == Look::ambiguous) return;
  device.look = Look::unknown;
  device.look_reason = why;
}

}  // namespace

std::string to_line(const std::string& device_number, const LookAnswer& answer) {
  json::array signatures;
  for (const auto& one : answer.signatures) {
    signatures.push_back(
        json::object{{"type", one.type}, {"uuid", one.uuid}, {"label", one.label}, {"in_progress", one.in_progress}});
  }
  const auto look = to_text(answer.look), content = to_text(answer.content);
  return json::serialize(json::object{{"number", device_number},
                                      {"look", json::string_view(look.data(), look.size())},
                                      {"reason", answer.reason},
                                      {"content", json::string_view(content.data(), content.size())},
                                      {"signatures", std::move(signatures)}});
}

Result<std::pair<std::string, LookAnswer>> parse_line(std::string_view line) {
  boost::system::error_code code;
  const auto value = json::parse(json::string_view(line.data(), line.size()), code);
  if (code || !value.is_object()) return fail("a look's answer is not understood");
  const auto& object = value.get_object();
  LookAnswer answer;
  answer.look = named(object, "look", {Look::unknown, Look::none, Look::ambiguous, Look::found});
  answer.content = named(object, "content", {Content::unknown, Content::presumed, Content::zero, Content::data});
  answer.reason = text_of(object, "reason");
  const auto* signatures = object.if_contains("signatures");
  if (signatures == nullptr || !signatures->is_array()) return fail("a look's answer has no signatures");
  for (const auto& item : signatures->get_array()) {
    if (!item.is_object()) return fail("a look's answer has a signature that is not understood");
    const auto& one = item.get_object();
    const auto* in_progress = one.if_contains("in_progress");
    answer.signatures.push_back({text_of(one, "type"), text_of(one, "uuid"), text_of(one, "label"),
                                 in_progress != nullptr && in_progress->is_bool() && in_progress->get_bool()});
  }
  return std::pair(text_of(object, "number"), std::move(answer));
}

LookAnswers look_in_child(const std::vector<LookAsked>& devices, std::chrono::milliseconds deadline) {
  LookAnswers answers;
  if (devices.empty()) return answers;
  std::vector<std::string> arguments;
  for (const auto& device : devices) {
    const std::string depth(device.depth == Depth::held ? kHeld : std::string_view());
    arguments.push_back(depth + device.device_number + "=" + device.path);
  }
  Command command = child_command("look", deadline, arguments);
  command.on_line = [&](std::string_view line) {
    if (auto parsed = parse_line(line)) answers.insert_or_assign(parsed->first, std::move(parsed->second));
  };
  const auto result = run_command(command);
  for (const auto& device : devices) {
    if (answers.contains(device.device_number)) continue;
    const std::string why = !result             ? result.error().what
                            : result->timed_out ? "reading it timed out"
                                                : "the look at it ended early";
    answers.emplace(device.device_number, LookAnswer{.look = Look::unknown, .reason = why});
  }
  return answers;
}

std::string not_asked(const BlockDevice& device, const Inventory& seen) {
  if (device.kind != DeviceKind::local_ssd && device.kind != DeviceKind::remote_namespace &&
      device.kind != DeviceKind::array) {
    return "not looked at: it is no candidate";
  }
  if (device.device_number.empty() || device.size.count == 0) return "it has no size";
  return not_live(device, seen, 0);
}

Looker::Looker() : Looker(look_in_child, traces_on_host) {}

// What was found stays found while its owner writes on; udev tells when a signature goes, and of a held device too often:
// each of an array's members gets a new record when it starts. That nothing was found holds only while nothing is written.
bool Looker::usable(const Kept& kept, const BlockDevice& device, Clock::time_point now) const {
  if (kept.diskseq != device.diskseq || now >= kept.until) return false;
  const Depth depth = depth_for(device);
  if (depth == Depth::held && kept.answer.look == Look::found) return true;
  if (depth == Depth::both && kept.depth == Depth::held) return false;
  const Traces traces = traces_of_(device.device_number);
  return kept.answer.look == Look::found ? kept.traces.record_time == traces.record_time : kept.traces == traces;
}

bool Looker::waits_for_udev(const BlockDevice& device, const Traces& traces, Clock::time_point now) {
  if (traces.record_time != 0) {
    without_record_.erase(device.device_number);
    return false;
  }
  return now < without_record_.try_emplace(device.device_number, now).first->second + kUdevPatience;
}

void Looker::keep(const BlockDevice& device, const LookAnswer& answer, Clock::time_point now, const Traces& traces) {
  Kept kept{device.diskseq, depth_for(device), traces, kForever, answer};
  if (answer.look == Look::unknown) kept.until = now + kRetryUnknown;
  kept_.insert_or_assign(device.device_number, std::move(kept));
}

void Looker::fill(Inventory& seen, Clock::time_point now) {
  if (!seen.blocks.is_known()) return;
  std::vector<LookAsked> asked;
  std::map<std::string, Traces> traces;
  for (auto& device : seen.blocks.value()) {
    const auto kept = kept_.find(device.device_number);
    const bool same_disk = kept != kept_.end() && kept->second.diskseq == device.diskseq;
    const std::string why = not_asked(device, seen);
    if (same_disk && (why.empty() ? usable(kept->second, device, now) : kept->second.answer.look == Look::found)) {
      // What was found is still there while its target is away; that nothing was found is not relied on then.
      set(device, kept->second.answer);
    } else if (!why.empty()) {
      set_not_asked(device, why);
    } else {
      // Taken before the look: a change during it makes the answer stale, not the next one.
      const Traces before = traces_of_(device.device_number);
      if (waits_for_udev(device, before, now)) {
        set_not_asked(device, "udev has not handled it yet");
        continue;
      }
      traces[device.device_number] = before;
      asked.push_back({device.device_number, "/dev/" + device.kernel_name, depth_for(device)});
    }
  }
  if (asked.empty()) return;
  const auto answers = ask_(asked, kDeadline);
  for (auto& device : seen.blocks.value()) {
    const auto answer = answers.find(device.device_number);
    if (answer == answers.end() || !traces.contains(device.device_number)) continue;
    set(device, answer->second);
    keep(device, answer->second, now, traces[device.device_number]);
  }
}

}  // namespace nvstripe::host

// Owns the life of a setting: record, set, set again, leave, give back. Knows nothing about why a value is wanted.
#include "configurators/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "agent/base/text.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::string_view kPaths = "paths/";

const TuningRecord* find_record(const Inventory& seen, const std::string& object, const std::string& attribute) {
  for (const TuningRecord& record : seen.records.value().tunings) {
    if (record.object == object && record.attribute == attribute) return &record;
  }
  return nullptr;
}

// "vm.dirty_bytes" → /proc/sys/vm/dirty_bytes, "nvme_core.io_timeout" → /sys/module/nvme_core/parameters/io_timeout.
Step write_step(const std::string& object, const std::string& attribute, const std::string& value) {
  WriteAttribute step;
  step.value = value;
  const std::size_t dot = attribute.find('.');
  if (object == "sysctl") {
    step.path = "/proc/sys/" + attribute;
    std::replace(step.path.begin(), step.path.end(), '.', '/');
  } else if (object == "module") {
    step.path = fmt::format("/sys/module/{}/parameters/{}", attribute.substr(0, dot), attribute.substr(dot + 1));
  } else {
    step.device = DeviceKey{object};
    step.of_paths = attribute.starts_with(kPaths);
    step.path = step.of_paths ? attribute.substr(kPaths.size()) : attribute;
  }
  return step;
}

std::string place(const std::string& object) {
  if (object == "sysctl" || object == "module") return "this machine";
  return fmt::format("'{}'", object);
}

Conflict note(const Setting& setting, std::string id, std::string why, std::string remedy) {
  return {fmt::format("setting '{}' of {}", setting.attribute, place(setting.object)),
          "tuning",
          std::move(why),
          std::move(remedy),
          Standing::note,
          std::move(id)};
}

struct Changes {
  std::vector<std::string> words, reasons;
  Action action;
};

void set_one(const Setting& setting, const Inventory& seen, std::map<std::string, Changes>& changes, Draft& draft) {
  if (setting.present == setting.wanted) return;
  const TuningRecord* record = find_record(seen, setting.object, setting.attribute);
  if (!setting.foreign_setter.empty()) {
    draft.conflicts.push_back(note(setting, "tuning.foreign_setter",
                                   fmt::format("'{}' sets it too, so it stays '{}' and not '{}'", setting.foreign_setter,
                                               setting.present, setting.wanted),
                                   "take it out there, or leave it"));
    return;
  }
  TuningRecord next{
      setting.object,  setting.attribute, setting.old_value.empty() ? setting.present : setting.old_value, setting.wanted, 0,
      setting.instance};
  if (record != nullptr && record->instance == setting.instance) {
    next.old_value = record->old_value;
    // Its value is not the one that was set: somebody else wrote it. Where it is, only what is wanted has changed.
    next.foreign_changes = record->foreign_changes + (setting.present == record->set_value ? 0u : 1u);
    if (next.foreign_changes > kMaxForeignChanges) {
      draft.conflicts.push_back(note(setting, "tuning.foreign_changes",
                                     fmt::format("somebody set it back to '{}' {} times, so it is left there",
                                                 setting.present, record->foreign_changes),
                                     "find who does (tuned, a udev rule, a script), or set 'tuning.profile: off'"));
      return;
    }
  }
  Changes& change = changes[setting.object];
  change.words.push_back(fmt::format("{} to {} (is {})", setting.attribute, setting.wanted, setting.present));
  if (std::find(change.reasons.begin(), change.reasons.end(), setting.reason) == change.reasons.end())
    change.reasons.push_back(setting.reason);
  change.action.before.push_back(next);
  change.action.steps.push_back(write_step(setting.object, setting.attribute, setting.wanted));
  change.action.undo.push_back(write_step(setting.object, setting.attribute, setting.present));
}

// "vm.dirty_ratio=20" gives back another name than the one that was set.
Step give_back_step(const TuningRecord& record) {
  const std::size_t equals = record.old_value.find('=');
  if (record.object == "sysctl" && equals != std::string::npos)
    return write_step(record.object, record.old_value.substr(0, equals), record.old_value.substr(equals + 1));
  return write_step(record.object, record.attribute, record.old_value);
}

std::string queue_value(const BlockQueue& queue, const std::string& attribute) {
  const auto number = [](const std::optional<std::uint64_t>& value) {
    return value ? std::to_string(*value) : std::string();
  };
  if (attribute == "queue/scheduler") return queue.scheduler;
  if (attribute == "queue/read_ahead_kb") return number(queue.read_ahead_kb);
  if (attribute == "queue/rq_affinity") return number(queue.rq_affinity);
  if (attribute == "queue/wbt_lat_usec") return number(queue.wbt_lat_usec);
  return {};
}

}  // namespace

Draft set_all(const std::vector<Setting>& wanted, const Inventory& seen) {
  Draft draft;
  std::map<std::string, Changes> changes;
  for (const Setting& setting : wanted) set_one(setting, seen, changes, draft);
  for (auto& [object, change] : changes) {
    Action& action = change.action;
    action.id = "tuning.set:" + object;
    action.object = "tuning";
    action.sentence = fmt::format("set {} on {}", join(change.words, ", "), place(object));
    action.reason = join(change.reasons, "; ");
    draft.actions.push_back(std::move(action));
  }
  return draft;
}

Draft give_back(const std::vector<Setting>& wanted, const Inventory& seen, bool (*mine)(const TuningRecord&)) {
  Draft draft;
  std::set<std::pair<std::string_view, std::string_view>> still;
  for (const Setting& setting : wanted) still.emplace(setting.object, setting.attribute);
  for (const TuningRecord& record : seen.records.value().tunings) {
    if (still.contains({record.object, record.attribute}) || !mine(record)) continue;
    Action action;
    action.id = fmt::format("tuning.revert:{} {}", record.object, record.attribute);
    action.object = "tuning";
    action.after = {Forget{"tuning", record_key(record)}};
    const std::string present = present_value(record, seen);
    if (present == record.set_value) {
      action.steps = {give_back_step(record)};
      action.sentence = fmt::format("set {} on {} back to {}", record.attribute, place(record.object), record.old_value);
      action.reason = "the spec no longer asks for it";
    } else {
      action.sentence = fmt::format("forget that {} on {} was tuned", record.attribute, place(record.object));
      action.reason = present.empty() ? "it is not there any more" : fmt::format("somebody else set it to {}", present);
    }
    draft.actions.push_back(std::move(action));
  }
  return draft;
}

std::string present_value(const TuningRecord& record, const Inventory& seen) {
  if (record.object == "sysctl") {
    for (const Sysctl& one : seen.sysctls.value()) {
      if (one.name == record.attribute) return one.value;
    }
    return {};
  }
  if (record.object == "module") {
    const auto& parameters = seen.kernel.value().module_parameters;
    const auto found = parameters.find(record.attribute);
    return found == parameters.end() ? std::string() : found->second;
  }
  const BlockDevice* device = seen.find({record.object});
  if (device == nullptr) return {};
  if (!record.attribute.starts_with(kPaths)) return queue_value(device->queue, record.attribute);
  // One value stands for all paths: they are only ever set together. One that differs is the one to tell of.
  std::string value;
  for (const BlockQueue& queue : device->path_queues) {
    const std::string one = queue_value(queue, record.attribute.substr(kPaths.size()));
    if (value.empty() || one != record.set_value) value = one;
  }
  return value;
}

}  // namespace nvstripe::configure

// Owns the words of events that the loop writes. What happened is read off steps and records.
#include "agent/engine/happened.hpp"

#include <algorithm>

#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/base/uuid.hpp"
#include "agent/model/event.hpp"

namespace nvstripe {
namespace {

using boost::json::object;

std::string json_text(const object& value) { return boost::json::serialize(value); }
std::string safe(const std::string& text) { return to_utf8(text); }

EventDraft event_about(std::string_view type, const std::string& on, const object& value) {
  return {std::string(type), event_subject(on), json_text(value)};
}

// "connection:s1" for a controller made for the connection s1.
std::string connection_object(const Action& action, const std::string& nqn) {
  for (const auto* list : {&action.after, &action.before}) {
    for (const Record& record : *list) {
      const auto* made = std::get_if<ConnectionRecord>(&record);
      if (made != nullptr && made->nqn == nqn) return "connection:" + made->connection;
    }
  }
  return action.object;
}

object members_of(const Action& action) {
  object out;
  for (const auto* list : {&action.after, &action.before}) {
    for (const Record& record : *list) {
      const auto* volume = std::get_if<VolumeRecord>(&record);
      if (volume == nullptr || out.contains("members")) continue;
      boost::json::array members;
      for (const DeviceKey& key : volume->members) members.emplace_back(safe(key.text));
      out["members"] = std::move(members);
      out["stack"] = volume->stack;
      const auto* digits = reinterpret_cast<const std::uint8_t*>(&volume->generation);
      std::vector<std::uint8_t> big(digits, digits + sizeof volume->generation);
      std::reverse(big.begin(), big.end());  // machines this is built for are little-endian
      out["generation"] = hex(big.data(), big.size());
    }
  }
  return out;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string> words_of(const Run& run) {
  std::vector<std::string> out;
  for (const Arg& arg : run.argv) {
    const auto* text = std::get_if<std::string>(&arg);
    out.push_back(text != nullptr ? *text : std::get<DeviceRef>(arg).key.text);
  }
  return out;
}

void told_by_run(const Action& action, const Run& run, std::vector<EventDraft>& out) {
  const std::vector<std::string> words = words_of(run);
  if (words.empty()) return;
  const std::string program = words[0].substr(words[0].rfind('/') == std::string::npos ? 0 : words[0].rfind('/') + 1);
  const bool mount = words.back().ends_with(".mount");
  std::string_view type;
  if (program == "mdadm" && has(words, "--create")) type = event::kArrayCreated;
  if (program == "mdadm" && has(words, "--assemble")) type = event::kArrayAssembled;
  if (program == "mdadm" && has(words, "--stop")) type = event::kArrayStopped;
  const bool volume = action.object.starts_with("volume:");
  if (volume && program == "lvcreate") type = event::kArrayCreated;
  const bool lvm_change = program == "vgchange" || program == "lvchange";
  if (volume && lvm_change && (has(words, "-ay") || has(words, "y"))) type = event::kArrayAssembled;
  if (volume && lvm_change && (has(words, "-an") || has(words, "n"))) type = event::kArrayStopped;
  if (program.starts_with("mkfs")) type = event::kFilesystemCreated;
  if (program == "systemctl" && mount && (has(words, "start") || has(words, "restart"))) type = event::kVolumeMounted;
  if ((program == "systemctl" && mount && has(words, "stop")) || program == "umount") type = event::kVolumeUnmounted;
  if (type.empty()) return;
  object data = members_of(action);
  data["action"] = safe(action.id);
  out.push_back(event_about(type, action.object, data));
}

struct ToldByStep {
  const Action& action;
  const Records& known;
  std::vector<EventDraft>& out;
  void operator()(const Run& run) const { told_by_run(action, run, out); }
  void operator()(const Connect& step) const {
    out.push_back(event_about(event::kConnectionMade, connection_object(action, step.nqn),
                              {{"subsystem", step.nqn},
                               {"transport", step.transport},
                               {"address", step.traddr},
                               {"port", step.trsvcid},
                               {"why_transport", safe(action.reason)}}));
  }
  void operator()(const Disconnect& step) const {
    std::string on = action.object;
    for (const ConnectionRecord& made : known.connections) {
      if (made.nqn == step.nqn && made.transport == step.transport && made.traddr == step.traddr)
        on = "connection:" + made.connection;
    }
    out.push_back(event_about(event::kConnectionEnded, on, {{"subsystem", step.nqn}, {"transport", step.transport}}));
  }
  template <class Other>
  void operator()(const Other&) const {}
};

struct ToldByRecord {
  const Action& action;
  const Records& before;
  std::vector<EventDraft>& out;
  void operator()(const VolumeRecord& record) const {
    const VolumeRecord* old = before.volume(record.name);
    if (record.stage != Stage::made || (old != nullptr && old->stage == Stage::made)) return;
    out.push_back(event_about(event::kVolumeCreated, "volume:" + record.name, members_of(action)));
  }
  void operator()(const ExportRecord& record) const {
    // A served entry that only notes more about its drive is no event.
    for (const ExportRecord& old : before.exports) {
      if (record_key(old) == record_key(record) && old.nsid == record.nsid && old.retired == record.retired &&
          old.served == record.served)
        return;
    }
    out.push_back(event_about(record.retired ? event::kExportWithdrawn : event::kExportMade, "export:" + record.export_name,
                              {{"host", record.host_nqn},
                               {"subsystem", record.subsystem_nqn},
                               {"nsid", record.nsid},
                               {"drive", safe(record.drive.text)},
                               {"slice", record.slice}}));
  }
  void operator()(const TuningRecord& record) const {
    out.push_back(event_about(event::kTuningApplied, "tuning",
                              {{"object", safe(record.object)},
                               {"attribute", record.attribute},
                               {"old", safe(record.old_value)},
                               {"new", safe(record.set_value)},
                               {"reason", safe(action.reason)}}));
  }
  void operator()(const IdentityRecord& record) const {
    if (before.identity) return;
    out.push_back(
        event_about(event::kIdentityRecorded, "identity", {{"host", to_text(record.host)}, {"source", record.source}}));
  }
  void operator()(const HoldRecord& record) const {
    if (record.why == "release") out.push_back(event_about(event::kVolumeReleased, record.object, members_of(action)));
  }
  void operator()(const Forget& gone) const {
    if (gone.kind != "tuning") return;
    for (const TuningRecord& old : before.tunings) {
      if (record_key(old) != gone.key) continue;
      out.push_back(
          event_about(event::kTuningReverted, "tuning",
                      {{"object", safe(old.object)}, {"attribute", old.attribute}, {"value", safe(old.old_value)}}));
    }
  }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

std::string event_subject(const std::string& on) {
  std::string subject = on;
  if (const auto colon = subject.find(':'); colon != std::string::npos) subject[colon] = '/';
  return subject;
}

std::vector<EventDraft> events_of_success(const Action& action, const Inventory& seen) {
  std::vector<EventDraft> out;
  out.push_back(event_about(event::kActionSucceeded, action.object,
                            {{"id", safe(action.id)},
                             {"sentence", safe(action.sentence)},
                             {"reason", safe(action.reason)},
                             {"risk", to_text(action.risk)}}));
  for (const Step& step : action.steps) std::visit(ToldByStep{action, seen.records.value(), out}, step);
  std::vector<Record> written = action.before;
  written.insert(written.end(), action.after.begin(), action.after.end());
  std::map<std::string, Record> last;  // an export that is intended before and completed after is told once
  for (const Record& record : written) last.insert_or_assign(record_kind(record) + " " + record_key(record), record);
  for (const auto& [key, record] : last) std::visit(ToldByRecord{action, seen.records.value(), out}, record);
  return out;
}

std::vector<EventDraft> events_of_failure(const Action& action, const Error& error) {
  std::vector<EventDraft> out;
  out.push_back(event_about(event::kActionFailed, action.object,
                            {{"id", safe(action.id)},
                             {"sentence", safe(action.sentence)},
                             {"error", safe(error.what)},
                             {"remedy", safe(error.remedy)}}));
  for (const Step& step : action.steps) {
    const auto* connect = std::get_if<Connect>(&step);
    if (connect == nullptr) continue;
    out.push_back(
        event_about(event::kConnectionFailed, connection_object(action, connect->nqn),
                    {{"transport", connect->transport}, {"error", safe(error.what)}, {"remedy", safe(error.remedy)}}));
    break;
  }
  return out;
}

EventDraft event_of_interruption(const IntentRecord& intent) {
  const auto colon = intent.action_id.find(':');
  const std::string subject = colon == std::string::npos ? intent.action_id : intent.action_id.substr(colon + 1);
  return {std::string(event::kActionInterrupted), "action/" + subject, json_text({{"id", safe(intent.action_id)}})};
}

EventDraft event_of_acceptance(const std::string& digest) {
  return {std::string(event::kAcceptanceUsed), "plan", json_text({{"digest", digest}})};
}

std::vector<EventDraft> events_of_conflict(const Conflict& conflict) {
  const object data{{"id", conflict.id},
                    {"subject", safe(conflict.subject)},
                    {"why", safe(conflict.why)},
                    {"remedy", safe(conflict.remedy)},
                    {"standing", to_text(conflict.standing)}};
  std::vector<EventDraft> out{event_about(event::kConflictFound, conflict.object, data)};
  if (conflict.id == "volume.data_lost") out.push_back(event_about(event::kVolumeDataLost, conflict.object, data));
  return out;
}

EventDraft event_of_cleared(const Conflict& conflict) {
  return event_about(event::kConflictCleared, conflict.object, {{"id", conflict.id}, {"subject", safe(conflict.subject)}});
}

std::vector<EventDraft> events_of_controllers(std::map<std::string, std::string>& states,
                                              std::map<std::string, std::int64_t>& lost_at_ms, const Inventory& seen,
                                              std::int64_t now_ms) {
  std::vector<EventDraft> out;
  if (!seen.controllers.is_known()) return out;
  std::map<std::string, std::string> now;
  for (const ConnectionRecord& record : seen.records.value().connections) {
    const std::string key = record_key(record);
    for (const NvmeController& c : seen.controllers.value()) {
      if (c.subsystem_nqn + "@" + c.transport + ":" + c.traddr + ":" + c.trsvcid == key) now[key] = c.state;
    }
    const auto old = states.find(key);
    if (!now.contains(key)) continue;
    const std::string& state = now[key];
    if (old == states.end()) {  // lost before this agent began to look; its return is an event all the same
      if (state != "live") lost_at_ms.try_emplace(key, now_ms);
      continue;
    }
    const std::string on = "connection:" + record.connection;
    if (old->second == "live" && state != "live") {
      lost_at_ms[key] = now_ms;
      out.push_back(event_about(event::kConnectionLost, on,
                                {{"subsystem", record.nqn}, {"transport", record.transport}, {"state", state}}));
    } else if (old->second != "live" && state == "live" && lost_at_ms.contains(key)) {
      const std::int64_t away = (now_ms - lost_at_ms[key]) / 1000;
      lost_at_ms.erase(key);
      out.push_back(event_about(event::kConnectionRestored, on,
                                {{"subsystem", record.nqn}, {"transport", record.transport}, {"away_s", away}}));
    }
  }
  states = std::move(now);
  return out;
}

}  // namespace nvstripe

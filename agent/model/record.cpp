// Owns how records are keyed and replaced. Decides nothing about what they mean.
#include "agent/model/record.hpp"

#include <algorithm>

namespace nvstripe {
namespace {

struct Kind {
  std::string operator()(const IdentityRecord&) const { return "identity"; }
  std::string operator()(const VolumeRecord&) const { return "volume"; }
  std::string operator()(const ExportRecord&) const { return "export"; }
  std::string operator()(const ConnectionRecord&) const { return "connection"; }
  std::string operator()(const TuningRecord&) const { return "tuning"; }
  std::string operator()(const HoldRecord&) const { return "hold"; }
  std::string operator()(const IntentRecord&) const { return "intent"; }
  std::string operator()(const JobRecord&) const { return "job"; }
  std::string operator()(const Forget& forget) const { return forget.kind; }
};

struct Key {
  std::string operator()(const IdentityRecord&) const { return "host"; }
  std::string operator()(const VolumeRecord& r) const { return r.name; }
  std::string operator()(const ExportRecord& r) const {
    return r.drive.text + "#" + std::to_string(r.slice) + "@" + r.subsystem_nqn;
  }
  std::string operator()(const ConnectionRecord& r) const {
    return r.nqn + "@" + r.transport + ":" + r.traddr + ":" + r.trsvcid;
  }
  std::string operator()(const TuningRecord& r) const { return r.object + " " + r.attribute; }
  std::string operator()(const HoldRecord& r) const { return r.object; }
  std::string operator()(const IntentRecord& r) const { return r.action_id; }
  std::string operator()(const JobRecord& r) const { return r.id; }
  std::string operator()(const Forget& forget) const { return forget.key; }
};

template <class T>
void replace(std::vector<T>& records, const T& record) {
  const auto same = [&](const T& other) { return Key{}(other) == Key{}(record); };
  if (const auto found = std::find_if(records.begin(), records.end(), same); found != records.end()) {
    *found = record;
  } else {
    records.push_back(record);
  }
}

template <class T>
void erase(std::vector<T>& records, const std::string& key) {
  std::erase_if(records, [&](const T& record) { return Key{}(record) == key; });
}

void forget(Records& records, const Forget& gone) {
  if (gone.kind == "identity") records.identity.reset();
  if (gone.kind == "volume") erase(records.volumes, gone.key);
  if (gone.kind == "export") erase(records.exports, gone.key);
  if (gone.kind == "connection") erase(records.connections, gone.key);
  if (gone.kind == "tuning") erase(records.tunings, gone.key);
  if (gone.kind == "hold") erase(records.holds, gone.key);
  if (gone.kind == "intent") erase(records.intents, gone.key);
  if (gone.kind == "job") erase(records.jobs, gone.key);
}

struct Put {
  Records& records;
  void operator()(const IdentityRecord& r) const { records.identity = r; }
  void operator()(const VolumeRecord& r) const { replace(records.volumes, r); }
  void operator()(const ExportRecord& r) const { replace(records.exports, r); }
  void operator()(const ConnectionRecord& r) const { replace(records.connections, r); }
  void operator()(const TuningRecord& r) const { replace(records.tunings, r); }
  void operator()(const HoldRecord& r) const { replace(records.holds, r); }
  void operator()(const IntentRecord& r) const { replace(records.intents, r); }
  void operator()(const JobRecord& r) const { replace(records.jobs, r); }
  void operator()(const Forget& gone) const { forget(records, gone); }
};

}  // namespace

const VolumeRecord* Records::volume(const std::string& name) const {
  for (const VolumeRecord& record : volumes) {
    if (record.name == name) return &record;
  }
  return nullptr;
}

bool Records::held(const std::string& object) const {
  return std::any_of(holds.begin(), holds.end(),
                     [&](const HoldRecord& hold) { return hold.object == object || hold.object == "all"; });
}

void Records::put(const Record& record) { std::visit(Put{*this}, record); }

std::string record_kind(const Record& record) { return std::visit(Kind{}, record); }
std::string record_key(const Record& record) { return std::visit(Key{}, record); }

std::string_view to_text(Stage stage) {
  switch (stage) {
    case Stage::intended:
      return "intended";
    case Stage::made_array:
      return "made_array";
    case Stage::made:
      return "made";
  }
  return "unknown";
}

std::string_view to_text(JobSource source) {
  switch (source) {
    case JobSource::run:
      return "run";
    case JobSource::report:
      return "report";
    case JobSource::unit:
      return "unit";
    case JobSource::slurm:
      return "slurm";
    case JobSource::marker:
      return "marker";
  }
  return "unknown";
}

std::string_view to_text(JobResult result) {
  switch (result) {
    case JobResult::success:
      return "success";
    case JobResult::failed:
      return "failed";
    case JobResult::signalled:
      return "signalled";
    case JobResult::timeout:
      return "timeout";
    case JobResult::oom:
      return "oom";
    case JobResult::unknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace nvstripe

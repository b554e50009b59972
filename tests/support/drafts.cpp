// Owns the words for drafts, and the little that an action changes in a look.
#include "tests/support/drafts.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "agent/engine/tables.hpp"
#include "agent/model/guard.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/seen.hpp"

namespace nvstripe::drafts {

Draft all(const Spec& wanted, const Inventory& seen) {
  Draft out;
  Spec spec = wanted;
  spec.tuning.profile = "off";
  for (const Configurator& row : all_configurators()) {
    Draft one = row.plan(spec, seen);
    out.actions.insert(out.actions.end(), one.actions.begin(), one.actions.end());
    out.conflicts.insert(out.conflicts.end(), one.conflicts.begin(), one.conflicts.end());
  }
  std::erase_if(out.actions, [](const Action& action) { return action.object == "tuning"; });
  const auto by_id = [](const Action& a, const Action& b) { return a.id < b.id; };
  std::stable_sort(out.actions.begin(), out.actions.end(), by_id);
  return out;
}

std::vector<std::string> ids(const Draft& draft) {
  std::vector<std::string> out;
  for (const Action& one : draft.actions) out.push_back(one.id);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> conflict_ids(const Draft& draft) {
  std::vector<std::string> out;
  for (const Conflict& one : draft.conflicts) out.push_back(one.id);
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<Action> action(const Draft& draft, const std::string& id) {
  for (const Action& one : draft.actions) {
    if (one.id == id) return one;
  }
  return std::nullopt;
}

std::optional<Conflict> conflict(const Draft& draft, const std::string& id) {
  for (const Conflict& one : draft.conflicts) {
    if (one.id == id) return one;
  }
  return std::nullopt;
}

std::string steps(const Action& action) {
  std::string out;
  for (const Step& step : action.steps) {
    out += "  " + to_sentence(step) + "\n";
    if (const auto* file = std::get_if<PutFile>(&step)) {
      std::string line;
      for (const char c : file->text + (file->text.ends_with('\n') ? "" : "\n")) {
        line += c;
        if (c != '\n') continue;
        out += line == "\n" ? "\n" : "    | " + line;
        line.clear();
      }
    }
  }
  return out;
}

std::string text(const Draft& draft) {
  std::string out;
  for (const Action& one : draft.actions) {
    out += one.id + " (" + std::string(to_text(one.risk)) + "): " + one.sentence + "\n  because " + one.reason + "\n";
    for (const Fact& fact : one.needs) out += "  needs " + fact + "\n";
    for (const Fact& fact : one.gives) out += "  gives " + fact + "\n";
    for (const std::string& line : one.destroys) out += "  destroys " + line + "\n";
    out += steps(one);
  }
  for (const Conflict& one : draft.conflicts)
    out += one.id + " (" + std::string(to_text(one.standing)) + "): " + one.subject + ": " + one.why +
           "\n  remedy: " + one.remedy + "\n";
  return out;
}

std::string vetoes(const Draft& draft, const Spec& spec, const Inventory& seen) {
  std::string out;
  for (const Action& one : draft.actions) {
    const guard::Veto veto = guard::judge(one, spec, seen);
    if (!veto.id.empty()) out += one.id + ": " + veto.id + ": " + veto.sentence + "\n";
  }
  return out;
}

std::string golden(const std::string& name, const Draft& draft) { return golden_difference(name, text(draft)); }

void perform(Inventory& seen, const Action& done) {
  for (const Record& record : done.before) seen::records(seen).put(record);
  for (const Fact& fact : done.gives) {
    if (fact.starts_with("array:")) {
      const Uuid array = seen::uuid(fact.substr(6));
      for (BlockDevice& device : seen::blocks(seen)) {
        if (std::find(done.writes.begin(), done.writes.end(), device.key) != done.writes.end()) device.signatures.clear();
      }
      const VolumeRecord* record = seen::records(seen).volume(done.object.substr(7));
      if (record == nullptr) std::abort();
      seen::run_array(seen, array, "nvs-" + record->name, record->members);
    } else if (fact.starts_with("fs:") && !done.writes.empty()) {
      BlockDevice& device = seen::device(seen, done.writes.front());
      device.signatures.clear();
      seen::put_signature(device, {"xfs", fact.substr(3), "", false});
    } else if (fact.starts_with("mount:")) {
      for (const BlockDevice& device : seen::blocks(seen)) {
        if (device.kind != DeviceKind::array || device.signatures.empty()) continue;
        seen::mount(seen, DeviceKey{device.key}, fact.substr(6));
        break;
      }
    }
  }
  for (const Step& step : done.steps) {
    const auto* file = std::get_if<PutFile>(&step);
    if (file == nullptr) continue;
    const std::string name = file->path.substr(file->path.rfind('/') + 1);
    std::erase_if(seen.units.value(), [&](const UnitFile& unit) { return unit.name == name; });
    seen.units.value().push_back({name, file->path, file->text});
  }
  for (const Record& record : done.after) seen::records(seen).put(record);
}

}  // namespace nvstripe::drafts

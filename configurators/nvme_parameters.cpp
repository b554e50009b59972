// Owns the NVMe module parameters that matter and can be written while the machine runs: that is io_timeout alone. Others
// (multipath, use_srq) are read-only once loaded and are told of; max_retries, poll and write queues are right by default.
// What is per connection (queues, depth, time-outs) belongs to the connections.
#include <algorithm>

#include "agent/base/text.hpp"
#include "configurators/tuning.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::uint64_t kTimeoutSeconds = 30, kLongestSaneSeconds = 120;

bool has_network_disk(const Inventory& seen) {
  const auto& blocks = seen.blocks.value();
  return std::any_of(blocks.begin(), blocks.end(), [](const BlockDevice& device) {
    return device.kernel_name.starts_with("nvme") && (device.kind == DeviceKind::network_disk ||
                                                      device.kind == DeviceKind::system || device.kind == DeviceKind::other);
  });
}

const std::string* parameter(const Inventory& seen, const std::string& name) {
  const auto& all = seen.kernel.value().module_parameters;
  const auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

Conflict note(std::string name, std::string id, std::string why, std::string remedy) {
  return {"module parameter '" + std::move(name) + "'",
          "tuning",
          std::move(why),
          std::move(remedy),
          Standing::note,
          std::move(id)};
}

// Queues take it when they are made, so it is for connections and drives that come later.
void want_timeout(const Inventory& seen, std::vector<Setting>& wanted, Draft& draft) {
  const std::string* there = parameter(seen, "nvme_core.io_timeout");
  const auto seconds = there == nullptr ? std::nullopt : parse_number(*there);
  if (!seconds) return;
  const TuningRecord* ours = nullptr;
  for (const TuningRecord& record : seen.records.value().tunings) {
    if (record.object == "module" && record.attribute == "nvme_core.io_timeout") ours = &record;
  }
  if (*seconds <= kLongestSaneSeconds && ours == nullptr) return;
  if (has_network_disk(seen)) {
    draft.conflicts.push_back(
        note("nvme_core.io_timeout", "tuning.io_timeout",
             "it is " + *there + " s, which hides dead members, and is left so for the network disks here",
             "set it per device by a udev rule, and the module's to 30"));
    return;
  }
  wanted.push_back({"module", "nvme_core.io_timeout", std::to_string(kTimeoutSeconds), *there, seen.identity.value().boot_id,
                    "", "", "a longer time-out hides a dead drive"});
}

void tell_multipath(const Spec& spec, const Inventory& seen, Draft& draft) {
  const std::string* multipath = parameter(seen, "nvme_core.multipath");
  if (multipath == nullptr || *multipath != "N" || spec.connections.empty()) return;
  draft.conflicts.push_back(note("nvme_core.multipath", "tuning.multipath",
                                 "it is off, so two connections to one subsystem show each drive twice",
                                 "put 'options nvme_core multipath=Y' into /etc/modprobe.d and reboot"));
}

}  // namespace

Draft nvme_parameters(const Spec& spec, const Inventory& seen) {
  Draft draft;
  if (!seen.kernel.is_known() || !seen.blocks.is_known() || !seen.identity.is_known()) return draft;
  std::vector<Setting> wanted;
  if (spec.tuning.profile != "off" && (!spec.volumes.empty() || !spec.exports.empty())) {
    want_timeout(seen, wanted, draft);
    tell_multipath(spec, seen, draft);
  }
  Draft set = set_all(wanted, seen);
  if (spec.wants_nothing()) return draft;  // an emptied spec changes nothing (law 9)
  Draft back = give_back(wanted, seen, [](const TuningRecord& record) { return record.object == "module"; });
  for (Draft* part : {&set, &back}) {
    draft.actions.insert(draft.actions.end(), part->actions.begin(), part->actions.end());
    draft.conflicts.insert(draft.conflicts.end(), part->conflicts.begin(), part->conflicts.end());
  }
  return draft;
}

}  // namespace nvstripe::configure

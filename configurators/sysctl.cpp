// Owns the VM's dirty limits while volumes are wanted. Bytes and ratio exclude each other: writing one sets the other to 0
// (Documentation/admin-guide/sysctl/vm.rst), so giving back means writing whichever was in force.
#include <fmt/format.h>

#include <algorithm>

#include "configurators/tuning.hpp"

namespace nvstripe::configure {
namespace {

// What a member is taken to write where the spec does not say what is wanted: about one current NVMe drive. Too high is
// harmless (the cap is the kernel's own default), too low stalls writers.
constexpr std::uint64_t kMemberRate = 1'000'000'000;

std::uint64_t write_rate(const Spec& spec) {
  std::uint64_t rate = 0;
  for (const VolumeSpec& volume : spec.volumes)
    rate += volume.want_write ? volume.want_write->count : kMemberRate * volume.members.count;
  return rate;
}

const Sysctl* find(const Inventory& seen, std::string_view name) {
  for (const Sysctl& one : seen.sysctls.value()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

// At or above `percent` of memory the kernel's default ratio says the same already, and nothing is set.
void want(const Inventory& seen, const std::string& stem, std::uint64_t bytes, std::uint64_t percent,
          std::vector<Setting>& out) {
  const Sysctl* there = find(seen, stem + "_bytes");
  const Sysctl* ratio = find(seen, stem + "_ratio");
  const std::uint64_t cap = seen.kernel.value().memory.count / 100 * percent;
  if (there == nullptr || ratio == nullptr || bytes == 0 || bytes >= cap) return;
  Setting setting{"sysctl",
                  stem + "_bytes",
                  std::to_string(bytes / 4096 * 4096),
                  there->value,
                  seen.identity.value().boot_id,
                  "",
                  "",
                  "a writer's longest stall is what may be dirty over the volumes' rate"};
  if (there->value == "0") setting.old_value = fmt::format("{}_ratio={}", stem, ratio->value);
  setting.foreign_setter = there->foreign_setter.empty() ? ratio->foreign_setter : there->foreign_setter;
  out.push_back(std::move(setting));
}

}  // namespace

Draft sysctl(const Spec& spec, const Inventory& seen) {
  if (!seen.sysctls.is_known() || !seen.kernel.is_known() || !seen.identity.is_known()) return {};
  std::vector<Setting> wanted;
  if (spec.tuning.profile != "off") {
    const std::uint64_t rate = write_rate(spec);
    // The background limit is below the other one by construction: 1 s and 4 s, 10 % and 20 %.
    want(seen, "vm.dirty_background", rate, 10, wanted);
    want(seen, "vm.dirty", 4 * rate, 20, wanted);
  }
  Draft draft = set_all(wanted, seen);
  if (spec.wants_nothing()) return draft;  // an emptied spec changes nothing (law 9)
  Draft back = give_back(wanted, seen, [](const TuningRecord& record) { return record.object == "sysctl"; });
  draft.actions.insert(draft.actions.end(), back.actions.begin(), back.actions.end());
  return draft;
}

}  // namespace nvstripe::configure

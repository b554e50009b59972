// Owns the question what would be unmounted by stopping a mount unit: only a volume of ours may be. Judges no other step.
#include "agent/base/text.hpp"
#include "agent/model/guard_ours.hpp"
#include "agent/model/guard_steps.hpp"

namespace nvstripe::guard {
namespace {

bool is_foreign(const Mount& mount, const Spec& spec, const Inventory& seen) {
  for (const BlockDevice& device : seen.blocks.value()) {
    if (mount.device_number.empty() || device.device_number != mount.device_number) continue;
    return device.kind != DeviceKind::array || !is_our_stack(device.key, spec, seen);
  }
  return !mount.type.empty() && mount.type != "xfs";
}

}  // namespace

Veto judge_unmount(std::string_view unit, const Spec& spec, const Inventory& seen) {
  const Mount* top = nullptr;  // the last one in the kernel's table
  for (const Mount& mount : seen.mounts.value().mounts) {
    if (mount_unit_name(mount.path) == unit) top = &mount;
  }
  if (top == nullptr || !is_foreign(*top, spec, seen)) return {};
  return {"guard.foreign_mount",
          "'" + printable(top->source) + "' is mounted at '" + printable(top->path) + "', which is not a volume of ours"};
}

}  // namespace nvstripe::guard

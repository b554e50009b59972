// Owns what is wanted of a volume's file system: XFS with our UUID and the geometry of the stripe. It is made once; what is
// on an array that was complete before is never overwritten.
#pragma once
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"
#include "configurators/volume.hpp"

namespace nvstripe::configure {

enum class OnArray {
  unseen,  // the array is not there yet
  ours,    // our file system, complete
  torn,    // our own mkfs did not end
  blank,
  foreign,  // another signature, or data without one
  unclear,  // could not be looked at, or the look was ambiguous
};
[[nodiscard]] OnArray what_is_on(const VolumeSurvey& volume, const Inventory& seen);

[[nodiscard]] Fact filesystem_fact(const VolumeSurvey& volume);
// Whether it is there, or will be when the plan of this look is done.
[[nodiscard]] bool filesystem_comes(const VolumeSurvey& volume, const Inventory& seen);
// Options of mkfs.xfs without device and force: geometry of the stripe, and no feature that `kernel` cannot mount.
[[nodiscard]] std::vector<std::string> mkfs_options(const VolumeSurvey& volume, const std::string& kernel);
[[nodiscard]] std::uint64_t log_stripe_kib(const VolumeSurvey& volume);

// Turns a creation into one that destroys foreign content of members: wipes their signatures, lists what goes.
void add_wipe(Action& action, const VolumeSurvey& volume, const Inventory& seen);

[[nodiscard]] Draft plan_filesystem(const Spec& spec, const Inventory& seen);

}  // namespace nvstripe::configure

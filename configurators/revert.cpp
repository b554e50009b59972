// Owns 'nvstripe revert': every recorded setting given back. The caller puts tuning on hold first, else it is set again.
#include "configurators/tuning.hpp"

namespace nvstripe::configure {

Draft revert_tuning(const Spec& spec, const Inventory& seen) {
  (void)spec;  // what the spec wants does not matter: all of it is given back
  const HoldRecord hold{"tuning", "revert"};
  Draft draft = give_back({}, seen, [](const TuningRecord&) { return true; });
  // With each of them, so that after a crash in between nothing is set again.
  for (Action& action : draft.actions) action.before.emplace_back(hold);
  if (!draft.actions.empty() || seen.records.value().held("tuning")) return draft;
  Action only;
  only.id = "tuning.hold:revert";
  only.object = "tuning";
  only.sentence = "leave the machine's settings alone";
  only.reason = "it was asked to revert them, and none is set";
  only.after = {hold};
  draft.actions.push_back(std::move(only));
  return draft;
}

}  // namespace nvstripe::configure

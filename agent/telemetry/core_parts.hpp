// Owns the names of the parts of core_samples(): each adds the families of one subject.
#pragma once
#include "agent/telemetry/core_samples.hpp"

namespace nvstripe {

void add_agent(const CoreView& view, SampleGathering& to);        // core_samples.cpp
void add_devices(const CoreView& view, SampleGathering& to);      // device_samples.cpp
void add_health(const CoreView& view, SampleGathering& to);       // device_samples.cpp
void add_controllers(const CoreView& view, SampleGathering& to);  // fabric_samples.cpp
void add_targets(const CoreView& view, SampleGathering& to);      // fabric_samples.cpp
void add_exports(const CoreView& view, SampleGathering& to);      // fabric_samples.cpp
void add_arrays(const CoreView& view, SampleGathering& to);       // volume_samples.cpp
void add_volumes(const CoreView& view, SampleGathering& to);      // volume_samples.cpp
void add_tuning(const CoreView& view, SampleGathering& to);       // core_samples.cpp

// A gauge a state, 1 for the one that is, so that alerts can name states and see changes.
template <class States>
void add_states(SampleGathering& to, std::string_view name, const std::vector<std::string>& labels, const States& states,
                std::string_view is) {
  for (const std::string_view state : states) {
    std::vector<std::string> with = labels;
    with.emplace_back(state);
    to.add(name, std::move(with), state == is ? 1 : 0);
  }
}

}  // namespace nvstripe

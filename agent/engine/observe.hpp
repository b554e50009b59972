// Owns one look: runs the table of collectors over a reader and makes an Inventory. Records and targets are not seen by
// looking; whoever has them adds them.
#pragma once
#include <chrono>
#include <functional>

#include "agent/host/reader.hpp"
#include "agent/model/inventory.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe {

// Facets outside `wanted` stay as they were in `seen` or `previous`. Block devices are looked at anew with what decides over
// them (mounts, controllers, identity), since a new mount changes what a known device is.
[[nodiscard]] FacetSet read_together(FacetSet wanted);  // what a look at these facets reads
void observe_into(const host::Reader& reader, const Spec& spec, FacetSet wanted, Inventory& seen);
// The same, telling how long each collector took, when it is done.
struct Collector;
using CollectorEnded = std::function<void(const Collector& collector, std::chrono::nanoseconds took)>;
void observe_told(const host::Reader& reader, const Spec& spec, FacetSet wanted, Inventory& seen,
                  const CollectorEnded& ended);
[[nodiscard]] Inventory observe(const host::Reader& reader, const Spec& spec, const Inventory& previous = {},
                                FacetSet wanted = kAllFacets);

}  // namespace nvstripe

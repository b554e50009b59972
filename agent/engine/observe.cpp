// Owns one look. Knows no collector by name but the table.
#include "agent/engine/observe.hpp"

#include <algorithm>

#include "agent/engine/tables.hpp"

namespace nvstripe {
namespace {

constexpr FacetSet kTogether = (FacetName::blocks | FacetName::mounts) | FacetName::controllers | FacetName::identity;

}  // namespace

FacetSet read_together(FacetSet wanted) {
  const FacetSet any = kTogether | static_cast<FacetSet>(FacetName::arrays) | static_cast<FacetSet>(FacetName::lvm);
  return (wanted & any) == 0 ? wanted : wanted | kTogether;
}

void observe_into(const host::Reader& reader, const Spec& spec, FacetSet wanted, Inventory& seen) {
  observe_told(reader, spec, wanted, seen, {});
}

void observe_told(const host::Reader& reader, const Spec& spec, FacetSet wanted, Inventory& seen,
                  const CollectorEnded& ended) {
  wanted = read_together(wanted);
  seen.captured = reader.captured();
  if (wanted == kAllFacets) seen.notes.clear();  // a partial look keeps what the others said
  for (const Collector& collector : all_collectors()) {
    if ((collector.writes & wanted) == 0) continue;
    const auto began = std::chrono::steady_clock::now();
    collector.observe(reader, spec, seen);
    if (ended) ended(collector, std::chrono::steady_clock::now() - began);
  }
  std::sort(seen.notes.begin(), seen.notes.end());
  seen.notes.erase(std::unique(seen.notes.begin(), seen.notes.end()), seen.notes.end());
}

Inventory observe(const host::Reader& reader, const Spec& spec, const Inventory& previous, FacetSet wanted) {
  Inventory seen = previous;
  observe_into(reader, spec, wanted, seen);
  return seen;
}

}  // namespace nvstripe

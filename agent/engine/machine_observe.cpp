// Owns running the collectors over one Inventory.
#include "agent/engine/machine.hpp"
#include "agent/engine/tables.hpp"

namespace nvstripe {

void observe(const host::Reader& reader, const Spec& spec, FacetSet wanted, Inventory& seen) {
  seen.captured = reader.captured();
  for (const Collector& collector : all_collectors()) {
    if ((collector.writes & wanted) != 0) collector.observe(reader, spec, seen);
  }
}

}  // namespace nvstripe

// Owns the two tables everything hangs on: collectors (fill facets of an Inventory) and configurators (pure functions
// Spec × Inventory → Draft). A new capability is one file and one line in collectors/all.cpp or configurators/all.cpp.
#pragma once
#include <span>
#include <string_view>

#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe {

namespace host {
class Reader;
}

struct Collector {
  std::string_view name;  // "nvme": log area and, later, metric subsystem
  std::string_view summary;
  FacetSet writes;  // facets it fills
  // Fills its facets, known or unavailable with a reason; adds notes for what it could not see. Only reads. A spec is
  // given because some looks depend on what is wanted (mount points, sysctls); it never filters devices.
  void (*observe)(const host::Reader& reader, const Spec& spec, Inventory& seen);
};

struct Configurator {
  std::string_view name;
  std::string_view summary;
  FacetSet reads;  // an unknown one among them is a conflict "cannot see …", not a plan
  Draft (*plan)(const Spec& spec, const Inventory& seen);  // pure and total: no I/O, no logging, no throw
};

[[nodiscard]] std::span<const Collector> all_collectors();        // collectors/all.cpp
[[nodiscard]] std::span<const Configurator> all_configurators();  // configurators/all.cpp

}  // namespace nvstripe

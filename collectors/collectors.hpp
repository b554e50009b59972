// Owns the names of all collectors and of the passes that combine what they saw. all.cpp makes the table of them.
#pragma once
#include "agent/engine/tables.hpp"

namespace nvstripe::collectors {

void observe_identity(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_kernel(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_nvme(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_block(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_mounts(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_nvmet(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_md(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_lvm(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_links(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_rdma(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_tools(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_sysctls(const host::Reader& reader, const Spec& spec, Inventory& seen);
void observe_units(const host::Reader& reader, const Spec& spec, Inventory& seen);

// What needs more than one facet: mount points and swap of devices, what carries the system, keys that are not unique.
// The last row of the table, since it works on what the others saw.
void observe_relations(const host::Reader& reader, const Spec& spec, Inventory& seen);

}  // namespace nvstripe::collectors

// Owns loading of tests/fixtures/hosts/*.tree and the short text of what was seen of one, for golden files.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "agent/host/reader.hpp"
#include "agent/model/inventory.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::fixture {

[[nodiscard]] std::vector<std::string> host_names();  // of all fixtures, sorted
[[nodiscard]] std::string tree_of(const std::string& name);
[[nodiscard]] Inventory look_at(const std::string& name, const Spec& spec = {});
[[nodiscard]] Inventory look_at(const host::Reader& reader, const Spec& spec = {});
[[nodiscard]] Inventory look_at_text(const std::string& tree_text, const Spec& spec = {});

// By kernel name, which is fixed within a fixture; ends the test program when it is not there.
[[nodiscard]] const BlockDevice& device(const Inventory& seen, const std::string& kernel_name);
[[nodiscard]] std::string usable(const Inventory& seen, const std::string& kernel_name);  // "yes" or the ids of the vetoes
[[nodiscard]] std::string summary(const Inventory& seen);

}  // namespace nvstripe::fixture

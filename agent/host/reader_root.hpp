// Owns the reader of a real folder: "/" of the live machine, or a folder that was captured. Never leaves that folder.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "agent/host/reader.hpp"

namespace nvstripe::host {

[[nodiscard]] Result<std::unique_ptr<Reader>> root_reader(const std::string& folder, RunProgram run, bool captured);

// This machine's addresses in the form of `ip -j addr`: [{"ifname", "addr_info": [{"family", "local", "prefixlen"}]}].
[[nodiscard]] Result<std::string> live_addresses();
// Those of the units that PID 1 has not in memory, one a line. Bounded: it answers nothing while it reloads.
[[nodiscard]] Result<std::string> live_units_not_loaded(const std::vector<std::string>& units);

}  // namespace nvstripe::host

// Owns which files make up the spec: the folders in order, in each nvstripe.yaml and then conf.d by name.
#pragma once
#include <string>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/host/reader.hpp"
#include "agent/model/spec_read.hpp"

namespace nvstripe::api {

inline constexpr std::size_t kMaxSpecBytes = 1u << 20;  // a spec for 1,000 connections is under 200 KiB

// A regular file, bounded; never waits on a FIFO or device.
[[nodiscard]] Result<std::string> read_regular(const std::string& path);
// All spec files of the folders in the order in which they are merged. A folder that cannot be listed is an error: its
// files are not known to be gone.
[[nodiscard]] Result<std::vector<SpecText>> read_spec_folders(const std::vector<std::string>& folders);
// The same of a captured machine.
[[nodiscard]] Result<std::vector<SpecText>> read_spec_folders(const host::Reader& reader);

}  // namespace nvstripe::api

// Owns Status as JSON: the stable text of `nvstripe status -o json` and GET /v1/status. Fields are added, never changed.
#pragma once
#include <string>

#include "agent/api/board.hpp"
#include "agent/api/status.hpp"

namespace nvstripe::api {

[[nodiscard]] std::string status_json(const Status& status);
[[nodiscard]] std::string volumes_json(const Status& status);
[[nodiscard]] std::string progress_json(std::uint64_t id, const Progress& progress);
[[nodiscard]] std::string identity_json(const Snapshot& snapshot, const std::string& instance);

}  // namespace nvstripe::api

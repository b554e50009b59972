// Owns the routes: which method and path answers what, and who may ask. Reads are for everybody, changes for root.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agent/api/board.hpp"
#include "agent/api/jobs.hpp"
#include "agent/api/metrics.hpp"
#include "agent/api/server.hpp"
#include "agent/api/shared_store.hpp"

namespace nvstripe::api {

struct RouteContext {
  Board& board;
  SharedStore& store;
  std::function<std::int64_t()> now_ms = {};     // boot time, as the engine's beat; without it nothing is said of its age
  std::function<Measured()> measured = {};       // what metrics show beside the snapshot; without it they show that alone
  const JobsContext* jobs = nullptr;             // without it there are no jobs
  std::optional<std::uint32_t> uplink_uid = {};  // who may pull and acknowledge events beside root
};

// Each block device with what the guard says of it.
[[nodiscard]] std::string devices_json(const Inventory& seen);
[[nodiscard]] HttpResponse respond(const RouteContext& context, const HttpRequest& request);

}  // namespace nvstripe::api

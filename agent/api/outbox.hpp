// Owns the routes of the outbox: what waits for upstream, what became of it, and what a receiver refused. The uplink pulls
// and answers; only it and root may answer, since an acknowledgement lets an event go.
#pragma once
#include "agent/api/routes.hpp"

namespace nvstripe::api {

inline constexpr std::uint32_t kMaxPull = 200;

[[nodiscard]] HttpResponse get_outbox(const RouteContext& context, const HttpRequest& request);  // ?stream=state&limit=100
[[nodiscard]] HttpResponse post_acknowledge(const RouteContext& context, const HttpRequest& request);
[[nodiscard]] HttpResponse post_refuse(const RouteContext& context, const HttpRequest& request);
[[nodiscard]] HttpResponse get_dead(const RouteContext& context, const HttpRequest& request);
[[nodiscard]] HttpResponse post_replay(const RouteContext& context, const HttpRequest& request);  // {"sequence": 0}: all

}  // namespace nvstripe::api

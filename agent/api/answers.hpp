// Owns what routes share: refusals with a remedy, and values of the query.
#pragma once
#include <string>
#include <string_view>

#include "agent/api/server.hpp"

namespace nvstripe::api {

[[nodiscard]] HttpResponse refuse(unsigned status, std::string what, std::string remedy);
[[nodiscard]] std::string query_value(const HttpRequest& request, std::string_view name);  // empty: not there

}  // namespace nvstripe::api

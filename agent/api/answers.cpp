// Owns the JSON of a refusal and the splitting of a query.
#include "agent/api/answers.hpp"

#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::api {

HttpResponse refuse(unsigned status, std::string what, std::string remedy) {
  return {status, json::text(json::error_document(Error{std::move(what), std::move(remedy), {}}))};
}

std::string query_value(const HttpRequest& request, std::string_view name) {
  for (const std::string_view part : split(request.query, '&'))
    if (part.size() > name.size() && part.starts_with(name) && part[name.size()] == '=')
      return std::string(part.substr(name.size() + 1));
  return {};
}

}  // namespace nvstripe::api

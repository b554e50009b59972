// Owns `nvstripe apply`: lifts holds, does what waits for consent, and says what was done and what was not.
#include <fmt/core.h>

#include <map>

#include "agent/cli/commands.hpp"

namespace nvstripe::cli {

int apply(const Context& context, const std::string& accept) {
  boost::json::object body;
  if (!accept.empty()) body["accept"] = accept;
  Reply reply = carry_through(context, "/v1/apply", boost::json::serialize(body), true);
  if (reply.document.is_null()) return reply.exit_code;
  const boost::json::value* rest = reply.document.is_object() ? reply.document.as_object().if_contains("answer") : nullptr;
  const bool printed = print_document(context, reply.document);
  if (reply.exit_code != kFine) return reply.exit_code;
  std::map<std::string, bool> failed;  // what failed first and was done at a later try did not fail
  for (const auto& line : list_of(reply.document, "lines")) failed[text_of(line, "id")] = !text_of(line, "error").empty();
  int code = kFine;
  for (const auto& [id, did] : failed)
    if (did) code = kFailed;
  if (rest != nullptr) {
    const int left = plan_exit_code(*rest);
    if (!printed && left != kFine) {
      fmt::print("what remains:\n");
      print_plan(context, *rest);
    }
    if (code == kFine && left != kFine) code = kConflicts;
  }
  if (!printed && code == kFine)
    fmt::print("{}\n", list_of(reply.document, "lines").empty() ? "nothing to do: everything is as asked" : "applied");
  return code;
}

}  // namespace nvstripe::cli

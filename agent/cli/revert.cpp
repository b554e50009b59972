// Owns `nvstripe revert`: gives every kernel setting we changed its old value again, and keeps off it until apply.
#include <fmt/core.h>

#include "agent/cli/commands.hpp"

namespace nvstripe::cli {

int revert(const Context& context) {
  const Reply reply = carry_through(context, "/v1/revert", {}, true);
  if (reply.document.is_null()) return reply.exit_code;
  const bool printed = print_document(context, reply.document);
  if (reply.exit_code != kFine) return reply.exit_code;
  for (const auto& line : list_of(reply.document, "lines"))
    if (!text_of(line, "error").empty()) return kFailed;
  if (!printed) fmt::print("tuning is reverted and on hold; 'nvstripe apply' lifts that\n");
  return kFine;
}

}  // namespace nvstripe::cli

// Owns `nvstripe release`: unmount, stop, disconnect what nothing else needs; the data stays, and the volume stays released.
#include <fmt/core.h>

#include "agent/cli/commands.hpp"

namespace nvstripe::cli {

int release(const Context& context, const std::string& volume) {
  const Reply reply =
      carry_through(context, "/v1/release", boost::json::serialize(boost::json::object{{"volume", volume}}), true);
  if (reply.document.is_null()) return reply.exit_code;
  const bool printed = print_document(context, reply.document);
  if (reply.exit_code != kFine) return reply.exit_code;
  for (const auto& line : list_of(reply.document, "lines"))
    if (!text_of(line, "error").empty()) return kFailed;
  if (!printed) fmt::print("volume '{}' is released; its data is left in place, 'nvstripe apply' mounts it again\n", volume);
  return kFine;
}

}  // namespace nvstripe::cli

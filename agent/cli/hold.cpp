// Owns `nvstripe hold`: the agent's hands are off a volume, or off everything, until apply.
#include <fmt/core.h>

#include "agent/cli/commands.hpp"

namespace nvstripe::cli {

int hold(const Context& context, const std::string& object) {
  const Reply reply =
      carry_through(context, "/v1/hold", boost::json::serialize(boost::json::object{{"object", object}}), false);
  if (reply.document.is_null()) return reply.exit_code;
  if (!print_document(context, reply.document) && reply.exit_code == kFine)
    fmt::print("'{}' is on hold; 'nvstripe apply' lifts that\n", object);
  return reply.exit_code;
}

}  // namespace nvstripe::cli

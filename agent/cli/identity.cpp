// Owns `nvstripe identity`: who this machine is to its targets, and the explicit settling of a mismatch.
#include <fmt/core.h>

#include "agent/cli/commands.hpp"

namespace nvstripe::cli {

int identity(const Context& context) {
  const Reply reply = ask(context, "GET", "/v1/identity");
  if (reply.exit_code != kFine) return reply.exit_code;
  if (!print_document(context, reply.document)) {
    fmt::print("host id    {}\nhost nqn   {}\n", text_of(reply.document, "host_id"), text_of(reply.document, "host_nqn"));
    const std::string recorded = text_of(reply.document, "recorded");
    fmt::print("recorded   {}\n",
               recorded.empty() ? "not yet" : recorded + " (from " + text_of(reply.document, "source") + ")");
    fmt::print("computed   {}\nin spec    {}\n", text_of(reply.document, "computed"), text_of(reply.document, "wanted"));
    print_conflicts(context, reply.document);
  }
  return has_open_conflicts(reply.document) ? kConflicts : kFine;
}

int identity_adopt(const Context& context) {
  const Reply reply = carry_through(context, "/v1/identity/adopt", {}, false);
  if (reply.exit_code != kFine) return reply.exit_code;
  return identity(context);
}

}  // namespace nvstripe::cli

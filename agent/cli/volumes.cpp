// Owns `nvstripe volumes`: one line a volume, and the table that status shows too.
#include <map>

#include <fmt/core.h>

#include "agent/cli/commands.hpp"
#include "agent/cli/table.hpp"

namespace nvstripe::cli {
namespace {

std::string members_text(const boost::json::value& volume) {
  const auto& members = list_of(volume, "members");
  std::uint64_t live = 0;
  for (const auto& member : members) live += text_of(member, "state") == "live" ? 1 : 0;
  const std::uint64_t wanted = members.empty() ? number_of(volume, "members_wanted") : members.size();
  return std::to_string(live) + "/" + std::to_string(wanted);
}

std::string targets_text(const boost::json::value& volume) {
  std::map<std::string, int> counts;
  for (const auto& member : list_of(volume, "members"))
    if (const std::string name = text_of(member, "connection"); !name.empty()) ++counts[name];
  std::string out;
  for (const auto& [name, count] : counts) out += (out.empty() ? "" : ", ") + name + "×" + std::to_string(count);
  return out;
}

void print_reasons(const boost::json::value& volume) {
  for (const auto& reason : list_of(volume, "waits_for")) {
    fmt::print("  {}: {}\n", text_of(volume, "name"), text_of(reason, "why"));
    if (const std::string remedy = text_of(reason, "remedy"); !remedy.empty()) fmt::print("    remedy: {}\n", remedy);
  }
  for (const auto& note : list_of(volume, "notes"))
    fmt::print("  {}: note: {}\n", text_of(volume, "name"), text_of(note, "why"));
}

}  // namespace

void print_volumes(const Context& context, const boost::json::value& document) {
  const auto& volumes = list_of(document, "volumes");
  if (volumes.empty()) return fmt::print("no volumes\n");
  Table table({"VOLUME", "STATE", "PATH", "SIZE", "STACK", "MEMBERS", "TRANSPORT", "TARGETS"});
  for (const auto& volume : volumes) {
    std::string state = text_of(volume, "state");
    const Colour colour = colour_of_state(state);
    if (text_of(volume, "held") == "hold") state += " (held)";
    table.add({text_of(volume, "name"), state, text_of(volume, "path"), size_text(number_of(volume, "size_bytes")),
               text_of(volume, "stack"), members_text(volume), text_of(volume, "transport"), targets_text(volume)},
              colour);
  }
  fmt::print("{}", table.text(context, 1));
  for (const auto& volume : volumes) {
    if (const std::string why = text_of(volume, "transport_reason"); !why.empty())
      fmt::print("  {}: transport {}: {}\n", text_of(volume, "name"), text_of(volume, "transport"), why);
    print_reasons(volume);
  }
}

int volumes(const Context& context) {
  const Reply reply = ask(context, "GET", "/v1/volumes");
  if (reply.exit_code != kFine) return reply.exit_code;
  if (!print_document(context, reply.document)) print_volumes(context, reply.document);
  return kFine;
}

}  // namespace nvstripe::cli

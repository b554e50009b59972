// Owns `nvstripe status`: everything at a glance; what is fine in one line each, what is not with its remedy.
#include <fmt/core.h>

#include "agent/cli/commands.hpp"
#include "agent/cli/table.hpp"

namespace nvstripe::cli {
namespace {

void print_reasons(const boost::json::value& owner) {
  for (const auto& reason : list_of(owner, "waits_for")) {
    fmt::print("  {}: {}\n", text_of(owner, "name"), text_of(reason, "why"));
    if (const std::string remedy = text_of(reason, "remedy"); !remedy.empty()) fmt::print("    remedy: {}\n", remedy);
  }
}

void print_connections(const Context& context, const boost::json::value& status) {
  const auto& connections = list_of(status, "connections");
  if (connections.empty()) return;
  Table table({"CONNECTION", "STATE", "ADDRESS", "TRANSPORT", "CONTROLLERS", "QUEUES"});
  for (const auto& entry : connections)
    table.add({text_of(entry, "name"), text_of(entry, "state"), text_of(entry, "address"), text_of(entry, "transport"),
               std::to_string(number_of(entry, "controllers")), std::to_string(number_of(entry, "queues"))},
              colour_of_state(text_of(entry, "state")));
  fmt::print("\n{}", table.text(context, 1));
  for (const auto& entry : connections) {
    const std::string problem = text_of(entry, "problem");
    if (!problem.empty() && text_of(entry, "state") != "live") fmt::print("  {}: {}\n", text_of(entry, "name"), problem);
    print_reasons(entry);
  }
}

void print_exports(const Context& context, const boost::json::value& status) {
  const auto& exports = list_of(status, "exports");
  if (exports.empty()) return;
  Table table({"EXPORT", "STATE", "DRIVES", "NAMESPACES", "LISTENS", "HOST", "CONNECTED"});
  for (const auto& entry : exports) {
    std::string listens;
    for (const auto& listen : list_of(entry, "listens"))
      if (listen.is_string()) listens += (listens.empty() ? "" : ", ") + std::string(listen.as_string());
    const auto& hosts = list_of(entry, "hosts");
    const std::string drives = std::to_string(number_of(entry, "drives"));
    const auto row = [&](const std::string& namespaces, const std::string& host, const std::string& connected) {
      table.add({text_of(entry, "name"), text_of(entry, "state"), drives, namespaces, listens, host, connected},
                colour_of_state(text_of(entry, "state")));
    };
    if (hosts.empty()) row(std::to_string(number_of(entry, "namespaces")), {}, {});
    for (const auto& host : hosts)
      row(std::to_string(number_of(host, "namespaces")), text_of(host, "nqn"), text_of(host, "connected"));
  }
  fmt::print("\n{}", table.text(context, 1));
  for (const auto& entry : exports) print_reasons(entry);
}

void print_head(const Context& context, const boost::json::value& status) {
  const auto* spec = status.is_object() ? status.as_object().if_contains("spec") : nullptr;
  fmt::print("host {} ({})\n", text_of(status, "host_id"), text_of(status, "hostname"));
  if (const std::string activity = text_of(status, "activity"); !activity.empty()) fmt::print("now: {}\n", activity);
  if (spec == nullptr) return;
  if (text_of(*spec, "loaded").empty()) fmt::print("spec: none yet; write '/etc/nvstripe/nvstripe.yaml'\n");
  if (const std::string problem = text_of(*spec, "problem"); !problem.empty()) {
    fmt::print("{} {}\n", paint(context, Colour::bad, "spec:"), problem);
    if (const std::string remedy = text_of(*spec, "remedy"); !remedy.empty()) fmt::print("  remedy: {}\n", remedy);
    if (flag_of(*spec, "last_good")) fmt::print("  the last good spec, read {}, stays in force\n", text_of(*spec, "loaded"));
  }
  if (const std::string error = text_of(status, "pass_error"); !error.empty())
    fmt::print("{} {}\n", paint(context, Colour::bad, "agent:"), error);
}

void print_rest(const Context& context, const boost::json::value& status) {
  for (const auto& hold : list_of(status, "holds"))
    fmt::print("on hold: {} ({}); 'nvstripe apply' lifts that\n", text_of(hold, "object"), text_of(hold, "why"));
  for (const auto& conflict : list_of(status, "conflicts")) {
    fmt::print("{} {}\n", paint(context, Colour::bad, "conflict:"), text_of(conflict, "why"));
    if (const std::string remedy = text_of(conflict, "remedy"); !remedy.empty()) fmt::print("  remedy: {}\n", remedy);
  }
  for (const auto& note : list_of(status, "notes")) fmt::print("note: {}\n", text_of(note, "why"));
  for (const auto& failure : list_of(status, "failures")) {
    fmt::print("{} {}: {}\n", paint(context, Colour::bad, "failed:"), text_of(failure, "sentence"),
               text_of(failure, "error"));
    if (const std::string remedy = text_of(failure, "remedy"); !remedy.empty()) fmt::print("  remedy: {}\n", remedy);
  }
  for (const auto& sentence : list_of(status, "withheld"))
    if (sentence.is_string()) fmt::print("waits for apply: {}\n", std::string_view(sentence.as_string()));
  if (const std::string digest = text_of(status, "digest"); !digest.empty())
    fmt::print("data would be destroyed; read 'nvstripe plan', then 'nvstripe apply --accept {}'\n", digest);
  for (const auto& note : list_of(status, "tuning"))
    fmt::print("tuning: {}: {}\n", text_of(note, "subject"), text_of(note, "why"));
  for (const auto& note : list_of(status, "cannot_see"))
    if (note.is_string()) fmt::print("not seen: {}\n", std::string_view(note.as_string()));
}

}  // namespace

int status(const Context& context) {
  const Reply reply = ask(context, "GET", "/v1/status");
  if (reply.exit_code != kFine) return reply.exit_code;
  if (!print_document(context, reply.document)) {
    print_head(context, reply.document);
    if (!list_of(reply.document, "volumes").empty()) {
      fmt::print("\n");
      print_volumes(context, reply.document);
    }
    print_connections(context, reply.document);
    print_exports(context, reply.document);
    fmt::print("\n");
    print_rest(context, reply.document);
  }
  return flag_of(reply.document, "ok") ? kFine : kConflicts;
}

}  // namespace nvstripe::cli

// Owns `nvstripe devices`: every block device with what it is, whether it may be used, and why not.
#include <fmt/core.h>

#include "agent/api/routes.hpp"
#include "agent/cli/captured.hpp"
#include "agent/cli/commands.hpp"
#include "agent/cli/table.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::cli {
namespace {

std::string joined(const boost::json::array& values, const char* separator) {
  std::string out;
  for (const auto& value : values) {
    if (!value.is_string()) continue;
    if (!out.empty()) out += separator;
    out += std::string_view(value.as_string());
  }
  return out;
}

std::string signature_text(const boost::json::value& device) {
  std::string out;
  for (const auto& signature : list_of(device, "signatures")) out += (out.empty() ? "" : "+") + text_of(signature, "type");
  return out.empty() ? text_of(device, "signature") : out;
}

void print_devices(const Context& context, const boost::json::value& document) {
  Table table({"DEVICE", "KIND", "USABLE", "SIZE", "MODEL", "SERIAL", "TRANSPORT", "SIGNATURE", "KEY"});
  std::string reasons;
  for (const auto& device : list_of(document, "devices")) {
    const bool usable = flag_of(device, "usable");
    table.add({text_of(device, "kernel_name"), text_of(device, "kind"), usable ? "yes" : "no",
               size_text(number_of(device, "size")), text_of(device, "model"), text_of(device, "serial"),
               text_of(device, "transport"), signature_text(device), text_of(device, "key")},
              colour_of_state(usable ? "yes" : "no"));
    const std::string why = joined(list_of(device, "reasons"), "; ");
    if (!usable && !why.empty()) reasons += "  " + text_of(device, "kernel_name") + ": " + why + "\n";
  }
  fmt::print("{}", table.text(context, 2));
  if (!reasons.empty()) fmt::print("\nnot usable, because:\n{}", reasons);
  const auto& unseen = list_of(document, "notes");
  if (!unseen.empty()) fmt::print("\nnot seen: {}\n", joined(unseen, "; "));
}

}  // namespace

int devices(const Context& context, const Machine& machine) {
  Reply reply;
  if (machine.host.empty()) {
    reply = ask(context, "GET", "/v1/devices");
    if (reply.exit_code != kFine) return reply.exit_code;
  } else {
    const auto captured = look_at(machine);
    if (!captured) return complain(context, captured.error(), exit_code_for(captured.error()));
    auto document = json::parse(api::devices_json(captured->seen));
    if (!document) return complain(context, document.error(), kFailed);
    reply.document = std::move(*document);
  }
  const std::string unavailable = text_of(reply.document, "unavailable");
  if (print_document(context, reply.document)) return unavailable.empty() ? kFine : kFailed;
  if (!unavailable.empty())
    return complain(context, Error{"block devices cannot be seen: " + unavailable, "make them readable", {}}, kFailed);
  print_devices(context, reply.document);
  return kFine;
}

}  // namespace nvstripe::cli

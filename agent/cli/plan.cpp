// Owns `nvstripe plan`: one sentence an action with its reason, conflicts with remedy, and the digest where something would
// be destroyed. Nothing is done.
#include <fmt/core.h>
#include <algorithm>
#include <map>

#include "agent/api/routes.hpp"
#include "agent/api/spec_files.hpp"
#include "agent/cli/captured.hpp"
#include "agent/cli/commands.hpp"
#include "agent/cli/table.hpp"
#include "agent/engine/planner.hpp"
#include "agent/model/json.hpp"
#include "agent/model/spec_read.hpp"

namespace nvstripe::cli {
namespace {

std::string risk_note(const std::string& risk) {
  if (risk == "disruptive") return " (waits for 'nvstripe apply')";
  if (risk == "destroys_data") return " (DESTROYS DATA; waits for 'nvstripe apply --accept DIGEST')";
  return {};
}

Reply plan_of_agent(const Context& context, const Machine& machine) {
  std::string text;
  if (!machine.spec.empty()) {
    auto read = api::read_regular(machine.spec);
    if (!read) return {nullptr, complain(context, read.error(), kFailed)};
    text = std::move(*read);
    // Read here too, so that a spec that is wrong is a usage error also when the agent is not asked.
    if (const auto spec = load_spec_or_error({SpecText{machine.spec, text}}); !spec)
      return {nullptr, complain(context, spec.error(), kUsage)};
  }
  Reply reply = carry_through(context, "/v1/plan", text, false);
  if (reply.exit_code != kFine) return reply;
  if (const auto* answer = reply.document.as_object().if_contains("answer")) {
    boost::json::value document = *answer;
    reply.document = std::move(document);
  }
  return reply;
}

using Drives = std::map<std::string, std::string>;  // key → what a person knows it by

Drives drives_of(const boost::json::value& devices) {
  Drives drives;
  for (const auto& device : list_of(devices, "devices")) {
    std::string words = text_of(device, "kernel_name") + ", " + size_text(number_of(device, "size"));
    for (const char* field : {"model", "serial"}) {
      if (const std::string value = text_of(device, field); !value.empty()) words += ", " + (field + (" " + value));
    }
    drives[text_of(device, "key")] = words;
  }
  return drives;
}

void print_written(const boost::json::value& action, const Drives& drives) {
  for (const auto& key : list_of(action, "writes")) {
    const auto known = key.is_string() ? drives.find(std::string(key.as_string())) : drives.end();
    if (known != drives.end()) fmt::print("     writes to {}\n", known->second);
  }
}

}  // namespace

bool has_open_conflicts(const boost::json::value& document) {
  const auto& conflicts = list_of(document, "conflicts");
  return std::any_of(conflicts.begin(), conflicts.end(),
                     [](const auto& conflict) { return text_of(conflict, "standing") != "note"; });
}

int plan_exit_code(const boost::json::value& document) {
  if (has_open_conflicts(document)) return kConflicts;
  return list_of(document, "actions").empty() ? kFine : kPending;
}

void print_conflicts(const Context& context, const boost::json::value& document) {
  for (const auto& conflict : list_of(document, "conflicts")) {
    const std::string standing = text_of(conflict, "standing");
    const Colour colour = standing == "refused" ? Colour::bad : (standing == "waiting" ? Colour::warn : Colour::plain);
    fmt::print("{} {}: {}\n", paint(context, colour, standing + ":"), text_of(conflict, "subject"),
               text_of(conflict, "why"));
    if (const std::string remedy = text_of(conflict, "remedy"); !remedy.empty()) fmt::print("     remedy: {}\n", remedy);
  }
}

void print_plan(const Context& context, const boost::json::value& document, const boost::json::value& devices) {
  const Drives drives = drives_of(devices);
  const auto& actions = list_of(document, "actions");
  if (actions.empty() && !has_open_conflicts(document)) fmt::print("nothing to do: everything is as asked\n");
  std::size_t number = 0;
  for (const auto& action : actions) {
    const std::string risk = text_of(action, "risk");
    const Colour colour = risk == "destroys_data" ? Colour::bad : (risk == "disruptive" ? Colour::warn : Colour::plain);
    fmt::print("{:3}. {}{}\n     because {}\n", ++number, text_of(action, "sentence"),
               paint(context, colour, risk_note(risk)), text_of(action, "reason"));
    print_written(action, drives);
    for (const auto& line : list_of(action, "destroys"))
      if (line.is_string()) fmt::print("     destroys {}\n", std::string_view(line.as_string()));
  }
  print_conflicts(context, document);
  if (const std::string digest = text_of(document, "digest"); !digest.empty())
    fmt::print("\ndata would be destroyed; this exact plan is accepted by\n  nvstripe apply --accept {}\n", digest);
}

int plan(const Context& context, const Machine& machine) {
  Reply reply;
  boost::json::value devices;
  if (machine.host.empty()) {
    reply = plan_of_agent(context, machine);
    if (reply.exit_code != kFine) return reply.exit_code;
    if (context.format == Format::table) devices = ask(context, "GET", "/v1/devices").document;
  } else {
    const auto captured = look_at(machine);
    if (!captured) return complain(context, captured.error(), exit_code_for(captured.error()));
    reply.document = json::plan_document(make_plan(captured->spec, captured->seen));
    if (auto listed = json::parse(api::devices_json(captured->seen))) devices = std::move(*listed);
  }
  if (!print_document(context, reply.document)) print_plan(context, reply.document, devices);
  return plan_exit_code(reply.document);
}

}  // namespace nvstripe::cli

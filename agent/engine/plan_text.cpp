// Owns the words of a plan for people: one sentence an action with its reason, then what will not be done, and why.
#include <cctype>

#include "agent/base/text.hpp"
#include "agent/engine/planner.hpp"

namespace nvstripe {
namespace {

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string_view warning(Risk risk) {
  switch (risk) {
    case Risk::reversible:
      return "";
    case Risk::disruptive:
      return " This interrupts what is in use: it waits for 'nvstripe apply'.";
    case Risk::writes_blank:
      return " This writes to blank devices.";
    case Risk::destroys_data:
      return " THIS DESTROYS DATA: it waits for 'nvstripe apply --accept DIGEST'.";
  }
  return "";
}

std::string_view opening(Standing standing) {
  switch (standing) {
    case Standing::note:
      return "Note";
    case Standing::waiting:
      return "Waiting";
    case Standing::refused:
      return "Refused";
  }
  return "Refused";
}

}  // namespace

std::string plan_text(const Plan& plan) {
  std::string out;
  if (plan.actions.empty())
    out = plan.conflicts.empty() ? "Nothing to do: all is as the spec wants it.\n" : "Nothing can be done now.\n";
  std::size_t number = 0;
  for (const Action& action : plan.actions) {
    out += std::to_string(++number) + ". " + capitalised(printable(action.sentence));
    if (!action.reason.empty()) out += ", because " + printable(action.reason);
    out += ".";
    out += warning(action.risk);
    out += "\n";
    for (const std::string& line : action.destroys) out += "     destroys " + printable(line) + "\n";
  }
  for (const Conflict& conflict : plan.conflicts) {
    out +=
        std::string(opening(conflict.standing)) + ": " + printable(conflict.subject) + ": " + printable(conflict.why) + ".";
    if (!conflict.remedy.empty()) out += " " + capitalised(printable(conflict.remedy)) + ".";
    out += "\n";
  }
  if (!plan.digest.empty()) out += "Digest of what would be destroyed: " + plan.digest + "\n";
  return out;
}

}  // namespace nvstripe

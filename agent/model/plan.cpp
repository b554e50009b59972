// Owns the words for risks, standings and steps. One line a step, without kernel names.
#include "agent/model/plan.hpp"

#include <fmt/format.h>

#include "agent/base/text.hpp"

namespace nvstripe {
namespace {

// Quoted where a reader could not tell the end of it otherwise; what it says is not meant to be pasted into a shell.
std::string word(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_of(" \t\n'\"") == std::string_view::npos;
  return plain ? printable(text) : "'" + printable(text) + "'";
}

struct ArgText {
  std::string operator()(const std::string& text) const { return word(text); }
  std::string operator()(const DeviceRef& device) const { return "<" + printable(device.key.text) + ">"; }
};

std::string signatures_text(const std::vector<Signature>& signatures) {
  std::vector<std::string> names;
  for (const Signature& signature : signatures) {
    names.push_back(signature.uuid.empty() ? signature.type : signature.type + " " + printable(signature.uuid));
  }
  return join(names, ", ");
}

struct Sentence {
  std::string operator()(const Run& step) const {
    std::vector<std::string> parts;
    for (const Arg& arg : step.argv) parts.push_back(std::visit(ArgText{}, arg));
    return "run " + join(parts, " ");
  }
  std::string operator()(const WriteAttribute& step) const {
    const std::string_view which = step.of_paths ? " of each path of device '{}'" : " of device '{}'";
    const std::string of = step.device ? fmt::format(fmt::runtime(which), printable(step.device->text)) : std::string();
    const std::string value =
        step.value_device ? "<" + printable(step.value_device->text) + ">" : printable(trim(step.value));
    return fmt::format("write '{}' into '{}'{}", value, step.path, of);
  }
  std::string operator()(const PutFile& step) const {
    return fmt::format("write file '{}' (mode {:04o}, {} bytes)", step.path, step.mode, step.text.size());
  }
  std::string operator()(const MakeDir& step) const { return fmt::format("make folder '{}'", step.path); }
  std::string operator()(const MakeMountPoint& step) const {
    return fmt::format("make mount point '{}', closed and immutable while nothing is mounted on it", step.path);
  }
  std::string operator()(const Link& step) const { return fmt::format("link '{}' to '{}'", step.path, step.target); }
  std::string operator()(const Remove& step) const { return fmt::format("remove '{}'", step.path); }
  std::string operator()(const SetOwner& step) const {
    std::vector<std::string> parts;
    if (!step.owner.empty()) parts.push_back(fmt::format("owner '{}'", printable(step.owner)));
    if (!step.group.empty()) parts.push_back(fmt::format("group '{}'", printable(step.group)));
    if (!step.mode.empty()) parts.push_back(fmt::format("mode {}", printable(step.mode)));
    return fmt::format("give '{}' {}", step.path, parts.empty() ? "nothing new" : join(parts, ", "));
  }
  std::string operator()(const Connect& step) const {
    return fmt::format("connect '{}' over {} at {} port {}, {} queues of {}", printable(step.nqn), step.transport,
                       step.traddr, step.trsvcid, step.nr_io_queues, step.queue_size);
  }
  std::string operator()(const Disconnect& step) const {
    return fmt::format("disconnect '{}' over {} at {} port {}", printable(step.nqn), step.transport, step.traddr,
                       step.trsvcid);
  }
  std::string operator()(const RequireContent& step) const {
    const std::string key = printable(step.device.text);
    if (step.expected.empty() && !step.any_content) return fmt::format("require that '{}' is blank and unused", key);
    if (step.expected.empty()) return fmt::format("require that '{}' is unused and has no signature", key);
    return fmt::format("require that '{}' is unused and carries exactly {}", key, signatures_text(step.expected));
  }
  std::string operator()(const Await& step) const {
    return fmt::format("wait up to {} s for {}", step.deadline.count(), printable(step.fact));
  }
};

}  // namespace

std::string_view to_text(Risk risk) {
  switch (risk) {
    case Risk::reversible:
      return "reversible";
    case Risk::disruptive:
      return "disruptive";
    case Risk::writes_blank:
      return "writes_blank";
    case Risk::destroys_data:
      return "destroys_data";
  }
  return "unknown";
}

std::string_view to_text(Standing standing) {
  switch (standing) {
    case Standing::note:
      return "note";
    case Standing::waiting:
      return "waiting";
    case Standing::refused:
      return "refused";
  }
  return "unknown";
}

std::string to_sentence(const Step& step) { return std::visit(Sentence{}, step); }

}  // namespace nvstripe

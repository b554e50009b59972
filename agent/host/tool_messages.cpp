// Owns what programs mean by their standard error: lines that mean nothing, and failures with a known cause and remedy.
#include <algorithm>
#include <array>

#include "agent/base/text.hpp"
#include "agent/host/tools.hpp"

namespace nvstripe::host {
namespace {

struct Benign {
  std::string_view tool;
  std::string_view part;  // contained in the line
};

// Seen with exit status 0, mdadm 4.2 to 4.4, lvm2 2.03, xfsprogs 6.1 to 6.13.
constexpr std::array kBenign = {
    Benign{"mkfs.xfs", "log stripe unit"},  // the log's stripe unit is limited to 256 KiB and set to 32 KiB
    Benign{"mkfs.xfs", "log stripe unit adjusted to"},
    Benign{"mkfs.xfs", "ignoring data volume stripe unit"},
    Benign{"mdadm", "Defaulting to version"},
    Benign{"mdadm", " started."},
    Benign{"mdadm", "stopped /dev/"},
    Benign{"mdadm", "has been started with"},
    Benign{"mdadm", "Fail create md"},  // an old way to make the node is tried first where the module lacks it
    Benign{"lvm", "File descriptor"},
    Benign{"lvm", "WARNING: Not using device"},
    Benign{"lvm", "successfully created"},
    Benign{"lvm", "successfully removed"},
    Benign{"lvm", "not zeroed."},  // asked for: what is on the drives was looked at by ourselves
    Benign{"lvm", "Logical volume \"data\" created"},
    Benign{"lvm", "logical volume(s) in volume group"},
};

struct Known {
  std::string_view tool, part, what, remedy;
};

constexpr std::array kKnown = {
    // raid0 of unequal members needs a layout since 5.4; the kernel answers EOPNOTSUPP's relative 524.
    Known{"mdadm", "524", "the members differ in size and the kernel has no default layout for that",
          "use members of equal size, or set unequal_sizes: trim"},
    Known{"mdadm", "POSIX compatible", "mdadm refuses the array's name",
          "use a name of letters, digits, '-' and '_', at most 24 long"},
    Known{"mdadm", "Device or resource busy", "a member is in use", "see 'nvstripe devices' for what holds it"},
    Known{"mdadm", "is busy", "a member is in use", "see 'nvstripe devices' for what holds it"},
    Known{"mdadm", "not adding to active array", "an array of this identity is running or broken already",
          "stop it, then assemble it anew"},
    Known{"mdadm", "aborted", "mdadm asked a question that nobody may answer",
          "look at what the members carry: 'nvstripe devices'"},
    Known{"mkfs.xfs", "appears to contain an existing filesystem", "the device carries a file system already",
          "look at what it carries: 'nvstripe devices'"},
    Known{"mkfs.xfs", "unknown option", "this mkfs.xfs does not know an option that is needed",
          "update the package 'xfsprogs'"},
    Known{"modprobe", "not found in directory", "the running kernel has no such module",
          "install the extra modules of exactly the running kernel, see 'uname -r'"},
    Known{"lvm", "Can't open", "a drive is in use", "see 'nvstripe devices' for what holds it"},
    Known{"lvm", "already in volume group", "a drive belongs to another volume group",
          "see 'nvstripe devices' for what it carries"},
    Known{"lvm", "duplicate devices", "LVM sees the same drive twice", "do not connect a machine to its own exports"},
};

bool is_lvm(std::string_view tool) {
  const Tool* found = find_tool(tool);
  return found != nullptr && found->package == "lvm2";
}

bool speaks_of(std::string_view row, std::string_view tool) { return row == tool || (row == "lvm" && is_lvm(tool)); }

std::string ending(const CommandResult& result) {
  if (result.abandoned) return "did not end when killed and was left behind in the kernel";
  if (result.timed_out) return "did not end in time and was killed";
  if (result.signal != 0) return "ended by signal " + std::to_string(result.signal);
  return "ended with exit status " + std::to_string(result.exit_status);
}

}  // namespace

std::string without_benign(std::string_view tool, std::string_view text) {
  std::vector<std::string> kept;
  for (const auto line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    const bool benign = std::any_of(kBenign.begin(), kBenign.end(), [&](const Benign& row) {
      return speaks_of(row.tool, tool) && line.find(row.part) != std::string_view::npos;
    });
    if (!benign) kept.emplace_back(trim(line));
  }
  return join(kept, "; ");
}

Error explain(const std::vector<std::string>& argv, const CommandResult& result) {
  const std::string tool = argv.empty() ? std::string("?") : argv[0].substr(argv[0].rfind('/') + 1);
  std::string said = without_benign(tool, result.err);
  if (said.empty()) said = without_benign(tool, result.out);
  constexpr std::size_t kShown = 600;  // the first lines name the cause, the rest repeats it
  if (said.size() > kShown) said = said.substr(0, kShown) + "…";
  Error error{"'" + tool + "' " + ending(result), "", std::error_code()};
  for (const auto& row : kKnown) {
    if (!speaks_of(row.tool, tool) || said.find(row.part) == std::string::npos) continue;
    error.what += ", " + std::string(row.what);
    error.remedy = row.remedy;
    break;
  }
  if (!said.empty()) error.what += ": '" + printable(said) + "'";
  if (result.timed_out) {
    error.cause = std::error_code(ETIMEDOUT, std::system_category());
    if (error.remedy.empty()) error.remedy = "look for a drive or target that does not answer: 'nvstripe status'";
  }
  if (error.remedy.empty()) error.remedy = "the message is of '" + tool + "' itself";
  return error;
}

}  // namespace nvstripe::host

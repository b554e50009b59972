// Owns Reader: the read-only seam to a machine. Live (root folder "/"), a captured folder laid out like "/", or one .tree
// text file. Paths are absolute within that root and never escape it. It never writes and never runs anything that does.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"

namespace nvstripe::host {

inline constexpr std::size_t kMaxFileBytes = 4u << 20u;  // the largest file asked for is modules.dep, below 1 MiB
inline constexpr std::size_t kMaxFolderEntries = 65536;  // a folder with more is not one of ours to read

enum class Entry { absent, file, folder, link, other };

struct Status {  // of the entry itself, links not followed
  Entry kind = Entry::absent;
  unsigned mode = 0;  // permission bits only
  std::uint32_t uid = 0, gid = 0;
  bool operator==(const Status&) const = default;
};

class Reader {
 public:
  virtual ~Reader() = default;
  // Bounded (kMaxFileBytes). ENOENT means absent only where the parent could be read; every other errno is "cannot see".
  [[nodiscard]] virtual Result<std::string> file(std::string_view path) const = 0;
  [[nodiscard]] virtual Result<std::string> link(std::string_view path) const = 0;                 // target text as stored
  [[nodiscard]] virtual Result<std::vector<std::string>> list(std::string_view folder) const = 0;  // sorted names
  // Follows links within the root: "/sys/block/nvme0n1" → "/sys/devices/pci…/nvme0n1".
  [[nodiscard]] virtual Result<std::string> canonical(std::string_view path) const = 0;
  [[nodiscard]] virtual Entry entry(std::string_view path) const = 0;            // does not follow
  [[nodiscard]] virtual Result<Status> status(std::string_view path) const = 0;  // does not follow
  // Standard output of a read-only program from the list in tools.hpp, by its name there ("lvm.vgs"). Captured machines
  // answer from cmd/<name>. ENOENT: the program is not installed, or its output was not captured. `devices` (paths) narrow
  // what the program opens, where it can be narrowed: reading a device whose target is dead hangs.
  [[nodiscard]] virtual Result<std::string> output(std::string_view command,
                                                   const std::vector<std::string>& devices = {}) const = 0;
  [[nodiscard]] virtual bool captured() const = 0;

  // Trimmed content, or empty where the file is absent or unreadable: for attributes that are nice to have.
  [[nodiscard]] std::string attribute(std::string_view path) const;
};

// Runs the named program of tools.hpp with a deadline and answers its standard output.
using RunProgram = std::function<Result<std::string>(std::string_view command, const std::vector<std::string>& devices)>;

// Two are answered without a program: "ip.addr" from getifaddrs(3), in the form of `ip -j addr`; "systemd.not_loaded" by
// PID 1: those of the units named in place of devices that it has not in memory, one a line.
[[nodiscard]] std::unique_ptr<Reader> live_reader(RunProgram run = {});
// A folder or a .tree file; its format is described in docs/host-tree.md.
[[nodiscard]] Result<std::unique_ptr<Reader>> captured_reader(const std::string& path);
// The content of a .tree file, for tests and for bundles that were read already.
[[nodiscard]] Result<std::unique_ptr<Reader>> tree_reader(std::string_view tree_text);

}  // namespace nvstripe::host

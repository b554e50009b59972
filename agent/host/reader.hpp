// Owns Reader: the read-only seam to a machine. Live (root folder "/"), a captured folder laid out like "/", or one .tree
// text file. Paths are absolute within that root and never escape it. It never writes and never runs anything that does.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"

namespace nvstripe::host {

enum class Entry { absent, file, folder, link, other };

class Reader {
 public:
  virtual ~Reader() = default;
  // Bounded (kMaxFileBytes). ENOENT means absent only where the parent could be read; every other errno is "cannot see".
  [[nodiscard]] virtual Result<std::string> file(std::string_view path) const = 0;
  [[nodiscard]] virtual Result<std::string> link(std::string_view path) const = 0;                 // target text as stored
  [[nodiscard]] virtual Result<std::vector<std::string>> list(std::string_view folder) const = 0;  // sorted names
  // Follows links within the root: "/sys/block/nvme0n1" → "/sys/devices/pci…/nvme0n1".
  [[nodiscard]] virtual Result<std::string> canonical(std::string_view path) const = 0;
  [[nodiscard]] virtual Entry entry(std::string_view path) const = 0;  // does not follow
  // Standard output of a read-only program from the list in tools.hpp, by its name there ("lvm.vgs"). Captured machines
  // answer from cmd/<name>. ENOENT: the program is not installed, or its output was not captured.
  [[nodiscard]] virtual Result<std::string> output(std::string_view command) const = 0;
  [[nodiscard]] virtual bool captured() const = 0;

  // Trimmed content, or empty where the file is absent or unreadable: for attributes that are nice to have.
  [[nodiscard]] std::string attribute(std::string_view path) const;
};

[[nodiscard]] std::unique_ptr<Reader> live_reader();
// A folder or a .tree file; its format is described in docs/host-tree.md.
[[nodiscard]] Result<std::unique_ptr<Reader>> captured_reader(const std::string& path);

}  // namespace nvstripe::host

// Owns the search for whole disks: /sys/block, and what of it a machine captured in part has instead.
#include <algorithm>

#include "agent/base/text.hpp"
#include "collectors/block.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return end - at;
}

// nvme<S>c<C>n<N>: subsystem, controller, namespace of the subsystem.
bool is_hidden_path(std::string_view name) {
  if (!has_prefix(name, "nvme")) return false;
  std::size_t at = 4;
  std::size_t count = digits_at(name, at);
  if (count == 0 || name.substr(at + count, 1) != "c") return false;
  at += count + 1;
  count = digits_at(name, at);
  return count != 0 && name.substr(at + count, 1) == "n" && digits_at(name, at + count + 1) == name.size() - at - count - 1;
}

void take(const host::Reader& reader, const std::string& name, const std::string& path, FoundDisks& found,
          std::vector<std::string>& notes) {
  const auto folder = reader.canonical(path);
  if (!folder) {
    notes.push_back("nothing could be read of '" + name + "': " + folder.error().what);
    return;
  }
  if (is_hidden_path(name))
    found.hidden_paths.push_back({name, *folder});
  else
    found.disks.push_back({name, *folder});
}

// Namespaces below controllers and subsystems, for captures that have no list of block devices.
void find_namespaces(const host::Reader& reader, std::string_view top, FoundDisks& found, std::vector<std::string>& notes) {
  const auto parents = reader.list(top);
  if (!parents) return;
  for (const std::string& parent : *parents) {
    const std::string folder = std::string(top) + "/" + parent;
    const auto names = reader.list(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (is_namespace(name) || is_hidden_path(name)) take(reader, name, folder + "/" + name, found, notes);
    }
  }
}

void drop_doubles(std::vector<FoundDisk>& disks) {
  std::sort(disks.begin(), disks.end(), [](const FoundDisk& a, const FoundDisk& b) { return a.name < b.name; });
  disks.erase(
      std::unique(disks.begin(), disks.end(), [](const FoundDisk& a, const FoundDisk& b) { return a.name == b.name; }),
      disks.end());
}

// The kernel gives path and head of one namespace the same subsystem and namespace numbers (drivers/nvme/host/multipath.c).
std::string head_of(const std::string& path) {
  const std::size_t c = path.find('c');
  return path.substr(0, c) + path.substr(path.find('n', c));
}

void index_paths(FoundDisks& found) {
  for (std::size_t i = 0; i < found.hidden_paths.size(); ++i) {
    found.paths_of_head.emplace(head_of(found.hidden_paths[i].name), i);
  }
}

bool is_uninteresting(std::string_view name) {
  return is_numbered(name, "ram") || is_numbered(name, "fd") || is_numbered(name, "sr");
}

}  // namespace

bool is_namespace(const std::string& name) {
  if (!has_prefix(name, "nvme")) return false;
  const std::size_t count = digits_at(name, 4);
  const std::size_t at = 4 + count;
  return count != 0 && name.substr(at, 1) == "n" && digits_at(name, at + 1) == name.size() - at - 1 && name.size() > at + 1;
}

Result<FoundDisks> find_disks(const host::Reader& reader, std::vector<std::string>& notes) {
  FoundDisks found;
  const auto names = reader.list("/sys/block");
  if (names) {
    if (names->empty()) return fail("'/sys/block' lists nothing");
    for (const std::string& name : *names) {
      if (!is_uninteresting(name)) take(reader, name, "/sys/block/" + name, found, notes);
    }
    if (found.disks.empty() && !names->empty() && reader.captured()) found.incomplete = "'/sys/block' was captured in part";
    index_paths(found);
    return found;
  }
  if (!reader.captured() || !is_errno(names.error(), ENOENT)) return tl::unexpected(names.error());
  found.incomplete = "this machine was captured in part: " + names.error().what;
  if (const auto all = reader.list("/sys/class/block")) {
    for (const std::string& name : *all) {
      const std::string path = "/sys/class/block/" + name;
      if (!is_uninteresting(name) && reader.entry(path + "/partition") == host::Entry::absent) {
        take(reader, name, path, found, notes);
      }
    }
  }
  find_namespaces(reader, "/sys/class/nvme", found, notes);
  find_namespaces(reader, "/sys/class/nvme-subsystem", found, notes);
  drop_doubles(found.disks);
  drop_doubles(found.hidden_paths);
  if (found.disks.empty()) return tl::unexpected(names.error());
  index_paths(found);
  return found;
}

}  // namespace nvstripe::collectors

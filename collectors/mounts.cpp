// Owns the look at mounts, swap, fstab and the mount points of the spec. Reads tables of the kernel; never touches what is
// mounted beyond the attributes of its root, since the drive below it may be dead.
#include <algorithm>
#include <set>
#include <tuple>

#include "agent/base/text.hpp"
#include "agent/model/guard_ours.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

// proc(5): id parent major:minor root path options optional… - type source super-options
std::optional<Mount> parse_mount(std::string_view line) {
  const std::vector<std::string_view> fields = words(line);
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  if (fields.size() < 6 || fields.end() - dash < 3 || dash - fields.begin() < 6) return std::nullopt;
  Mount mount;
  mount.device_number = std::string(fields[2]);
  mount.path = unescape_octal(fields[4]);
  mount.options = std::string(fields[5]);
  mount.type = unescape_octal(*(dash + 1));
  mount.source = unescape_octal(*(dash + 2));
  if (fields.end() - dash > 3) mount.options += "," + std::string(*(dash + 3));
  return mount;
}

// The older table: source path type options dump pass. It has no device numbers; sources still tell the devices.
std::optional<Mount> parse_old_mount(std::string_view line) {
  const std::vector<std::string_view> fields = words(line);
  if (fields.size() < 4) return std::nullopt;
  Mount mount;
  mount.source = unescape_octal(fields[0]);
  mount.path = unescape_octal(fields[1]);
  mount.type = unescape_octal(fields[2]);
  mount.options = std::string(fields[3]);
  return mount;
}

Result<std::vector<Mount>> parse_table(const std::string& text, std::string_view path,
                                       std::optional<Mount> (*parse)(std::string_view)) {
  std::vector<Mount> mounts;
  for (const std::string_view line : split(text, '\n')) {
    if (trim(line).empty()) continue;
    auto mount = parse(line);
    if (!mount) {
      return fail("cannot understand a line of '" + std::string(path) + "': '" + printable(line.substr(0, 80)) + "'");
    }
    mounts.push_back(std::move(*mount));
  }
  if (mounts.empty()) return fail("'" + std::string(path) + "' is empty");
  return mounts;
}

Result<std::vector<Mount>> read_mounts(const host::Reader& reader) {
  const auto text = reader.file("/proc/self/mountinfo");
  if (text) return parse_table(*text, "/proc/self/mountinfo", parse_mount);
  if (!reader.captured()) return tl::unexpected(text.error());
  // A captured machine may have the table of process 1 only, or the older one.
  if (const auto first = reader.file("/proc/1/mountinfo")) return parse_table(*first, "/proc/1/mountinfo", parse_mount);
  if (const auto old = reader.file("/proc/mounts")) return parse_table(*old, "/proc/mounts", parse_old_mount);
  return tl::unexpected(text.error());
}

Result<std::vector<std::string>> read_swaps(const host::Reader& reader) {
  const auto text = reader.file("/proc/swaps");
  if (!text) {
    // A kernel without swap support has no such file.
    if (is_errno(text.error(), ENOENT) && surely_absent(reader, "/proc/swaps")) return std::vector<std::string>{};
    return tl::unexpected(text.error());
  }
  std::vector<std::string> swaps;
  const std::vector<std::string_view> lines = split(*text, '\n');
  if (!has_prefix(lines.front(), "Filename")) return fail("cannot understand '/proc/swaps'");
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::vector<std::string_view> fields = words(lines[i]);
    if (!fields.empty()) swaps.push_back(unescape_octal(fields[0]));
  }
  return swaps;
}

std::vector<std::string> read_fstab(const host::Reader& reader, Inventory& seen) {
  const auto text = reader.file("/etc/fstab");
  std::vector<std::string> paths;
  if (!text) {
    if (!is_errno(text.error(), ENOENT)) seen.notes.push_back(text.error().what);
    return paths;
  }
  for (const std::string_view line : split(*text, '\n')) {
    const std::vector<std::string_view> fields = words(line);
    if (fields.size() >= 2 && fields[0][0] != '#') paths.push_back(unescape_octal(fields[1]));
  }
  return paths;
}

std::string path_kind(const host::Reader& reader, const std::string& path) {
  const auto status = reader.status(path);
  if (!status) return is_errno(status.error(), ENOENT) ? "absent" : "not_a_folder";
  if (status->kind != host::Entry::folder) return "not_a_folder";
  const auto names = reader.list(path);
  if (!names) return "full";  // what cannot be listed is not known to be empty
  if (!names->empty()) return "full";
  return status->mode == 0 ? "mount_point_of_ours" : "empty";
}

// Name of an id in passwd(5) or group(5); the number where it has none. Only local files: a directory service may hang.
std::string name_of(const host::Reader& reader, std::string_view table, std::uint32_t id) {
  const auto text = reader.file(table);
  if (text) {
    for (const std::string_view line : split(*text, '\n')) {
      const std::vector<std::string_view> fields = split(line, ':');
      if (fields.size() >= 3 && parse_number(fields[2]) == id) return std::string(fields[0]);
    }
  }
  return std::to_string(id);
}

// nsswitch.conf(5): whether nothing but local files names accounts here ("systemd" adds only those of running services).
bool only_local_accounts(const host::Reader& reader, std::string_view database) {
  const auto text = reader.file("/etc/nsswitch.conf");
  if (!text) return false;
  for (const std::string_view line : split(*text, '\n')) {
    const std::vector<std::string_view> fields = words(line.substr(0, line.find('#')));
    if (fields.empty() || fields[0] != std::string(database) + ":") continue;
    return std::all_of(fields.begin() + 1, fields.end(), [](std::string_view source) {
      return source == "files" || source == "compat" || source == "systemd";
    });
  }
  return false;
}

// Whether the account surely is not there; what a directory service may know is not said to be absent.
bool surely_no_account(const host::Reader& reader, const std::string& name, const std::string& database) {
  if (parse_number(name) || !only_local_accounts(reader, database)) return false;
  const auto text = reader.file("/etc/" + database);
  if (!text) return false;
  const std::vector<std::string_view> lines = split(*text, '\n');
  return std::none_of(lines.begin(), lines.end(), [&](std::string_view line) { return has_prefix(line, name + ":"); });
}

void look_for_accounts(const host::Reader& reader, const Spec& spec, Mounts& mounts) {
  std::set<std::string> missing;
  for (const VolumeSpec& volume : spec.volumes) {
    const auto& [owner, group] = std::tie(volume.mount.owner, volume.mount.group);
    if (owner && surely_no_account(reader, *owner, "passwd")) missing.insert("user " + *owner);
    if (group && surely_no_account(reader, *group, "group")) missing.insert("group " + *group);
  }
  mounts.no_accounts.assign(missing.begin(), missing.end());
}

std::string octal(unsigned mode) {
  std::string text;
  for (int shift = 9; shift >= 0; shift -= 3) text += static_cast<char>('0' + ((mode >> static_cast<unsigned>(shift)) & 7u));
  return text;
}

void look_at_mount_points(const host::Reader& reader, const Spec& spec, Mounts& mounts) {
  for (const VolumeSpec& volume : spec.volumes) {
    const std::string& path = volume.mount.path;
    bool mounted = false;
    for (Mount& mount : mounts.mounts) {
      if (mount.path != path) continue;
      mounted = true;
      const auto status = reader.status(path);
      if (!status) continue;
      mount.owner = name_of(reader, "/etc/passwd", status->uid);
      mount.group = name_of(reader, "/etc/group", status->gid);
      mount.mode = octal(status->mode);
    }
    if (!mounted && !path.empty()) mounts.path_kinds[path] = path_kind(reader, path);
  }
}

// Asked for what is not mounted only: there a start comes next.
void ask_for_units(const host::Reader& reader, Mounts& mounts) {
  std::vector<std::string> units;
  for (const auto& [path, kind] : mounts.path_kinds) units.push_back(guard::mount_unit_name(path));
  if (units.empty()) return;
  const auto answer = reader.output("systemd.not_loaded", units);
  if (!answer) return;  // then each is taken for loaded
  for (const std::string_view line : split(*answer, '\n')) {
    if (!line.empty()) mounts.units_not_loaded.emplace_back(line);
  }
}

}  // namespace

void observe_mounts(const host::Reader& reader, const Spec& spec, Inventory& seen) {
  auto table = read_mounts(reader);
  if (!table) {
    seen.mounts = Facet<Mounts>::unavailable(table.error().what);
    return;
  }
  auto swaps = read_swaps(reader);
  if (!swaps) {
    seen.mounts = Facet<Mounts>::unavailable(swaps.error().what);
    return;
  }
  Mounts mounts;
  mounts.mounts = std::move(*table);
  mounts.swaps = std::move(*swaps);
  mounts.fstab_paths = read_fstab(reader, seen);
  look_at_mount_points(reader, spec, mounts);
  look_for_accounts(reader, spec, mounts);
  ask_for_units(reader, mounts);
  seen.mounts = Facet<Mounts>::known(std::move(mounts));
}

}  // namespace nvstripe::collectors

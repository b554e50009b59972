// Owns the look at files that are ours: mount units and the udev rule for exported drives. A file without our mark is not
// ours, whatever its name; a unit that stands where one of ours would is listed all the same, as it is in the way.
#include <set>

#include "agent/base/text.hpp"
#include "agent/model/guard_ours.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

constexpr std::string_view kMark = "# Made by nvstripe";
constexpr std::string_view kUnits = "/etc/systemd/system";
constexpr std::string_view kRules = "/etc/udev/rules.d";
constexpr std::string_view kExportRules = "62-nvstripe-exports.rules";

bool is_ours(std::string_view text) {
  for (const std::string_view line : split(text, '\n')) {
    if (has_prefix(line, kMark)) return true;
  }
  return false;
}

// Names in the folder; none where it is surely absent.
Result<std::vector<std::string>> names_in(const host::Reader& reader, std::string_view folder) {
  auto names = reader.list(folder);
  const bool absent = !names && is_errno(names.error(), ENOENT) &&
                      (surely_absent(reader, folder) || surely_absent(reader, folder_of(folder)));
  if (absent) return std::vector<std::string>{};
  return names;
}

Result<> take(const host::Reader& reader, const std::string& path, bool wanted_name, std::vector<UnitFile>& units) {
  const host::Entry entry = reader.entry(path);
  // A mask is a link to /dev/null, which is not a file and is not ours.
  if (entry == host::Entry::link && wanted_name) {
    units.push_back({base_name(path), path, "link to " + reader.link(path).value_or("somewhere")});
  }
  if (entry != host::Entry::file) return {};
  TRY(std::string text, reader.file(path));
  if (wanted_name || is_ours(text)) units.push_back({base_name(path), path, std::move(text)});
  return {};
}

Result<std::vector<UnitFile>> read_units(const host::Reader& reader, const Spec& spec) {
  std::set<std::string> wanted;
  for (const VolumeSpec& volume : spec.volumes) wanted.insert(guard::mount_unit_name(volume.mount.path));
  std::vector<UnitFile> units;
  TRY(const std::vector<std::string> names, names_in(reader, kUnits));
  for (const std::string& name : names) {
    const bool is_mount = name.size() > 6 && name.compare(name.size() - 6, 6, ".mount") == 0;
    if (is_mount) CHECKED(take(reader, std::string(kUnits) + "/" + name, wanted.count(name) != 0, units));
  }
  TRY(const std::vector<std::string> rules, names_in(reader, kRules));
  for (const std::string& name : rules) {
    if (name == kExportRules) CHECKED(take(reader, std::string(kRules) + "/" + name, false, units));
  }
  return units;
}

}  // namespace

void observe_units(const host::Reader& reader, const Spec& spec, Inventory& seen) {
  auto units = read_units(reader, spec);
  seen.units = units ? Facet<std::vector<UnitFile>>::known(std::move(*units))
                     : Facet<std::vector<UnitFile>>::unavailable(units.error().what);
}

}  // namespace nvstripe::collectors

// Owns the kernel settings that tuning speaks of, and who else sets them: sysctl.d and the active tuned profile.
#include <algorithm>
#include <array>
#include <map>

#include "agent/base/text.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

constexpr std::array<std::string_view, 17> kNames{"vm.dirty_bytes",
                                                  "vm.dirty_background_bytes",
                                                  "vm.dirty_ratio",
                                                  "vm.dirty_background_ratio",
                                                  "vm.dirty_expire_centisecs",
                                                  "vm.dirty_writeback_centisecs",
                                                  "vm.min_free_kbytes",
                                                  "vm.zone_reclaim_mode",
                                                  "vm.swappiness",
                                                  "vm.vfs_cache_pressure",
                                                  "net.core.rmem_max",
                                                  "net.core.wmem_max",
                                                  "net.core.netdev_max_backlog",
                                                  "net.core.busy_read",
                                                  "net.core.busy_poll",
                                                  "net.ipv4.tcp_rmem",
                                                  "net.ipv4.tcp_wmem"};

// Writing one of a pair sets the other to 0 (Documentation/admin-guide/sysctl/vm.rst): a setter of one sets both.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kPairs{
    {{"vm.dirty_bytes", "vm.dirty_ratio"}, {"vm.dirty_background_bytes", "vm.dirty_background_ratio"}}};

using Setters = std::map<std::string, std::string>;  // name → who

std::string path_of(std::string_view name) {
  std::string path = "/proc/sys/" + std::string(name);
  std::replace(path.begin() + 10, path.end(), '.', '/');
  return path;
}

// "vm.dirty_ratio = 10", "-vm/dirty_ratio=10"; comments by # and ;
void take_lines(std::string_view text, const std::string& who, Setters& setters) {
  for (const std::string_view raw : split(text, '\n')) {
    std::string_view line = trim(raw);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '-') line.remove_prefix(1);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    std::string name(trim(line.substr(0, equals)));
    std::replace(name.begin(), name.end(), '/', '.');
    setters[name] = who;
  }
}

// sysctl.d(5): a file of one name hides that of a later folder; all are applied by name, the last one wins.
void take_sysctl_files(const host::Reader& reader, Setters& setters) {
  std::map<std::string, std::string> files;
  for (const std::string_view folder : {"/usr/lib/sysctl.d", "/usr/local/lib/sysctl.d", "/run/sysctl.d", "/etc/sysctl.d"}) {
    const auto names = reader.list(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (name.size() > 5 && name.compare(name.size() - 5, 5, ".conf") == 0) files[name] = std::string(folder) + "/" + name;
    }
  }
  for (const auto& [name, path] : files) {
    if (const auto text = reader.file(path)) take_lines(*text, path, setters);
  }
  if (const auto text = reader.file("/etc/sysctl.conf")) take_lines(*text, "/etc/sysctl.conf", setters);
}

constexpr int kMaxIncludes = 8;  // of tuned profiles in each other

void take_tuned_profile(const host::Reader& reader, const std::string& profile, int depth, Setters& setters) {
  if (depth > kMaxIncludes || profile.find('/') != std::string::npos) return;
  for (const std::string_view folder :
       {"/etc/tuned/profiles/", "/etc/tuned/", "/usr/lib/tuned/profiles/", "/usr/lib/tuned/"}) {
    const auto text = reader.file(std::string(folder) + profile + "/tuned.conf");
    if (!text) continue;
    std::string_view section;
    std::string settings;
    for (const std::string_view raw : split(*text, '\n')) {
      const std::string_view line = trim(raw);
      if (!line.empty() && line[0] == '[')
        section = line;
      else if (section == "[sysctl]")
        settings += std::string(line) + "\n";
      else if (section == "[main]" && has_prefix(line, "include")) {
        std::string names(line.substr(std::min(line.find('='), line.size() - 1) + 1));
        std::replace(names.begin(), names.end(), ',', ' ');
        for (const std::string_view name : words(names)) take_tuned_profile(reader, std::string(name), depth + 1, setters);
      }
    }
    take_lines(settings, "tuned profile '" + profile + "'", setters);
    return;
  }
}

void take_tuned(const host::Reader& reader, Setters& setters) {
  const std::string active = reader.attribute("/etc/tuned/active_profile");
  for (const std::string_view profile : words(active)) take_tuned_profile(reader, std::string(profile), 0, setters);
}

void pair_up(Setters& setters) {
  for (const auto& [first, second] : kPairs) {
    const auto one = setters.find(std::string(first));
    const auto other = setters.find(std::string(second));
    if (one != setters.end() && other == setters.end()) setters[std::string(second)] = one->second;
    if (other != setters.end() && one == setters.end()) setters[std::string(first)] = other->second;
  }
}

}  // namespace

void observe_sysctls(const host::Reader& reader, const Spec&, Inventory& seen) {
  Setters setters;
  take_sysctl_files(reader, setters);
  take_tuned(reader, setters);
  pair_up(setters);
  std::vector<Sysctl> sysctls;
  std::string problem;
  for (const std::string_view name : kNames) {
    const auto value = reader.file(path_of(name));
    if (!value) {
      if (problem.empty()) problem = value.error().what;
      continue;
    }
    const auto setter = setters.find(std::string(name));
    sysctls.push_back(
        {std::string(name), std::string(trim(*value)), setter == setters.end() ? std::string() : setter->second});
  }
  seen.sysctls = sysctls.empty() ? Facet<std::vector<Sysctl>>::unavailable(problem)
                                 : Facet<std::vector<Sysctl>>::known(std::move(sysctls));
}

}  // namespace nvstripe::collectors

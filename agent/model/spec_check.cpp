// Owns one function a subject: exports, connections, volumes, mount points. Each error names the item and its place.
#include "agent/model/spec_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "agent/base/text.hpp"
#include "agent/model/spec_fields.hpp"

namespace nvstripe {
namespace {

constexpr std::string_view kLocal = "local_ssd";

// A volume mounted on one of these would hide the system's own files.
constexpr std::array<std::string_view, 24> kSystemFolders{
    "/bin",    "/boot",       "/dev",   "/etc",       "/home",    "/lib",     "/lib32",     "/lib64",
    "/libx32", "/lost+found", "/media", "/proc",      "/root",    "/run",     "/sbin",      "/sys",
    "/tmp",    "/usr",        "/var",   "/var/cache", "/var/lib", "/var/log", "/var/spool", "/var/tmp"};
// And within these nothing may be mounted at all: the system or the agent itself owns every name there.
constexpr std::array<std::string_view, 13> kSystemTrees{
    "/bin",    "/boot", "/dev",  "/etc", "/lib", "/lib32",           "/lib64",
    "/libx32", "/proc", "/sbin", "/sys", "/usr", "/var/lib/nvstripe"};

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.substr(0, folder.size()) == folder && path[folder.size()] == '/';
}

class Check {
 public:
  explicit Check(const Spec& spec) : spec_(spec) {}

  std::vector<SpecError> run() {
    for (const ExportSpec& wanted : spec_.exports) check(wanted);
    for (const ConnectionSpec& wanted : spec_.connections) check(wanted);
    for (const VolumeSpec& wanted : spec_.volumes) check(wanted);
    check_same_targets();
    check_mount_points();
    return std::move(errors_);
  }

 private:
  template <class T>
  void say(const T& item, std::string_view kind, std::string_view what, std::string remedy) {
    errors_.push_back({item.place, fmt::format("{} '{}': {}", kind, item.name, what), std::move(remedy)});
  }

  void check(const ExportSpec& wanted) {
    const auto refuse = [&](std::string_view what, std::string remedy) { say(wanted, "export", what, std::move(remedy)); };
    if (wanted.listen.network.has_value() == wanted.listen.interface.has_value()) {
      refuse(wanted.listen.network ? "listen names a network and an interface" : "listen names no network and no interface",
             "write exactly one of listen.network and listen.interface; exports never listen everywhere");
    }
    const DeviceSelector& devices = wanted.devices;
    if (devices.min_size && devices.max_size && *devices.min_size > *devices.max_size) {
      refuse("devices.min_size is larger than devices.max_size", "exchange the two");
    }
    if (devices.count && !devices.serials.empty() && *devices.count > devices.serials.size()) {
      refuse(
          fmt::format("devices.count is {}, but only {} serial numbers are named", *devices.count, devices.serials.size()),
          "name more serial numbers or lower the count");
    }
    check_slices(wanted);
  }

  void check_slices(const ExportSpec& wanted) {
    std::uint64_t sum = 0;
    std::size_t takes_all = 0;
    std::set<std::string> hosts;
    for (const AllowedHost& host : wanted.allow) {
      if (!hosts.insert(host.host).second) {
        say(wanted, "export", fmt::format("host '{}' is allowed twice", printable(host.host)),
            "write one entry with all its slices");
      }
      takes_all += host.slices ? 0u : 1u;
      sum += host.slices.value_or(0);
    }
    if (takes_all > 0 && wanted.allow.size() > 1) {
      say(wanted, "export", "one host takes all slices, and others are allowed too",
          wanted.slices < wanted.allow.size()
              ? fmt::format("raise slices to {} or more, and give each entry its own number of them", wanted.allow.size())
              : fmt::format("give each entry its own number of slices, {} together", wanted.slices));
    } else if (sum > wanted.slices) {
      say(wanted, "export", fmt::format("hosts are given {} slices of {}", sum, wanted.slices),
          fmt::format("raise slices to {}, or give the hosts fewer", sum));
    }
  }

  void check(const ConnectionSpec& wanted) {
    if (wanted.name == kLocal) {
      say(wanted, "connection", "its name is the word for this VM's own drives", "choose another name");
    }
  }

  void check_same_targets() {
    for (std::size_t i = 0; i < spec_.connections.size(); ++i) {
      const ConnectionSpec& one = spec_.connections[i];
      for (std::size_t j = 0; j < i; ++j) {
        const ConnectionSpec& other = spec_.connections[j];
        const bool same = one.address == other.address && one.port == other.port &&
                          (one.subsystem == other.subsystem || !one.subsystem || !other.subsystem);
        if (!same) continue;
        say(one, "connection", fmt::format("it reaches the same target as connection '{}'", other.name),
            "remove one of them, or name different subsystems");
        break;
      }
    }
  }

  void check(const VolumeSpec& wanted) {
    const auto refuse = [&](std::string_view what, std::string remedy) { say(wanted, "volume", what, std::move(remedy)); };
    if (wanted.redundancy != "none") {
      refuse(fmt::format("redundancy '{}' is not offered by this version", wanted.redundancy), "write redundancy: none");
    }
    if ((wanted.chunk.count & (wanted.chunk.count - 1)) != 0) {
      refuse(fmt::format("chunk {} is not a power of two", to_spec(wanted.chunk)), "write 64KiB, 128KiB or 256KiB, say");
    }
    check_members(wanted);
  }

  void check_members(const VolumeSpec& wanted) {
    const auto refuse = [&](std::string_view what, std::string remedy) { say(wanted, "volume", what, std::move(remedy)); };
    std::vector<std::string_view> known{kLocal};
    for (const ConnectionSpec& connection : spec_.connections) known.emplace_back(connection.name);
    std::set<std::string> domains;
    bool local = false, all_known = true;
    for (const std::string& from : wanted.members.from) {
      const ConnectionSpec* connection = spec_.connection(from);
      if (from == kLocal) {
        local = true;
      } else if (connection == nullptr) {
        all_known = false;
        const std::string_view near = nearest(from, known);
        refuse(fmt::format("members.from names '{}', and there is no such connection", printable(from)),
               near.empty() ? std::string("add it under connections") : fmt::format("did you mean '{}'?", near));
      } else {
        domains.insert(connection->failure_domain.value_or(connection->name));
      }
    }
    if (local && wanted.members.from.size() > 1) {
      refuse("members.from mixes local_ssd with connections",
             "make one volume of each: drives of different speed and fate do not stripe well");
    }
    if (local) domains.insert("this VM");
    const std::uint32_t least = wanted.members.min_failure_domains.value_or(1);
    if (least > wanted.members.count) {
      refuse(fmt::format("{} members cannot lie in {} failure domains", wanted.members.count, least),
             "raise members.count or lower members.min_failure_domains");
    } else if (all_known && least > domains.size()) {
      refuse(fmt::format("members.from reaches {} failure domain(s), and {} are asked for", domains.size(), least),
             "name connections in more failure domains, or lower members.min_failure_domains");
    }
  }

  void check_mount_points() {
    for (std::size_t i = 0; i < spec_.volumes.size(); ++i) {
      const VolumeSpec& one = spec_.volumes[i];
      const std::string& path = one.mount.path;
      const bool system = std::find(kSystemFolders.begin(), kSystemFolders.end(), path) != kSystemFolders.end() ||
                          std::any_of(kSystemTrees.begin(), kSystemTrees.end(),
                                      [&](std::string_view tree) { return path == tree || is_below(path, tree); });
      if (path == "/" || system) {
        say(one, "volume", fmt::format("mount.path '{}' belongs to the system", path),
            "choose a folder of its own, such as /mnt/" + one.name);
      }
      for (std::size_t j = 0; j < i; ++j) {
        const VolumeSpec& other = spec_.volumes[j];
        const bool same = path == other.mount.path;
        if (!same && !is_below(path, other.mount.path) && !is_below(other.mount.path, path)) continue;
        say(one, "volume",
            fmt::format("mount.path '{}' is {} of volume '{}'", path, same ? "that" : "nested with that", other.name),
            "choose another path");
      }
    }
  }

  const Spec& spec_;
  std::vector<SpecError> errors_;
};

}  // namespace

std::vector<SpecError> check_spec(const Spec& spec) { return Check(spec).run(); }

}  // namespace nvstripe

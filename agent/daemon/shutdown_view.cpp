// Owns how our controllers, arrays and mounts are recognised at shutdown, from records and sysfs alone: by then the daemon
// is gone and no tool may be asked that could wait for a dead target.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "agent/base/text.hpp"
#include "agent/base/uuid.hpp"
#include "agent/daemon/shutdown.hpp"

namespace nvstripe::daemon {
namespace {

namespace fs = std::filesystem;

std::string attribute(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return std::string(trim(line));
}

std::vector<std::string> names(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code code;
  for (fs::directory_iterator at(folder, code); !code && at != fs::directory_iterator(); at.increment(code))
    out.push_back(at->path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string address_part(std::string_view address, std::string_view key) {
  for (const std::string_view part : split(address, ','))
    if (part.starts_with(key) && part.size() > key.size() && part[key.size()] == '=')
      return std::string(part.substr(key.size() + 1));
  return {};
}

// mountinfo writes blanks, tabs, line ends and backslashes as \ooo.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = text[i] == '\\' && i + 3 < text.size() ? parse_number(text.substr(i + 1, 3), 8) : std::nullopt;
    if (code) i += 3;
    out.push_back(code ? static_cast<char>(*code) : text[i]);
  }
  return out;
}

}  // namespace

std::vector<FabricController> our_controllers(const ShutdownPlaces& places, const Records& records) {
  const std::string boot = attribute(places.proc + "/sys/kernel/random/boot_id");
  std::vector<FabricController> out;
  for (const std::string& name : names(places.sys + "/class/nvme")) {
    const std::string folder = places.sys + "/class/nvme/" + name;
    const std::string nqn = attribute(folder + "/subsysnqn");
    const std::string address = attribute(folder + "/address");
    FabricController controller{name, attribute(folder + "/transport"), address_part(address, "traddr"),
                                address_part(address, "host_traddr"), attribute(folder + "/state")};
    if (controller.transport != "rdma" && controller.transport != "tcp") continue;
    const bool ours =
        std::any_of(records.connections.begin(), records.connections.end(), [&](const ConnectionRecord& record) {
          return record.nqn == nqn && record.transport == controller.transport && record.traddr == controller.traddr &&
                 record.trsvcid == address_part(address, "trsvcid") && record.boot_id == boot;
        });
    if (ours) out.push_back(std::move(controller));
  }
  return out;
}

std::vector<std::string> our_arrays(const ShutdownPlaces& places, const Records& records) {
  std::vector<std::string> out;
  if (!records.identity) return out;
  for (const std::string& name : names(places.sys + "/block")) {
    if (!name.starts_with("md")) continue;
    const auto uuid = parse_uuid(attribute(places.sys + "/block/" + name + "/md/uuid"));
    if (!uuid) continue;
    for (const VolumeRecord& volume : records.volumes)
      if (*uuid == derive(records.identity->host, "array", volume.name, volume.generation)) out.push_back(name);
  }
  return out;
}

std::vector<std::string> our_groups(const ShutdownPlaces& places, const Records& records) {
  std::vector<std::string> out;
  for (const std::string& device : names(places.sys + "/block")) {
    const std::string name = attribute(places.sys + "/block/" + device + "/dm/name");
    if (!attribute(places.sys + "/block/" + device + "/dm/uuid").starts_with("LVM-") || !name.ends_with("-data")) continue;
    std::string group;  // device-mapper doubles the dashes within group and volume names
    for (std::size_t i = 0; i + 5 < name.size(); ++i) {
      group.push_back(name[i]);
      if (name[i] == '-' && name[i + 1] == '-') ++i;
    }
    for (const VolumeRecord& volume : records.volumes)
      if (volume.stack == "lvm" && group.size() == volume.name.size() + 13 && group.starts_with("nvs_" + volume.name + "_"))
        out.push_back(group);
  }
  return out;
}

std::vector<std::string> our_mounts(const ShutdownPlaces& places, const Records& records) {
  std::vector<std::string> out;
  std::ifstream file(places.proc + "/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const auto fields = words(line);
    if (fields.size() < 5) continue;
    const std::string path = unescaped(fields[4]);
    const auto type = std::find(fields.begin(), fields.end(), "-");
    if (type == fields.end() || type + 1 == fields.end() || *(type + 1) != "xfs") continue;
    for (const VolumeRecord& volume : records.volumes)
      if (volume.mount_path == path) out.push_back(path);
  }
  return out;
}

}  // namespace nvstripe::daemon

// Owns the look at the kernel's NVMe target in configfs. Reads no key or secret of a host. "Not loaded" is concluded only
// where modules or configfs could be listed.
#include "agent/base/text.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

constexpr std::string_view kTarget = "/sys/kernel/config/nvmet";

using Names = Result<std::vector<std::string>>;

Result<TargetNamespace> read_target_namespace(const host::Reader& reader, const std::string& folder, std::uint32_t nsid) {
  TargetNamespace found;
  found.nsid = nsid;
  // What backs a namespace decides whether a drive is in use: not being able to read it is an error, not "nothing".
  TRY(const std::string path, reader.file(folder + "/device_path"));
  TRY(const std::string enabled, reader.file(folder + "/enable"));
  found.device_path = std::string(trim(path));
  if (found.device_path == "(null)") found.device_path.clear();  // as the kernel prints a path that was never set
  found.enabled = trim(enabled) == "1";
  found.uuid = identifier(reader, folder + "/device_uuid");
  found.nguid = identifier(reader, folder + "/device_nguid");
  return found;
}

Result<TargetSubsystem> read_subsystem(const host::Reader& reader, const std::string& nqn) {
  const std::string folder = std::string(kTarget) + "/subsystems/" + nqn;
  TargetSubsystem subsystem;
  subsystem.nqn = nqn;
  subsystem.serial = reader.attribute(folder + "/attr_serial");
  subsystem.model = reader.attribute(folder + "/attr_model");
  subsystem.allow_any_host = reader.attribute(folder + "/attr_allow_any_host") == "1";
  TRY(subsystem.allowed_hosts, reader.list(folder + "/allowed_hosts"));
  TRY(const std::vector<std::string> names, reader.list(folder + "/namespaces"));
  for (const std::string& name : names) {
    const auto nsid = parse_number(name);
    if (!nsid) continue;
    TRY(auto found, read_target_namespace(reader, folder + "/namespaces/" + name, static_cast<std::uint32_t>(*nsid)));
    subsystem.namespaces.push_back(std::move(found));
  }
  return subsystem;
}

Result<TargetPort> read_port(const host::Reader& reader, const std::string& id) {
  const std::string folder = std::string(kTarget) + "/ports/" + id;
  TargetPort port;
  port.id = id;
  port.trtype = reader.attribute(folder + "/addr_trtype");
  port.adrfam = reader.attribute(folder + "/addr_adrfam");
  port.traddr = reader.attribute(folder + "/addr_traddr");
  port.trsvcid = reader.attribute(folder + "/addr_trsvcid");
  TRY(port.subsystems, reader.list(folder + "/subsystems"));
  return port;
}

Result<TargetConfiguration> read_target(const host::Reader& reader) {
  TargetConfiguration target;
  target.loaded = true;
  TRY(const std::vector<std::string> subsystems, reader.list(std::string(kTarget) + "/subsystems"));
  TRY(const std::vector<std::string> ports, reader.list(std::string(kTarget) + "/ports"));
  TRY(target.hosts, reader.list(std::string(kTarget) + "/hosts"));
  for (const std::string& nqn : subsystems) {
    TRY(auto subsystem, read_subsystem(reader, nqn));
    target.subsystems.push_back(std::move(subsystem));
  }
  for (const std::string& id : ports) {
    TRY(auto port, read_port(reader, id));
    target.ports.push_back(std::move(port));
  }
  return target;
}

// configfs may be unmounted while the target runs: the module list tells that there is none.
bool is_surely_not_loaded(const host::Reader& reader) {
  return surely_absent(reader, "/sys/module/nvmet") || surely_absent(reader, kTarget);
}

// A capture of all block devices that has neither modules nor configfs: nothing was exported by all that can be seen. Said,
// and good for a plan on paper only, as content is presumed there too.
bool is_presumed_not_loaded(const host::Reader& reader) {
  return reader.captured() && reader.list("/sys/block").has_value() && reader.entry("/sys/module") == host::Entry::absent &&
         reader.entry("/sys/kernel/config") == host::Entry::absent;
}

}  // namespace

void observe_nvmet(const host::Reader& reader, const Spec&, Inventory& seen) {
  using Exports = Facet<TargetConfiguration>;
  const Names top = reader.list(kTarget);
  if (!top) {
    bool none = is_errno(top.error(), ENOENT) && is_surely_not_loaded(reader);
    if (!none && is_errno(top.error(), ENOENT) && is_presumed_not_loaded(reader)) {
      seen.notes.push_back("neither modules nor configfs were captured: it is presumed that nvmet exports nothing");
      none = true;
    }
    seen.exports =
        none ? Exports::known({}) : Exports::unavailable("whether drives are exported cannot be seen: " + top.error().what);
    return;
  }
  auto target = read_target(reader);
  seen.exports = target ? Exports::known(std::move(*target)) : Exports::unavailable(target.error().what);
}

}  // namespace nvstripe::collectors

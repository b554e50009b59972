// Owns nvmet's configfs of the simulated machine; errors as tried on Linux 6.1.
#include <algorithm>

#include "agent/base/text.hpp"
#include "tests/sim/host.hpp"

namespace nvstripe::sim {
namespace {

constexpr std::size_t kRoot = sizeof("/sys/kernel/config/nvmet/") - 1;

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> out;
  for (const std::string_view part : split(std::string_view(path).substr(kRoot), '/')) out.emplace_back(part);
  return out;
}

TargetSubsystem* subsystem(TargetConfiguration& nvmet, const std::string& nqn) {
  for (TargetSubsystem& one : nvmet.subsystems) {
    if (one.nqn == nqn) return &one;
  }
  return nullptr;
}
TargetPort* port(TargetConfiguration& nvmet, const std::string& id) {
  for (TargetPort& one : nvmet.ports) {
    if (one.id == id) return &one;
  }
  return nullptr;
}
TargetNamespace* space(TargetSubsystem& in, const std::string& nsid) {
  for (TargetNamespace& one : in.namespaces) {
    if (std::to_string(one.nsid) == nsid) return &one;
  }
  return nullptr;
}
bool is_linked(const TargetConfiguration& nvmet, const std::string& nqn) {
  return std::any_of(nvmet.ports.begin(), nvmet.ports.end(), [&](const TargetPort& one) {
    return std::find(one.subsystems.begin(), one.subsystems.end(), nqn) != one.subsystems.end();
  });
}
Result<> error(int code, const std::string& path) { return fail_errno("cannot change '" + path + "'", code); }

Result<> write_namespace(TargetNamespace& ns, const std::string& attribute, const std::string& value,
                         const std::string& path) {
  if (attribute == "enable") {
    if (value == "1" && ns.device_path.empty()) return error(EINVAL, path);
    ns.enabled = value == "1";
    return {};
  }
  if (ns.enabled) return error(EBUSY, path);
  if (attribute == "device_path")
    ns.device_path = value;
  else if (attribute == "device_uuid")
    ns.uuid = value;
  else if (attribute == "device_nguid")
    ns.nguid = value;
  else
    throw Broken("namespace attribute " + attribute);
  return {};
}

}  // namespace

Result<> nvmet_make(TargetConfiguration& nvmet, const std::string& path) {
  const auto parts = parts_of(path);
  if (parts.size() == 2 && parts[0] == "hosts") {
    if (std::find(nvmet.hosts.begin(), nvmet.hosts.end(), parts[1]) == nvmet.hosts.end()) nvmet.hosts.push_back(parts[1]);
  } else if (parts.size() == 2 && parts[0] == "subsystems") {
    if (subsystem(nvmet, parts[1]) == nullptr) {
      TargetSubsystem made;
      made.nqn = parts[1];
      made.serial = "random";
      made.model = "Linux";
      nvmet.subsystems.push_back(std::move(made));
    }
  } else if (parts.size() == 2 && parts[0] == "ports") {
    if (port(nvmet, parts[1]) == nullptr) nvmet.ports.push_back({parts[1], "", "", "", "", {}});
  } else if (parts.size() == 4 && parts[0] == "subsystems" && parts[2] == "namespaces") {
    TargetSubsystem* in = subsystem(nvmet, parts[1]);
    if (in == nullptr) return error(ENOENT, path);
    if (space(*in, parts[3]) == nullptr) {
      TargetNamespace made;
      made.nsid = static_cast<std::uint32_t>(*parse_number(parts[3]));
      made.uuid = "random";
      in->namespaces.push_back(made);
    }
  } else {
    throw Broken("makes " + path);
  }
  return {};
}

Result<> nvmet_write(TargetConfiguration& nvmet, const std::string& path, const std::string& value) {
  const auto parts = parts_of(path);
  if (parts.size() == 5 && parts[0] == "subsystems" && parts[2] == "namespaces") {
    TargetSubsystem* in = subsystem(nvmet, parts[1]);
    TargetNamespace* ns = in == nullptr ? nullptr : space(*in, parts[3]);
    if (ns == nullptr) return error(ENOENT, path);
    return write_namespace(*ns, parts[4], value, path);
  }
  if (parts.size() == 3 && parts[0] == "subsystems") {
    TargetSubsystem* in = subsystem(nvmet, parts[1]);
    if (in == nullptr) return error(ENOENT, path);
    if (parts[2] == "attr_serial")
      in->serial = value;
    else if (parts[2] == "attr_model")
      in->model = value;
    else if (parts[2] == "attr_allow_any_host")
      in->allow_any_host = value == "1";
    else if (parts[2] != "attr_qid_max")
      throw Broken("subsystem attribute " + parts[2]);
    return {};
  }
  if (parts.size() == 3 && parts[0] == "ports") {
    TargetPort* in = port(nvmet, parts[1]);
    if (in == nullptr) return error(ENOENT, path);
    if (!in->subsystems.empty()) return error(EACCES, path);
    if (parts[2] == "addr_trtype")
      in->trtype = value;
    else if (parts[2] == "addr_adrfam")
      in->adrfam = value;
    else if (parts[2] == "addr_traddr")
      in->traddr = value;
    else if (parts[2] == "addr_trsvcid")
      in->trsvcid = value;
    else if (!parts[2].starts_with("param_"))
      throw Broken("port attribute " + parts[2]);
    return {};
  }
  throw Broken("writes " + path);
}

Result<> nvmet_link(TargetConfiguration& nvmet, const std::string& target, const std::string& path) {
  const auto parts = parts_of(path), to = parts_of(target);
  if (parts.size() == 4 && parts[0] == "subsystems" && parts[2] == "allowed_hosts") {
    TargetSubsystem* in = subsystem(nvmet, parts[1]);
    if (in == nullptr || std::find(nvmet.hosts.begin(), nvmet.hosts.end(), to.back()) == nvmet.hosts.end())
      return error(ENOENT, path);
    if (std::find(in->allowed_hosts.begin(), in->allowed_hosts.end(), to.back()) == in->allowed_hosts.end())
      in->allowed_hosts.push_back(to.back());
    return {};
  }
  if (parts.size() != 4 || parts[0] != "ports" || parts[2] != "subsystems") throw Broken("links " + path);
  TargetPort* at = port(nvmet, parts[1]);
  TargetSubsystem* in = subsystem(nvmet, to.back());
  if (at == nullptr || in == nullptr) return error(ENOENT, path);
  if (at->traddr.empty() || at->trtype.empty()) return error(EINVAL, path);
  for (const TargetNamespace& ns : in->namespaces) {
    if (!ns.enabled) throw Broken("a subsystem appears on its port before all its namespaces are enabled");
  }
  if (in->allow_any_host) throw Broken("a subsystem appears that lets any host in");
  if (std::find(at->subsystems.begin(), at->subsystems.end(), to.back()) == at->subsystems.end())
    at->subsystems.push_back(to.back());
  return {};
}

Result<> nvmet_remove(TargetConfiguration& nvmet, const std::string& path) {
  const auto parts = parts_of(path);
  if (parts.size() == 4 && parts[0] == "ports") {
    if (TargetPort* at = port(nvmet, parts[1])) std::erase(at->subsystems, parts[3]);
  } else if (parts.size() == 4 && parts[2] == "allowed_hosts") {
    if (TargetSubsystem* in = subsystem(nvmet, parts[1])) std::erase(in->allowed_hosts, parts[3]);
  } else if (parts.size() == 4 && parts[2] == "namespaces") {
    if (TargetSubsystem* in = subsystem(nvmet, parts[1]))
      std::erase_if(in->namespaces, [&](const TargetNamespace& ns) { return std::to_string(ns.nsid) == parts[3]; });
  } else if (parts.size() == 2 && parts[0] == "subsystems") {
    if (is_linked(nvmet, parts[1])) return error(EBUSY, path);
    std::erase_if(nvmet.subsystems, [&](const TargetSubsystem& one) { return one.nqn == parts[1]; });
  } else if (parts.size() == 2 && parts[0] == "ports") {
    TargetPort* at = port(nvmet, parts[1]);
    if (at != nullptr && !at->subsystems.empty()) return error(ENOTEMPTY, path);
    std::erase_if(nvmet.ports, [&](const TargetPort& one) { return one.id == parts[1]; });
  } else if (parts.size() == 2 && parts[0] == "hosts") {
    for (const TargetSubsystem& one : nvmet.subsystems) {
      if (std::find(one.allowed_hosts.begin(), one.allowed_hosts.end(), parts[1]) != one.allowed_hosts.end())
        return error(EBUSY, path);
    }
    std::erase(nvmet.hosts, parts[1]);
  } else {
    throw Broken("removes " + path);
  }
  return {};
}

}  // namespace nvstripe::sim

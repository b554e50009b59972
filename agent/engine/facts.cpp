// Owns what facts mean in an Inventory, and which facets must be looked at again after an action. Pure.
#include <algorithm>
#include <array>
#include <string_view>

#include "agent/engine/planner.hpp"

namespace nvstripe {
namespace {

constexpr FacetSet bit(FacetName name) { return static_cast<FacetSet>(name); }

constexpr FacetSet kStorage = FacetName::blocks | FacetName::controllers | FacetName::arrays | FacetName::lvm;

bool sees_array(std::string_view uuid, const Inventory& seen) {
  const MdArray* array = seen.find_array(std::string(uuid));
  return array != nullptr && array->state != "inactive" && array->state != "clear" && array->state != "broken";
}

bool sees_volume(std::string_view name, const Inventory& seen) {
  const auto& all = seen.lvm.value().volumes;
  return std::any_of(all.begin(), all.end(),
                     [&](const LvmVolume& lv) { return lv.active && lv.vg + "/" + lv.name == name; });
}

bool sees_filesystem(std::string_view uuid, const Inventory& seen) {
  for (const BlockDevice& device : seen.blocks.value()) {
    for (const Signature& signature : device.signatures) {
      if (signature.uuid == uuid && !signature.in_progress && signature.type != "linux_raid_member") return true;
    }
  }
  return false;
}

bool sees_mount(std::string_view path, const Inventory& seen) {
  const auto& all = seen.mounts.value().mounts;
  return std::any_of(all.begin(), all.end(), [&](const Mount& mount) { return mount.path == path; });
}

bool sees_controller(std::string_view name, const Inventory& seen) {
  const auto& all = seen.controllers.value();
  return std::any_of(all.begin(), all.end(), [&](const NvmeController& c) {
    return c.state == "live" && c.subsystem_nqn + "@" + c.transport + ":" + c.traddr + ":" + c.trsvcid == name;
  });
}

bool sees_port(std::string_view name, const Inventory& seen) {
  const auto& all = seen.exports.value().ports;
  return std::any_of(all.begin(), all.end(),
                     [&](const TargetPort& port) { return port.trtype + ":" + port.traddr + ":" + port.trsvcid == name; });
}

// On the storage side an enabled namespace of our target, on the consumer's a block device of that subsystem.
bool sees_namespace(std::string_view name, const Inventory& seen) {
  for (const TargetSubsystem& subsystem : seen.exports.value().subsystems) {
    for (const TargetNamespace& ns : subsystem.namespaces) {
      if (subsystem.nqn + "/" + std::to_string(ns.nsid) == name) return ns.enabled;
    }
  }
  const auto& all = seen.blocks.value();
  return std::any_of(all.begin(), all.end(), [&](const BlockDevice& device) {
    return !device.subsystem_nqn.empty() && device.subsystem_nqn + "/" + std::to_string(device.nsid) == name;
  });
}

bool sees_path(std::string_view path, const Inventory& seen) {
  const auto& units = seen.units.value();
  if (std::any_of(units.begin(), units.end(), [&](const UnitFile& unit) { return unit.path == path; })) return true;
  const auto& kinds = seen.mounts.value().path_kinds;
  if (const auto kind = kinds.find(std::string(path)); kind != kinds.end()) return kind->second != "absent";
  constexpr std::string_view kNvmet = "/sys/kernel/config/nvmet/";
  if (path == "/sys/kernel/config/nvmet" || path == kNvmet) return seen.exports.value().loaded;
  if (!path.starts_with(kNvmet)) return false;
  const std::string_view rest = path.substr(kNvmet.size());
  for (const TargetSubsystem& subsystem : seen.exports.value().subsystems) {
    if (rest == "subsystems/" + subsystem.nqn) return true;
  }
  for (const TargetPort& port : seen.exports.value().ports) {
    if (rest == "ports/" + port.id) return true;
    for (const std::string& nqn : port.subsystems) {
      if (rest == "ports/" + port.id + "/subsystems/" + nqn) return true;
    }
  }
  const auto& hosts = seen.exports.value().hosts;
  return std::any_of(hosts.begin(), hosts.end(), [&](const std::string& host) { return rest == "hosts/" + host; });
}

bool sees_identity(std::string_view uuid, const Inventory& seen) {
  const auto& identity = seen.records.value().identity;
  return identity && to_text(identity->host) == uuid;
}

struct FactKind {
  std::string_view prefix;
  FacetSet facets;
  bool (*sees)(std::string_view name, const Inventory& seen);
};

constexpr std::array kFactKinds{
    FactKind{"block:", kStorage,
             [](std::string_view name, const Inventory& seen) { return seen.find({std::string(name)}) != nullptr; }},
    FactKind{"array:", kStorage, sees_array},
    FactKind{"lv:", kStorage, sees_volume},
    FactKind{"fs:", kStorage, sees_filesystem},
    FactKind{"mount:", FacetName::mounts | FacetName::units | FacetName::blocks, sees_mount},
    FactKind{"controller:", kStorage, sees_controller},
    FactKind{"path:", FacetName::units | FacetName::mounts | FacetName::exports, sees_path},
    FactKind{"namespace:", kStorage | FacetName::exports, sees_namespace},
    FactKind{"identity:", FacetName::identity | FacetName::records, sees_identity},
    FactKind{"port:", bit(FacetName::exports), sees_port},
};

const FactKind* kind_of(std::string_view fact) {
  for (const FactKind& kind : kFactKinds) {
    if (fact.starts_with(kind.prefix)) return &kind;
  }
  return nullptr;
}

FacetSet changed_by_program(const Run& run) {
  std::string program;
  if (!run.argv.empty() && std::holds_alternative<std::string>(run.argv[0])) program = std::get<std::string>(run.argv[0]);
  program = program.substr(program.rfind('/') == std::string::npos ? 0 : program.rfind('/') + 1);
  if (program == "systemctl" || program == "mount" || program == "umount") {
    return FacetName::mounts | FacetName::units | FacetName::blocks;
  }
  if (program == "udevadm") return bit(FacetName::blocks);
  if (program == "modprobe") return FacetName::kernel | FacetName::exports | FacetName::rdma;
  for (const std::string_view name : {"mdadm", "mkfs", "lvm", "pv", "vg", "lv", "wipefs", "xfs"}) {
    if (program.starts_with(name)) return kStorage;
  }
  return kAllFacets;
}

struct ChangedBy {
  FacetSet operator()(const Run& step) const { return changed_by_program(step); }
  FacetSet operator()(const WriteAttribute& step) const {
    if (step.device) return bit(FacetName::blocks);
    if (step.path.starts_with("/sys/kernel/config/")) return bit(FacetName::exports);
    if (step.path.starts_with("/proc/sys/")) return bit(FacetName::sysctls);
    if (step.path.starts_with("/sys/module/")) return bit(FacetName::kernel);
    return kAllFacets;
  }
  FacetSet operator()(const PutFile& step) const { return changed_path(step.path); }
  FacetSet operator()(const MakeDir& step) const { return changed_path(step.path); }
  FacetSet operator()(const MakeMountPoint&) const { return bit(FacetName::mounts); }
  FacetSet operator()(const Link& step) const { return changed_path(step.path); }
  FacetSet operator()(const Remove& step) const { return changed_path(step.path); }
  FacetSet operator()(const SetOwner&) const { return bit(FacetName::mounts); }
  FacetSet operator()(const Connect&) const { return kStorage; }
  FacetSet operator()(const Disconnect&) const { return kStorage; }
  FacetSet operator()(const RequireContent&) const { return 0; }
  FacetSet operator()(const Await& step) const { return facets_of(step.fact); }

  static FacetSet changed_path(std::string_view path) {
    if (path.starts_with("/sys/kernel/config/")) return bit(FacetName::exports);
    return FacetName::units | FacetName::kernel | FacetName::sysctls | FacetName::mounts;
  }
};

}  // namespace

bool holds(const Fact& fact, const Inventory& seen) {
  const FactKind* kind = kind_of(fact);
  return kind != nullptr && kind->sees(std::string_view(fact).substr(kind->prefix.size()), seen);
}

FacetSet facets_of(const Fact& fact) {
  const FactKind* kind = kind_of(fact);
  return kind == nullptr ? kAllFacets : kind->facets;
}

FacetSet facets_changed_by(const Action& action) {
  FacetSet changed = bit(FacetName::records);
  for (const Fact& fact : action.gives) changed |= facets_of(fact);
  for (const Step& step : action.steps) changed |= std::visit(ChangedBy{}, step);
  return changed;
}

}  // namespace nvstripe

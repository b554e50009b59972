// Owns the vetoes on steps that touch controllers, arrays, groups, units, nvmet, files and settings: only ours, only known
// (law 9). Programs are known by name and verb; an unknown one counts as writing to every device it names.
#include "agent/model/guard_steps.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"
#include "agent/model/guard_ours.hpp"

namespace nvstripe::guard {
namespace {

struct Context {
  const Action& action;
  const Spec& spec;
  const Inventory& seen;
};

Veto veto(std::string id, std::string sentence) { return {"guard." + std::move(id), std::move(sentence)}; }

bool has_arg(const Run& run, std::initializer_list<std::string_view> names) {
  return std::any_of(run.argv.begin(), run.argv.end(), [&](const Arg& arg) {
    const std::string text = text_of(arg);
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return text == name; });
  });
}

bool is_activation(const Run& run) {
  return std::any_of(run.argv.begin(), run.argv.end(), [](const Arg& arg) {
    const std::string text = text_of(arg);
    return text.starts_with("-a") || text.starts_with("--activate") || text == "--refresh";
  });
}

// Tags of a group or volume of ours are LVM's own metadata; which group that may be, judge_group says.
bool is_tagging(const Run& run) {
  bool tags = false;
  for (std::size_t i = 1; i < run.argv.size(); ++i) {
    const std::string text = text_of(run.argv[i]);
    tags = tags || text == "--addtag" || text == "--deltag";
    if (text.starts_with("-") && text != "-y" && text != "--devices" && text != "--addtag" && text != "--deltag")
      return false;
  }
  return tags;
}

// ---- programs -----------------------------------------------------------------------------------------------------------

Veto judge_mdadm(const Run& run, const Context& in) {
  const bool stop = has_arg(run, {"--stop", "-S"}), assemble = has_arg(run, {"--assemble", "-A"});
  bool named = false;
  for (const Arg& arg : run.argv) {
    const std::string text = text_of(arg);
    if (text.starts_with("--uuid=") || text.starts_with("md:")) {
      named = true;
      if (!is_our_array(text.substr(text.find(text.starts_with("md:") ? ':' : '=') + 1), in.spec, in.seen)) {
        return veto("foreign_array", "array '" + printable(text) + "' is not one of this host's volumes");
      }
    }
    if (text == "--scan" || text == "-s" || text == "--force" || text == "-f") {
      return veto("foreign_array", "'mdadm " + text + "' may touch more than was judged");
    }
  }
  if ((stop || assemble || has_arg(run, {"--create", "-C"})) && !named) {
    return veto("foreign_array", "'mdadm' is not told which array by its UUID");
  }
  return {};
}

Veto judge_group(const Run& run, const Context& in) {
  bool named = false;
  for (std::size_t i = 1; i < run.argv.size(); ++i) {
    const std::string text = text_of(run.argv[i]);
    const std::string vg = text.substr(0, text.find('/'));
    if (!vg.starts_with("nvs_") && !vg.starts_with("nvx_")) continue;
    named = true;
    if (!is_our_group(vg, in.spec, in.seen)) return veto("foreign_group", "group '" + printable(vg) + "' is not ours");
  }
  if (!named) return veto("foreign_group", "'" + program_of(run) + "' is not told a group of ours");
  return {};
}

Veto judge_systemctl(const Run& run, const Context& in) {
  const bool ends = has_arg(run, {"stop", "restart", "try-restart", "kill"});
  for (std::size_t i = 2; i < run.argv.size(); ++i) {
    const std::string text = text_of(run.argv[i]);
    if (text.starts_with("-")) continue;
    if (!is_our_unit(text, in.spec, in.seen)) return veto("foreign_unit", "unit '" + printable(text) + "' is not ours");
    if (!ends || !text.ends_with(".mount")) continue;
    if (Veto found = judge_unmount(text, in.spec, in.seen); !found.id.empty()) return found;
  }
  return {};
}

Veto judge_umount(const Run& run, const Context& in) {
  for (std::size_t i = 1; i < run.argv.size(); ++i) {
    const std::string text = text_of(run.argv[i]);
    if (text.starts_with("/") && !is_our_mount_path(text, in.spec, in.seen)) {
      return veto("foreign_unit", "'" + printable(text) + "' is not a mount of ours");
    }
    if (program_of(run) != "umount" || !text.starts_with("/")) continue;
    if (Veto found = judge_unmount(mount_unit_name(text), in.spec, in.seen); !found.id.empty()) return found;
  }
  return {};
}

Veto judge_run(const Run& run, const Context& in) {
  const std::string program = program_of(run);
  if (program == "mdadm") return judge_mdadm(run, in);
  if (program == "systemctl") return judge_systemctl(run, in);
  if (program == "umount" || program == "mount") return judge_umount(run, in);
  for (const std::string_view name : {"vgcreate", "vgchange", "vgremove", "vgrename", "vgextend", "vgreduce", "lvcreate",
                                      "lvchange", "lvremove", "lvrename"}) {
    if (program == name) return judge_group(run, in);
  }
  return {};
}

// ---- controllers --------------------------------------------------------------------------------------------------------

Veto judge_connect(const Connect& step, const Context& in) {
  if (!in.seen.controllers.is_known())
    return veto("facet_unknown", "controllers cannot be seen: " + in.seen.controllers.reason());
  const std::string host = "nqn.2014-08.org.nvmexpress:uuid:" + to_text(in.seen.host());
  if (in.seen.host().is_none() || step.hostnqn != host || step.hostid != to_text(in.seen.host())) {
    return veto("foreign_host_identity", "it would connect as '" + printable(step.hostnqn) + "'");
  }
  for (const NvmeController& controller : in.seen.controllers.value()) {
    const bool same = controller.subsystem_nqn == step.nqn && controller.transport == step.transport &&
                      controller.traddr == step.traddr && controller.trsvcid == step.trsvcid;
    if (same && controller.state != "dead" && !controller.state.starts_with("deleting")) {
      return veto("connected_already", "a controller to '" + printable(step.nqn) + "' at '" + step.traddr + "' exists");
    }
  }
  return {};
}

Veto judge_disconnect(const Disconnect& step, const Context& in) {
  if (!in.seen.identity.is_known()) return veto("facet_unknown", "the boot id cannot be seen: " + in.seen.identity.reason());
  const std::string& boot = in.seen.identity.value().boot_id;
  for (const ConnectionRecord& record : in.seen.records.value().connections) {
    const bool same = record.nqn == step.nqn && record.transport == step.transport && record.traddr == step.traddr &&
                      record.trsvcid == step.trsvcid;
    if (same && !boot.empty() && record.boot_id == boot) return {};
  }
  return veto("foreign_connection", "the controller to '" + printable(step.nqn) + "' at '" + step.traddr +
                                        "' was not made by this agent during this boot");
}

// ---- paths --------------------------------------------------------------------------------------------------------------

constexpr std::string_view kNvmet = "/sys/kernel/config/nvmet/";

// subsystems/<nqn>/…, ports/<id>/…, hosts/<nqn>.
Veto judge_nvmet(std::string_view path, bool structural, const Context& in) {
  const auto parts = split(path.substr(kNvmet.size()), '/');
  if (parts.size() < 2) return veto("foreign_path", "'" + std::string(path) + "' is not a path of ours");
  if (parts[0] == "hosts") return {};
  if (parts[0] == "subsystems") {
    if (parts[1].starts_with(kOurSubsystems)) return {};
    return veto("foreign_export", "subsystem '" + printable(parts[1]) + "' is not ours");
  }
  const bool link = parts.size() >= 4 && parts[2] == "subsystems";
  if (link && !parts[3].starts_with(kOurSubsystems))
    return veto("foreign_export", "'" + printable(parts[3]) + "' is not ours");
  if (link || !structural) return {};
  for (const TargetPort& port : in.seen.exports.value().ports) {
    if (port.id != parts[1]) continue;
    for (const std::string& nqn : port.subsystems) {
      if (!nqn.starts_with(kOurSubsystems))
        return veto("foreign_export", "port '" + port.id + "' serves '" + printable(nqn) + "'");
    }
  }
  return {};
}

bool is_our_file(std::string_view path, const Context& in) {
  if (path.find("/..") != std::string_view::npos || !path.starts_with("/")) return false;
  bool allowed = false;
  for (const std::string_view folder : {"/etc/", "/run/", "/var/lib/nvstripe"})
    allowed = allowed || path.starts_with(folder);
  if (!allowed) return false;
  if (path.find("nvstripe") != std::string_view::npos) return true;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return is_our_unit(name, in.spec, in.seen) && path.find("/systemd/system/") != std::string_view::npos;
}

Veto judge_file(std::string_view path, const Context& in) {
  if (path.starts_with(kNvmet)) return judge_nvmet(path, true, in);
  if (is_our_file(path, in)) return {};
  return veto("foreign_path", "'" + printable(path) + "' is not a path of ours");
}

bool is_common_folder(std::string_view path) {
  static constexpr std::array kFolders{
      "/etc/systemd/system", "/run/systemd/system", "/etc/udev/rules.d", "/run/udev/rules.d",
      "/etc/modprobe.d",     "/etc/modules-load.d", "/run/systemd",      "/run/udev"};
  return std::any_of(kFolders.begin(), kFolders.end(), [&](const char* folder) { return path == folder; });
}

bool is_recorded(const DeviceKey& key, const Records& records) {
  if (volume_with(key, records) != nullptr) return true;
  const auto exported = [&](const ExportRecord& record) { return record.drive == key && !record.retired; };
  const auto tuned = [&](const TuningRecord& record) { return record.object == key.text; };
  return std::any_of(records.exports.begin(), records.exports.end(), exported) ||
         std::any_of(records.tunings.begin(), records.tunings.end(), tuned);
}

Veto judge_setting(const DeviceKey& key, std::string_view path, const Context& in) {
  if (!path.starts_with("queue/") && !path.starts_with("bdi/") && !path.starts_with("md/")) {
    return veto("foreign_path", "'" + printable(path) + "' of a device is not a setting");
  }
  const BlockDevice* device = in.seen.find(key);
  if (device == nullptr) return veto("unseen_device", "'" + printable(key.text) + "' is not seen");
  const bool drive = device->kind == DeviceKind::local_ssd || device->kind == DeviceKind::remote_namespace;
  if (device->kind == DeviceKind::array && is_our_stack(key, in.spec, in.seen)) return {};
  if (drive && !device->ambiguous_key && is_recorded(key, in.seen.records.value())) return {};
  if (drive && unusable(*device, in.seen).empty()) return {};
  return veto("foreign_setting", "'" + printable(key.text) + "' is not this agent's");
}

// nvmet takes a mounted disk as a namespace without a word, so the device behind one is judged like one that is written to.
Veto judge_backing(const WriteAttribute& step, const Context& in) {
  if (!step.path.ends_with("/device_path")) return {};
  if (!step.value_device) return veto("undeclared_write", "'" + step.path + "' is not told its device by identity");
  const DeviceKey& key = *step.value_device;
  const auto& ledger = in.seen.records.value().exports;
  const std::string_view nqn = split(std::string_view(step.path).substr(kNvmet.size()), '/')[1];
  if (const VolumeRecord* volume = volume_with(key, in.seen.records.value()))
    return veto("member", "'" + printable(key.text) + "' is a member of volume '" + printable(volume->name) + "'");
  // Served to this very host, and to nobody else since: only then its content is that host's own.
  const auto served = [&](const ExportRecord& record) {
    return record.drive == key && record.served && record.generation != 0 && record.subsystem_nqn == nqn;
  };
  const auto intended = [&](const ExportRecord& record) { return record.drive == key; };
  const bool known = std::any_of(ledger.begin(), ledger.end(), served);
  // Between the intent and the outcome a half-made namespace of ours may hold the drive; it is removed and made again.
  const bool begun = std::any_of(ledger.begin(), ledger.end(), intended);
  if (key.text.starts_with("lv:nvx_") && is_our_stack(key, in.spec, in.seen)) return {};
  const BlockDevice* device = in.seen.find(key);
  if (device == nullptr) return veto("unseen_device", "'" + printable(key.text) + "' is not seen");
  for (const Veto& found : unusable(*device, in.seen, known)) {
    if (found.id == "guard.ledger" || (begun && found.id == "guard.exported")) continue;
    return {found.id, "'" + printable(key.text) + "': " + found.sentence};
  }
  const bool looked = std::any_of(in.action.steps.begin(), in.action.steps.end(), [&](const Step& other) {
    const auto* look = std::get_if<RequireContent>(&other);
    return look != nullptr && look->device == key && look->expected.empty() && !look->any_content;
  });
  if (!known && !looked)
    return veto("no_last_look", "nothing looks at '" + printable(key.text) + "' before it is exported first");
  return {};
}

Veto judge_attribute(const WriteAttribute& step, const Context& in) {
  const std::string_view path = step.path;
  if (path.find("/../") != std::string_view::npos || path.starts_with("..")) {
    return veto("foreign_path", "'" + printable(path) + "' leaves its folder");
  }
  if (step.device) return judge_setting(*step.device, path, in);
  if (path.starts_with(kNvmet)) {
    Veto found = judge_nvmet(path, true, in);
    return found.id.empty() ? judge_backing(step, in) : found;
  }
  for (const std::string_view folder : {"/proc/sys/vm/", "/proc/sys/net/", "/sys/module/", "/sys/class/bdi/"}) {
    if (path.starts_with(folder)) return {};
  }
  return veto("foreign_path", "'" + printable(path) + "' is not a setting of ours");
}

struct Judge {
  const Context& in;
  Veto operator()(const Run& step) const { return judge_run(step, in); }
  Veto operator()(const WriteAttribute& step) const { return judge_attribute(step, in); }
  Veto operator()(const PutFile& step) const { return judge_file(step.path, in); }
  Veto operator()(const MakeDir& step) const { return is_common_folder(step.path) ? Veto{} : judge_file(step.path, in); }
  Veto operator()(const MakeMountPoint& step) const { return mount_path(step.path); }
  Veto operator()(const Link& step) const { return judge_file(step.path, in); }
  Veto operator()(const Remove& step) const { return judge_file(step.path, in); }
  Veto operator()(const SetOwner& step) const { return mount_path(step.path); }
  Veto operator()(const Connect& step) const { return judge_connect(step, in); }
  Veto operator()(const Disconnect& step) const { return judge_disconnect(step, in); }
  Veto operator()(const RequireContent&) const { return {}; }
  Veto operator()(const Await&) const { return {}; }

  Veto mount_path(const std::string& path) const {
    if (is_our_mount_path(path, in.spec, in.seen)) return {};
    return veto("foreign_path", "'" + printable(path) + "' is not the mount point of a volume");
  }
};

// ---- risk ---------------------------------------------------------------------------------------------------------------

bool in_use(const BlockDevice& device) { return !device.mount_points.empty() || !device.holders.empty(); }

bool controller_in_use(const Disconnect& step, const Inventory& seen) {
  if (!seen.blocks.is_known() || !seen.controllers.is_known()) return true;
  for (const NvmeController& controller : seen.controllers.value()) {
    if (controller.subsystem_nqn != step.nqn || controller.traddr != step.traddr || controller.trsvcid != step.trsvcid)
      continue;
    for (const BlockDevice& device : seen.blocks.value()) {
      const auto& names = device.controllers;
      if (std::find(names.begin(), names.end(), controller.kernel_name) != names.end() && in_use(device)) return true;
    }
  }
  return false;
}

bool stack_mounted(const Context& in) {
  return std::any_of(in.seen.blocks.value().begin(), in.seen.blocks.value().end(), [&](const BlockDevice& device) {
    return device.kind == DeviceKind::array && is_our_stack(device.key, in.spec, in.seen) && !device.mount_points.empty() &&
           std::any_of(in.action.steps.begin(), in.action.steps.end(), [&](const Step& step) {
             const auto* run = std::get_if<Run>(&step);
             return run != nullptr && std::any_of(run->argv.begin(), run->argv.end(),
                                                  [&](const Arg& arg) { return text_of(arg) == device.key.text; });
           });
  });
}

Risk risk_of(const Run& run, const Context& in) {
  const std::string program = program_of(run);
  if (program == "umount") return Risk::disruptive;
  if (program == "systemctl" && has_arg(run, {"stop", "restart", "disable"})) {
    for (std::size_t i = 2; i < run.argv.size(); ++i) {
      for (const Mount& mount : in.seen.mounts.value().mounts) {
        if (text_of(run.argv[i]) == mount_unit_name(mount.path)) return Risk::disruptive;
      }
    }
  }
  if (program == "mdadm" && has_arg(run, {"--stop", "-S"}) && stack_mounted(in)) return Risk::disruptive;
  for (const std::string_view name : {"vgremove", "lvremove", "pvremove", "blkdiscard"}) {
    if (program == name && in.action.before.empty()) return Risk::writes_blank;  // judge_risk raises it by content
  }
  return Risk::reversible;
}

// Taking a subsystem that is linked to a port, or a host of it, away from its consumer.
Risk risk_of(const Remove& step, const Context& in) {
  if (!std::string_view(step.path).starts_with(kNvmet)) return Risk::reversible;
  const auto parts = split(std::string_view(step.path).substr(kNvmet.size()), '/');
  const bool link = parts.size() == 4 && parts[0] == "ports" && parts[2] == "subsystems";
  const bool host = parts.size() == 4 && parts[0] == "subsystems" && parts[2] == "allowed_hosts";
  if (!link && !host) return Risk::reversible;
  const std::string_view nqn = link ? parts[3] : parts[1];
  for (const TargetSubsystem& subsystem : in.seen.exports.value().subsystems) {
    if (subsystem.nqn != nqn || subsystem.allowed_hosts.empty()) continue;
    for (const TargetPort& port : in.seen.exports.value().ports) {
      const bool linked = std::find(port.subsystems.begin(), port.subsystems.end(), nqn) != port.subsystems.end();
      if (linked && std::any_of(subsystem.namespaces.begin(), subsystem.namespaces.end(),
                                [](const TargetNamespace& ns) { return ns.enabled; })) {
        return Risk::disruptive;
      }
    }
  }
  return Risk::reversible;
}

}  // namespace

bool writes_devices(const Run& run) {
  const std::string program = program_of(run);
  for (const std::string_view name :
       {"udevadm", "systemctl", "modprobe", "blkid", "pvs", "vgs", "lvs", "mount", "umount", "findmnt", "lsblk", "chattr"}) {
    if (program == name) return false;
  }
  if (program == "mdadm") {
    return !has_arg(run, {"--assemble", "-A", "--stop", "-S", "--detail", "-D", "--examine", "-E", "--wait", "-W"});
  }
  if (program == "vgchange" || program == "lvchange") return !is_activation(run) && !is_tagging(run);
  return true;
}

Veto judge_steps(const Action& action, const Spec& spec, const Inventory& seen) {
  const Context in{action, spec, seen};
  for (const Step& step : action.steps) {
    if (Veto found = std::visit(Judge{in}, step); !found.id.empty()) return found;
  }
  return {};
}

Risk least_risk(const Action& action, const Spec& spec, const Inventory& seen) {
  const Context in{action, spec, seen};
  Risk least = Risk::reversible;
  for (const Step& step : action.steps) {
    if (const auto* run = std::get_if<Run>(&step)) least = std::max(least, risk_of(*run, in));
    if (const auto* gone = std::get_if<Remove>(&step)) least = std::max(least, risk_of(*gone, in));
    if (const auto* end = std::get_if<Disconnect>(&step); end != nullptr && controller_in_use(*end, seen)) {
      least = std::max(least, Risk::disruptive);
    }
  }
  return least;
}

}  // namespace nvstripe::guard

// Owns the stand-in for configfs: it refuses what the kernel refuses (EBUSY, EACCES, ENOTEMPTY) by ending the program.
#include "tests/configurators/served.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "agent/base/text.hpp"
#include "configurators/export_names.hpp"
#include "configurators/exports.hpp"
#include "tests/support/seen.hpp"

namespace nvstripe::served {
namespace {

[[noreturn]] void stop(const std::string& why) {
  std::fprintf(stderr, "tests/configurators/served: %s\n", why.c_str());
  std::abort();
}

std::vector<std::string> parts_of(std::string_view path) {
  const std::string root = std::string(configure::kNvmet) + "/";
  if (!path.starts_with(root)) return {};
  std::vector<std::string> parts;
  for (const std::string_view part : split(path.substr(root.size()), '/')) parts.emplace_back(part);
  return parts;
}

template <class T, class Name>
T& find_or_add(std::vector<T>& all, Name T::*name, const Name& wanted) {
  for (T& one : all) {
    if (one.*name == wanted) return one;
  }
  T made{};
  made.*name = wanted;
  all.push_back(made);
  return all.back();
}

std::string after(const std::vector<std::string>& words, std::string_view name) {
  const auto found = std::find(words.begin(), words.end(), name);
  return found == words.end() ? std::string() : *(found + 1);
}

std::vector<std::string> tags(const std::vector<std::string>& words) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at + 1 < words.size(); ++at) {
    if (words[at] == "--addtag") found.push_back(words[at + 1]);
  }
  return found;
}

struct Volumes {
  Inventory& seen;
  Lvm& lvm() const { return seen.lvm.value(); }
  void pvcreate(const std::vector<std::string>& words) const {
    BlockDevice& device = seen::device(seen, {words.back()});
    seen::put_signature(device, {"LVM2_member", after(words, "--uuid"), "", false});
    lvm().physicals.push_back({device.key, after(words, "--uuid"), "", false});
  }
  void vgcreate(const std::vector<std::string>& words) const {
    const std::string name = words[words.size() - 2];
    const std::uint64_t size = seen::device(seen, {words.back()}).size.count;
    lvm().groups.push_back({name, "", tags(words), 0, 1, Bytes{size}, Bytes{size}, Bytes{4u << 20}});
    for (LvmPhysical& physical : lvm().physicals) {
      if (physical.device.text == words.back()) physical.vg = name;
    }
  }
  void lvcreate(const std::vector<std::string>& words) const {
    const std::uint64_t size = std::stoull(after(words, "-l")) * (4u << 20);
    LvmGroup& group = find_or_add(lvm().groups, &LvmGroup::name, words.back());
    if (group.free.count < size) stop("no space in " + group.name);
    group.free.count -= size;
    lvm().volumes.push_back({words.back(),
                             after(words, "-n"),
                             "uuid-of-" + words.back() + after(words, "-n"),
                             tags(words),
                             Bytes{size},
                             {},
                             1,
                             false});
  }
  void lvchange(const std::vector<std::string>& words) const {
    for (LvmVolume& volume : lvm().volumes) {
      const std::string name = volume.vg + "/" + volume.name;
      if (std::find(words.begin(), words.end(), name) == words.end()) continue;
      for (const std::string& tag : tags(words)) volume.tags.push_back(tag);
      if (std::find(words.begin(), words.end(), "-ay") == words.end() || volume.active) continue;
      volume.active = true;
      BlockDevice made;
      made.key = {"lv:" + name};
      made.kernel_name = "dm-" + std::to_string(seen::blocks(seen).size());
      made.kind = DeviceKind::array;
      made.size = volume.size;
      made.look = Look::none;
      made.content = Content::zero;
      made.slaves = {{after(words, "--devices")}};
      seen::device(seen, made.slaves.front()).holders.push_back(made.key);
      seen::blocks(seen).push_back(made);
    }
  }
};

struct Configfs {
  Inventory& seen;
  TargetConfiguration& all() const { return seen.exports.value(); }
  TargetSubsystem& subsystem(const std::string& nqn) const {
    return find_or_add(all().subsystems, &TargetSubsystem::nqn, nqn);
  }
  TargetNamespace& served(const std::vector<std::string>& parts) const {
    const auto nsid = static_cast<std::uint32_t>(std::stoul(parts[3]));
    return find_or_add(subsystem(parts[1]).namespaces, &TargetNamespace::nsid, nsid);
  }

  void operator()(const Run& step) const {
    std::vector<std::string> words;
    for (const Arg& arg : step.argv) {
      const auto* reference = std::get_if<DeviceRef>(&arg);
      words.push_back(reference != nullptr ? reference->key.text : std::get<std::string>(arg));
    }
    if (words.front() == "modprobe") all().loaded = true;
    if (words.front() == "pvcreate") Volumes{seen}.pvcreate(words);
    if (words.front() == "vgcreate") Volumes{seen}.vgcreate(words);
    if (words.front() == "lvcreate") Volumes{seen}.lvcreate(words);
    if (words.front() == "lvchange") Volumes{seen}.lvchange(words);
  }
  void operator()(const MakeDir& step) const {
    const auto parts = parts_of(step.path);
    if (parts.empty()) return;
    if (parts[0] == "hosts") all().hosts.push_back(parts[1]);
    if (parts[0] == "subsystems" && parts.size() == 2) (void)subsystem(parts[1]);
    if (parts[0] == "subsystems" && parts.size() == 4) (void)served(parts);
    if (parts[0] == "ports") (void)find_or_add(all().ports, &TargetPort::id, parts[1]);
  }
  void operator()(const WriteAttribute& step) const {
    const auto parts = parts_of(step.path);
    if (parts.size() < 3) stop("write to " + step.path);
    if (parts[0] == "ports") return write_port(find_or_add(all().ports, &TargetPort::id, parts[1]), parts[2], step.value);
    TargetSubsystem& one = subsystem(parts[1]);
    if (parts[2] == "attr_allow_any_host") one.allow_any_host = step.value == "1";
    if (parts[2] == "attr_serial") one.serial = step.value;
    if (parts[2] == "attr_model") one.model = step.value;
    if (parts[2] != "namespaces") return;
    TargetNamespace& ns = served(parts);
    if (ns.enabled) stop("EBUSY: " + step.path);
    if (parts[4] == "device_path") ns.device_path = "/dev/" + seen::device(seen, *step.value_device).kernel_name;
    if (parts[4] == "device_uuid") ns.uuid = step.value;
    if (parts[4] == "device_nguid") ns.nguid = step.value;
    if (parts[4] == "enable") ns.enabled = step.value == "1";
  }
  static void write_port(TargetPort& port, const std::string& attribute, const std::string& value) {
    if (!port.subsystems.empty()) stop("EACCES: port " + port.id);
    if (attribute == "addr_trtype") port.trtype = value;
    if (attribute == "addr_adrfam") port.adrfam = value;
    if (attribute == "addr_traddr") port.traddr = value;
    if (attribute == "addr_trsvcid") port.trsvcid = value;
  }
  void operator()(const Link& step) const {
    const auto parts = parts_of(step.path);
    if (parts.size() == 4 && parts[0] == "ports") {
      const TargetSubsystem& one = subsystem(parts[3]);
      for (const TargetNamespace& ns : one.namespaces) {
        if (!ns.enabled) stop("linked before namespace " + std::to_string(ns.nsid) + " was enabled");
      }
      find_or_add(all().ports, &TargetPort::id, parts[1]).subsystems.push_back(parts[3]);
    } else if (parts.size() == 4 && parts[2] == "allowed_hosts") {
      subsystem(parts[1]).allowed_hosts.push_back(parts[3]);
    } else {
      stop("link " + step.path);
    }
  }
  void operator()(const Remove& step) const {
    const auto parts = parts_of(step.path);
    if (parts.empty()) return put(step.path, "");
    if (parts[0] == "hosts") std::erase(all().hosts, parts[1]);
    if (parts[0] == "ports" && parts.size() == 4)
      std::erase(find_or_add(all().ports, &TargetPort::id, parts[1]).subsystems, parts[3]);
    if (parts[0] == "ports" && parts.size() == 2) remove_port(parts[1]);
    if (parts[0] == "subsystems" && parts.size() == 2) remove_subsystem(parts[1]);
    if (parts[0] != "subsystems" || parts.size() != 4) return;
    if (parts[2] == "allowed_hosts") std::erase(subsystem(parts[1]).allowed_hosts, parts[3]);
    if (parts[2] == "namespaces")
      std::erase_if(subsystem(parts[1]).namespaces,
                    [&](const TargetNamespace& ns) { return std::to_string(ns.nsid) == parts[3]; });
  }
  void remove_port(const std::string& id) const {
    if (!find_or_add(all().ports, &TargetPort::id, id).subsystems.empty()) stop("ENOTEMPTY: port " + id);
    std::erase_if(all().ports, [&](const TargetPort& port) { return port.id == id; });
  }
  void remove_subsystem(const std::string& nqn) const {
    for (const TargetPort& port : all().ports) {
      if (std::find(port.subsystems.begin(), port.subsystems.end(), nqn) != port.subsystems.end()) stop("EBUSY: " + nqn);
    }
    if (!subsystem(nqn).namespaces.empty() || !subsystem(nqn).allowed_hosts.empty()) stop("ENOTEMPTY: " + nqn);
    std::erase_if(all().subsystems, [&](const TargetSubsystem& one) { return one.nqn == nqn; });
  }
  void put(const std::string& path, const std::string& text) const {
    std::erase_if(seen.units.value(), [&](const UnitFile& file) { return file.path == path; });
    if (!text.empty()) seen.units.value().push_back({path.substr(path.rfind('/') + 1), path, text});
  }
  void operator()(const PutFile& step) const { put(step.path, step.text); }
  void operator()(const RequireContent& step) const {
    const BlockDevice& device = seen::device(seen, step.device);
    if (device.signatures != step.expected || !device.holders.empty()) stop("last look: " + step.device.text);
    for (const TargetSubsystem& one : all().subsystems) {
      for (const TargetNamespace& ns : one.namespaces) {
        if (ns.device_path == "/dev/" + device.kernel_name) stop("last look: exported " + step.device.text);
      }
    }
  }
  void operator()(const Await&) const {}
  template <class T>
  void operator()(const T&) const {
    stop("a step that exports do not take");
  }
};

}  // namespace

std::string consumer() { return seen::hostnqn(seen::other_host_id()); }
std::string consumer_nqn() { return configure::subsystem_nqn(seen::host_id(), "pool", consumer()); }

Spec pool_spec() {
  Spec spec;
  spec.exports = {seen::pool("pool", {consumer()})};
  return spec;
}

Inventory storage(unsigned drives) {
  Inventory seen = seen::machine();
  seen.exports.value().loaded = true;
  for (unsigned number = 1; number <= drives; ++number) seen::blocks(seen).push_back(seen::local_ssd(number));
  return seen;
}

Inventory reboot(const Inventory& seen) {
  Inventory after = seen;
  after.exports.value() = {};
  after.identity.value().boot_id = "b0b0b0b0-0000-4000-8000-000000000002";
  for (LvmVolume& volume : after.lvm.value().volumes) volume.active = false;
  std::erase_if(after.blocks.value(), [](const BlockDevice& device) { return device.key.text.starts_with("lv:"); });
  for (BlockDevice& device : after.blocks.value()) device.holders.clear();
  return after;
}

void carry_out(Inventory& seen, const Action& action) {
  for (const Record& record : action.before) seen::records(seen).put(record);
  for (const Step& step : action.steps) std::visit(Configfs{seen}, step);
  for (const Record& record : action.after) seen::records(seen).put(record);
}

std::vector<Action> planned(const Spec& spec, const Inventory& seen) {
  std::vector<Action> all;
  for (const auto plan : {configure::export_udev, configure::export_slices, configure::exports, configure::export_ports,
                          configure::export_withdrawal}) {
    const Draft draft = plan(spec, seen);
    all.insert(all.end(), draft.actions.begin(), draft.actions.end());
  }
  return all;
}

void settle(const Spec& spec, Inventory& seen) {
  for (int round = 0; round < 50; ++round) {
    const auto actions = planned(spec, seen);
    const auto next = std::find_if(actions.begin(), actions.end(), [](const Action& action) {
      return action.risk == Risk::reversible || action.risk == Risk::writes_blank;
    });
    if (next == actions.end()) return;
    carry_out(seen, *next);
  }
  stop("does not settle");
}

std::size_t position(const Action& action, std::string_view path) {
  for (std::size_t at = 0; at < action.steps.size(); ++at) {
    const auto* made = std::get_if<WriteAttribute>(&action.steps[at]);
    const auto* link = std::get_if<Link>(&action.steps[at]);
    if ((made != nullptr && made->path == path) || (link != nullptr && link->path == path)) return at;
  }
  stop("nothing is made at " + std::string(path));
}

std::vector<std::string> written(const Action& action, std::string_view attribute) {
  std::vector<std::string> values;
  for (const Step& step : action.steps) {
    const auto* made = std::get_if<WriteAttribute>(&step);
    if (made != nullptr && made->path.ends_with("/" + std::string(attribute))) values.push_back(made->value);
  }
  return values;
}

}  // namespace nvstripe::served

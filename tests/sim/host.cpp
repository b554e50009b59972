// Owns the steps of the simulated machine, but for programs and nvmet.
#include "tests/sim/host.hpp"

#include <algorithm>

#include "agent/engine/planner.hpp"
#include "agent/model/guard_ours.hpp"
#include "tests/sim/programs.hpp"
#include "tests/support/seen.hpp"

namespace nvstripe::sim {

// ---- journal
// --------------------------------------------------------------------------------------------------------------

Result<Records> MemoryJournal::records() {
  Records out = kept;
  out.fresh_generation = 0x5a5a000000000000ull + ++drawn_;
  return out;
}

Result<> MemoryJournal::write(const std::vector<Record>& written, const std::vector<EventDraft>& happened) {
  if (full) return fail("cannot write the journal: no space left on device", "make room");
  clock_.operate(
      [&] {
        for (const Record& record : written) kept.put(record);
        events.insert(events.end(), happened.begin(), happened.end());
      },
      [] {}, false);  // a transaction is whole or not at all
  return {};
}

int MemoryJournal::count_events(const std::string& type) const {
  return static_cast<int>(
      std::count_if(events.begin(), events.end(), [&](const EventDraft& event) { return event.type == type; }));
}

// ---- machine
// --------------------------------------------------------------------------------------------------------------

Host::Host(Clock& clock) : base(seen::machine()), clock_(clock) {
  base.records = Facet<Records>::unavailable("the journal says it");
  base.mounts.value().path_kinds.clear();
  Drive root{base.blocks.value().front(), blank_media()};
  root.media->signatures = root.device.signatures;
  root.media->data = root.media->precious = true;
  root.device.signatures.clear();
  drives.push_back(std::move(root));
  foreign_mounts = base.mounts.value().mounts;
  base.mounts.value().mounts.clear();
  nvmet.loaded = true;
}

Drive* Host::drive(const DeviceKey& key) {
  const auto found = std::find_if(drives.begin(), drives.end(), [&](const Drive& one) { return one.device.key == key; });
  return found == drives.end() ? nullptr : &*found;
}

MediaPtr Host::media_of(const DeviceKey& key) const {
  for (const Drive& drive : drives) {
    if (drive.device.key == key) return drive.media;
  }
  for (const Target& target : targets) {
    const bool connected =
        std::any_of(controllers.begin(), controllers.end(), [&](const Controller& c) { return c.nqn == target.nqn; });
    for (const TargetNamespaceOf& ns : target.namespaces) {
      if (connected && key.text == "nvme:uuid." + ns.uuid + "/" + std::to_string(ns.nsid)) return ns.media;
    }
  }
  for (const Array& array : arrays) {
    if (key.text == "md:" + array.uuid) return array.media;
  }
  for (const Group& group : groups) {
    for (const Group::Volume& volume : group.volumes) {
      if (key.text == "lv:" + group.name + "/" + volume.name && active.contains(group.name + "/" + volume.name))
        return volume.media;
    }
  }
  return nullptr;
}

void Host::reboot() {
  ++boots;
  base.identity.value().boot_id = "b0b0b0b0-0000-4000-8000-" + std::to_string(100000000000 + boots);
  controllers.clear();
  arrays.clear();
  active.clear();
  mounted.clear();
  owners.clear();
  settings.clear();
  TargetConfiguration again;  // somebody else's exports are made again by somebody else
  again.loaded = true;
  for (const TargetSubsystem& one : nvmet.subsystems) {
    if (!one.nqn.starts_with(guard::kOurSubsystems)) again.subsystems.push_back(one);
  }
  nvmet = std::move(again);
  loaded_units = files;
  for (auto& [path, kind] : path_kinds) {
    if (kind == "mount_point_of_ours" || kind == "empty") kind = "mount_point_of_ours";
  }
}

void Host::set_target(const std::string& connection, bool up) {
  for (Target& target : targets) {
    if (target.connection == connection) target.up = up;
  }
}

void Host::use_volume(const std::string& path) {
  const auto found = mounted.find(path);
  if (found == mounted.end()) throw Broken("nothing is mounted at " + path);
  std::vector<DeviceKey> keys{found->second};
  for (const Array& array : arrays) {
    if ("md:" + array.uuid == found->second.text) keys.insert(keys.end(), array.members.begin(), array.members.end());
  }
  for (const Group& group : groups) {
    if (found->second.text.starts_with("lv:" + group.name + "/"))
      keys.insert(keys.end(), group.members.begin(), group.members.end());
  }
  for (const DeviceKey& key : keys) {
    if (const MediaPtr media = media_of(key)) media->precious = true;
  }
}

void Host::begin_action(const Action& action) {
  action_id_ = action.id;
  checked_.clear();
  tape.push_back("# " + action.id);
}

void Host::end_action() {
  action_id_.clear();
  checked_.clear();
}

// ---- steps
// ----------------------------------------------------------------------------------------------------------------

struct Performer {
  Host& host;

  Result<> operator()(const Run& step) const { return Programs(host).run(step); }
  Result<> operator()(const WriteAttribute& step) const {
    std::string value = step.value;
    if (step.value_device) {
      const std::vector<BlockDevice> all = host.blocks();
      const auto at =
          std::find_if(all.begin(), all.end(), [&](const BlockDevice& one) { return one.key == *step.value_device; });
      if (at == all.end()) return fail("'" + step.value_device->text + "' is not there");
      const bool lv = at->key.text.starts_with("lv:");
      value = lv ? "/dev/" + at->key.text.substr(3) : "/dev/" + at->kernel_name;
      const MediaPtr media = host.media_of(at->key);
      const bool known = at->key.text.starts_with("lv:nvx_") || host.checked_.contains(at->key);
      if (at->kind == DeviceKind::system || at->swap || !at->mount_points.empty() ||
          (media->precious && !known && !is_exported_before(at->key)))
        throw Broken("nvmet is given " + at->key.text);
      host.exported_once.insert(at->key);
    }
    if (step.path.starts_with("/sys/kernel/config/nvmet/")) return nvmet_write(host.nvmet, step.path, value);
    if (step.device) {
      const MediaPtr media = host.media_of(*step.device);
      if (!media) return fail("'" + step.device->text + "' is not there");
      Drive* drive = host.drive(*step.device);
      if (drive != nullptr && drive->device.kind != DeviceKind::local_ssd) throw Broken("a setting of " + step.device->text);
      if (!host.deaf) host.settings[step.device->text + " " + step.path] = value;
      return {};
    }
    host.settings[step.path] = value;
    // Bytes and ratio exclude each other: writing one makes the other read 0 (mm/page-writeback.c).
    for (const std::string stem : {"/proc/sys/vm/dirty", "/proc/sys/vm/dirty_background"}) {
      if (step.path == stem + "_bytes") host.settings[stem + "_ratio"] = "0";
      if (step.path == stem + "_ratio") host.settings[stem + "_bytes"] = "0";
    }
    return {};
  }
  bool is_exported_before(const DeviceKey& key) const { return host.exported_once.contains(key); }
  Result<> operator()(const PutFile& step) const {
    host.files[step.path] = step.text;
    return {};
  }
  Result<> operator()(const MakeDir& step) const {
    return step.path.starts_with("/sys/kernel/config/nvmet/") ? nvmet_make(host.nvmet, step.path) : Result<>{};
  }
  Result<> operator()(const MakeMountPoint& step) const {
    std::string& kind = host.path_kinds[step.path];
    if (kind == "full" || kind == "not_a_folder") return fail("'" + step.path + "' is not an empty folder");
    kind = "mount_point_of_ours";
    return {};
  }
  Result<> operator()(const Link& step) const {
    if (!step.path.starts_with("/sys/kernel/config/nvmet/")) {
      host.files[step.path] = "-> " + step.target;
      return {};
    }
    return nvmet_link(host.nvmet, step.target, step.path);
  }
  Result<> operator()(const Remove& step) const {
    if (step.path.starts_with("/sys/kernel/config/nvmet/")) return nvmet_remove(host.nvmet, step.path);
    host.files.erase(step.path);
    return {};
  }
  Result<> operator()(const SetOwner& step) const {
    if (!host.mounted.contains(step.path)) return fail("nothing is mounted at '" + step.path + "'");
    host.owners[step.path] = step;
    return {};
  }
  Result<> operator()(const Connect& step) const {
    for (const Controller& other : host.controllers) {
      if (other.nqn == step.nqn && other.traddr == step.traddr && other.transport == step.transport)
        return fail_errno("connect", EALREADY);
    }
    for (const Target& target : host.targets) {
      if (target.nqn != step.nqn) continue;
      if (!target.up) return fail_errno("connect", ECONNRESET, "start the target");
      const std::string name = "nvme" + std::to_string(100 * host.boots + static_cast<int>(host.controllers.size()));
      host.controllers.push_back({name, step.nqn, step.transport, step.traddr, step.trsvcid, step.host_traddr, true});
      return {};
    }
    return fail_errno("connect", EIO);
  }
  Result<> operator()(const Disconnect& step) const {
    for (auto at = host.controllers.begin(); at != host.controllers.end(); ++at) {
      if (at->nqn != step.nqn || at->transport != step.transport || at->traddr != step.traddr) continue;
      if (!at->ours) throw Broken("disconnects a controller that is not ours: " + at->nqn);
      host.controllers.erase(at);
      return {};
    }
    return {};
  }
  Result<> operator()(const RequireContent& step) const {
    const std::vector<BlockDevice> all = host.blocks();
    const auto at = std::find_if(all.begin(), all.end(), [&](const BlockDevice& one) { return one.key == step.device; });
    if (at == all.end()) return fail("'" + step.device.text + "' is not there");
    if (step.diskseq != 0 && step.diskseq != at->diskseq) return fail("'" + step.device.text + "' is another disk now");
    if (host.is_busy(step.device)) return fail("'" + step.device.text + "' is busy");
    auto found = at->signatures, expected = step.expected;
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    const bool blank = found.empty() && at->content == Content::zero && at->look == Look::none;
    const bool fits = found == expected && at->look != Look::unknown && at->look != Look::ambiguous &&
                      (blank || !expected.empty() || step.any_content);
    if (!fits) return fail("'" + step.device.text + "' carries something else than planned");
    host.checked_.insert(step.device);
    return {};
  }
  Result<> operator()(const Await& step) const {
    Inventory seen = host.look(host.spec_, facets_of(step.fact));
    if (!holds(step.fact, seen)) return fail("'" + step.fact + "' did not come");
    return {};
  }
};

Result<> Host::perform(const Step& step) {
  Result<> result;
  tape.push_back(to_sentence(step));
  const auto whole = [&] { result = std::visit(Performer{*this}, step); };
  const auto torn = [&] {
    if (const auto* run = std::get_if<Run>(&step)) Programs(*this).run_torn(*run);
  };
  clock_.operate(whole, torn, std::holds_alternative<Run>(step));
  return result;
}

}  // namespace nvstripe::sim

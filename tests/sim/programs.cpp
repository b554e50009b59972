// Owns mdadm, mkfs.xfs, wipefs and systemctl of the simulated machine, and the taking apart of argument vectors.
#include "tests/sim/programs.hpp"

#include <algorithm>

#include "agent/base/text.hpp"
#include "agent/base/uuid.hpp"
#include "agent/model/guard_ours.hpp"
#include "tests/sim/words.hpp"

namespace nvstripe::sim {

Group* Programs::group(const std::string& name) {
  const auto found =
      std::find_if(host_.groups.begin(), host_.groups.end(), [&](const Group& one) { return one.name == name; });
  return found == host_.groups.end() ? nullptr : &*found;
}

// Every write of a program comes by here.
MediaPtr Programs::to_write(const DeviceKey& key, const std::string& program) {
  const MediaPtr media = host_.media_of(key);
  if (!media) return nullptr;
  if (media->precious)
    throw Broken(program + " writes to " + key.text + ", which is not ours to write (" + host_.action_id_ + ")");
  if (!host_.checked_.contains(key)) throw Broken(program + " writes to " + key.text + " without a last look");
  return media;
}

Result<> Programs::run(const Run& run) {
  Words words(run);
  const std::string program = words.program();
  const auto done = [&]() -> Result<> {
    if (program == "mdadm") return mdadm(words);
    if (program == "mkfs.xfs") return mkfs(words);
    if (program == "wipefs") return wipefs(words);
    if (program == "pvcreate") return pvcreate(words);
    if (program == "vgcreate") return vgcreate(words);
    if (program == "vgremove") return vgremove(words);
    if (program == "lvcreate") return lvcreate(words);
    if (program == "vgchange") return activate(words, true);
    if (program == "lvchange") return activate(words, false);
    if (program == "systemctl") return systemctl(words);
    if (program == "modprobe") {
      words.text();
      return {};
    }
    if (program == "udevadm") {
      words.rest();
      return {};
    }
    throw Broken("a program that the simulation does not know: " + words.all());
  }();
  if (done) words.end();
  const auto& ok = run.ok_exits;
  if (!done && std::find(ok.begin(), ok.end(), 5) != ok.end() && done.error().what == "not loaded") return {};
  return done;
}

void Programs::run_torn(const Run& run) {
  extent_ = Extent::torn;
  (void)this->run(run);
}

Result<> Programs::mdadm(Words& words) {
  if (words.take("--create")) return mdadm_create(words);
  if (words.take("--assemble")) return mdadm_assemble(words);
  if (!words.take("--stop")) throw Broken("mdadm: " + words.all());
  const DeviceKey key = words.device();
  const auto found = std::find_if(host_.arrays.begin(), host_.arrays.end(),
                                  [&](const Array& array) { return "md:" + array.uuid == key.text; });
  if (found == host_.arrays.end()) return fail("no such array");
  if (!found->ours) throw Broken("stops an array that is not ours");
  if (host_.is_busy(key)) return fail("array is busy");
  host_.arrays.erase(found);
  return {};
}

Result<> Programs::mdadm_create(Words& words) {
  Array made;
  made.name = words.text();
  if (!made.name.starts_with("/dev/md/nvs-")) throw Broken("mdadm --create names " + made.name);
  words.must("--level=0");
  made.raid_disks = static_cast<std::uint32_t>(*parse_number(words.value("--raid-devices=")));
  made.chunk = Bytes{*parse_number(words.value("--chunk=")) * 1024};
  words.must("--metadata=1.2");
  made.uuid = to_text(*parse_uuid(words.value("--uuid=")));
  words.must("--homehost=any");
  (void)words.value("--name=nvs-");
  words.must("--run");
  while (words.more()) made.members.push_back(words.device());
  if (made.members.size() != made.raid_disks) return fail("wrong number of devices");
  host_.destructive.push_back(host_.action_id_ + ": mdadm --create");
  std::vector<MediaPtr> media;
  for (const DeviceKey& key : made.members) {
    media.push_back(to_write(key, "mdadm"));
    if (!media.back()) return fail("'" + key.text + "' is not there");
    if (host_.is_busy(key)) return fail("'" + key.text + "' is busy");
  }
  const std::size_t count = extent_ == Extent::torn ? media.size() / 2 : media.size();
  for (std::size_t i = 0; i < count; ++i) {
    media[i]->signatures = {{"linux_raid_member", made.uuid, made.name.substr(8), false}};
    media[i]->data = true;
  }
  if (extent_ == Extent::torn) return {};
  MediaPtr& content = host_.array_media[made.uuid];
  if (!content) content = blank_media();
  made.media = content;
  host_.arrays.push_back(std::move(made));
  return {};
}

Result<> Programs::mdadm_assemble(Words& words) {
  Array made;
  made.name = words.text();
  made.uuid = to_text(*parse_uuid(words.value("--uuid=")));
  words.must("--homehost=any");
  while (words.more()) made.members.push_back(words.device());
  for (const DeviceKey& key : made.members) {
    const MediaPtr media = host_.media_of(key);
    const bool carries = media && std::any_of(media->signatures.begin(), media->signatures.end(),
                                              [&](const Signature& signature) { return signature.uuid == made.uuid; });
    if (!carries) return fail("'" + key.text + "' is no member of it");
    if (host_.is_busy(key)) return fail("'" + key.text + "' is busy");
  }
  if (extent_ == Extent::torn) return {};
  made.raid_disks = static_cast<std::uint32_t>(made.members.size());
  made.chunk = Bytes{128 * 1024};
  MediaPtr& content = host_.array_media[made.uuid];
  if (!content) content = blank_media();
  made.media = content;
  host_.arrays.push_back(std::move(made));
  return {};
}

Result<> Programs::mkfs(Words& words) {
  bool force = false;
  std::string uuid;
  while (!words.next_is_device()) {
    const std::string option = words.text();
    if (option == "-K") continue;
    if (option == "-f") {
      force = true;
      continue;
    }
    if (option != "-m" && option != "-d" && option != "-l" && option != "-i") throw Broken("mkfs.xfs: " + words.all());
    const std::string value = words.text();
    if (option == "-m") uuid = value.substr(value.find("uuid=") + 5, 36);
  }
  const DeviceKey key = words.device();
  host_.destructive.push_back(host_.action_id_ + ": mkfs.xfs");
  const MediaPtr media = to_write(key, "mkfs.xfs");
  if (!media) return fail("'" + key.text + "' is not there");
  if (host_.is_busy(key)) return fail("'" + key.text + "' is busy");
  if (!media->signatures.empty() && !force) return fail("it appears to contain a file system");
  media->data = true;
  if (extent_ == Extent::torn) {
    // Either nothing but scattered blocks, or the superblock that says that it is not finished.
    media->signatures.clear();
    if (host_.boots % 2 == 1) media->signatures = {{"xfs", uuid, "", true}};
    return {};
  }
  media->signatures = {{"xfs", uuid, "", false}};
  return {};
}

Result<> Programs::wipefs(Words& words) {
  words.must("-a");
  const DeviceKey key = words.device();
  host_.destructive.push_back(host_.action_id_ + ": wipefs");
  const MediaPtr media = to_write(key, "wipefs");
  if (!media) return fail("'" + key.text + "' is not there");
  media->signatures.clear();
  return {};
}

// ---- systemd
// --------------------------------------------------------------------------------------------------------------

Result<> Programs::systemctl(Words& words) {
  const std::string verb = words.text();
  if (verb == "daemon-reload") {
    host_.loaded_units = host_.files;
    return {};
  }
  const std::string unit = words.text();
  if (verb == "start") return start(unit);
  if (verb == "stop") return stop(unit);
  if (verb != "restart") throw Broken("systemctl: " + words.all());
  CHECKED(stop(unit));
  return start(unit);
}

namespace {
std::string setting_of(const std::string& text, const std::string& name) {
  const auto at = text.find("\n" + name + "=");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size() + 2;
  return text.substr(begin, text.find('\n', begin) - begin);
}
}  // namespace

Result<> Programs::start(const std::string& unit) {
  // A unit that was never loaded is read now; one that was loaded keeps its text until daemon-reload.
  const auto is_it = [&](const auto& one) { return one.first.ends_with("/" + unit); };
  auto found = std::find_if(host_.loaded_units.begin(), host_.loaded_units.end(), is_it);
  if (found == host_.loaded_units.end()) {
    const auto file = std::find_if(host_.files.begin(), host_.files.end(), is_it);
    if (file == host_.files.end()) return fail("unit '" + unit + "' is not there");
    found = host_.loaded_units.insert(*file).first;
  }
  const std::string what = setting_of(found->second, "What"), where = setting_of(found->second, "Where");
  if (guard::mount_unit_name(where) != unit) throw Broken("unit " + unit + " mounts at " + where);
  DeviceKey key;
  for (const Array& array : host_.arrays) {
    if (array.state != "inactive" && what == "/dev/disk/by-id/md-uuid-" + to_mdadm(*parse_uuid(array.uuid)))
      key.text = "md:" + array.uuid;
  }
  for (const std::string& lv : host_.active) {
    if (what == "/dev/" + lv) key.text = "lv:" + lv;
  }
  const MediaPtr media = key.empty() ? nullptr : host_.media_of(key);
  if (!media) return fail("'" + what + "' is not there");
  if (media->signatures.size() != 1 || media->signatures[0].type != "xfs" || media->signatures[0].in_progress)
    return fail("wrong fs type");
  if (host_.mounted.contains(where)) return {};
  if (!host_.path_kinds.contains(where) || host_.path_kinds[where] == "absent") throw Broken("no mount point at " + where);
  if (extent_ == Extent::torn) return {};
  host_.mounted[where] = key;
  return {};
}

Result<> Programs::stop(const std::string& unit) {
  for (const auto& [path, key] : host_.mounted) {
    if (guard::mount_unit_name(path) != unit) continue;
    host_.mounted.erase(path);
    return {};
  }
  for (const Mount& mount : host_.foreign_mounts) {
    if (guard::mount_unit_name(mount.path) == unit) throw Broken("unmounts " + mount.path);
  }
  return {};
}

}  // namespace nvstripe::sim

// Owns LVM's programs of the simulated machine. All name their devices with --devices, as the agent must.
#include <algorithm>
#include <map>
#include <set>

#include "agent/base/text.hpp"
#include "tests/sim/programs.hpp"
#include "tests/sim/words.hpp"

namespace nvstripe::sim {
namespace {

// Options that the agent uses; any other ends the test.
const std::set<std::string> kPlain{"-y", "-ff", "--norestorefile", "-Wn", "-Zn", "-an", "-ay"};
const std::set<std::string> kWithValue{
    "--uuid", "--dataalignment", "--setautoactivation", "--physicalextentsize", "-n", "-i", "-I", "-l"};

struct Call {
  std::set<DeviceKey> only;  // --devices
  std::set<std::string> flags;
  std::map<std::string, std::string> values;
  std::vector<std::string> tags;
  std::vector<std::string> names;
  std::vector<DeviceKey> devices;
  [[nodiscard]] bool has(const std::string& flag) const { return flags.contains(flag); }
};

template <class Words>
Call parse(Words& words) {
  Call out;
  while (words.more()) {
    if (words.next_is_device()) {
      out.devices.push_back(words.device());
      continue;
    }
    const std::string word = words.text();
    if (word == "--devices")
      out.only.insert(words.device());
    else if (word == "--addtag")
      out.tags.push_back(words.text());
    else if (kPlain.contains(word))
      out.flags.insert(word);
    else if (kWithValue.contains(word))
      out.values[word] = words.text();
    else if (word.starts_with("-"))
      throw Broken("an option that the simulation does not know: " + words.all());
    else
      out.names.push_back(word);
  }
  if (out.only.empty()) throw Broken("LVM is not told its devices: " + words.all());
  for (const DeviceKey& key : out.devices) {
    if (!out.only.contains(key)) throw Broken("a device that --devices leaves out: " + words.all());
  }
  return out;
}

}  // namespace

Result<> Programs::pvcreate(Words& words) {
  const Call call = parse(words);
  const DeviceKey key = call.devices.at(0);
  host_.destructive.push_back(host_.action_id_ + ": pvcreate " + key.text);
  const MediaPtr media = to_write(key, "pvcreate");
  if (!media) return fail("'" + key.text + "' is not there");
  if (host_.is_busy(key)) return fail("'" + key.text + "' is busy");
  if (!media->vg.empty()) return fail("'" + key.text + "' belongs to group '" + media->vg + "'");
  if (extent_ == Extent::torn) return {};
  media->pv_uuid = call.values.at("--uuid");
  media->signatures = {{"LVM2_member", media->pv_uuid, "", false}};
  media->data = true;
  return {};
}

Result<> Programs::vgcreate(Words& words) {
  const Call call = parse(words);
  Group made;
  made.name = call.names.at(0);
  made.uuid = "vg-" + made.name;
  made.tags = call.tags;
  made.members = call.devices;
  if (call.values.at("--setautoactivation") != "n") throw Broken("a group that activates itself");
  if (group(made.name) != nullptr) return fail("a group called '" + made.name + "' exists");
  host_.destructive.push_back(host_.action_id_ + ": vgcreate " + made.name.substr(0, made.name.find_last_of('_')));
  for (const DeviceKey& key : made.members) {
    const MediaPtr media = to_write(key, "vgcreate");
    if (!media || media->pv_uuid.empty()) return fail("'" + key.text + "' is no physical volume");
  }
  if (extent_ == Extent::torn) return {};  // LVM commits a group's metadata in two phases, all or nothing
  for (const DeviceKey& key : made.members) host_.media_of(key)->vg = made.name;
  host_.groups.push_back(std::move(made));
  return {};
}

Result<> Programs::vgremove(Words& words) {
  const Call call = parse(words);
  const std::string name = call.names.at(0);
  Group* found = group(name);
  if (found == nullptr) return fail("no such group");
  host_.destructive.push_back(host_.action_id_ + ": vgremove");
  for (const DeviceKey& key : found->members) {
    if (const MediaPtr media = to_write(key, "vgremove")) media->vg.clear();
  }
  for (const Group::Volume& volume : found->volumes) host_.active.erase(name + "/" + volume.name);
  std::erase_if(host_.groups, [&](const Group& one) { return one.name == name; });
  return {};
}

Result<> Programs::lvcreate(Words& words) {
  const Call call = parse(words);
  if (!call.has("-Wn") || !call.has("-Zn") || !call.has("-y")) throw Broken("lvcreate that wipes or asks: " + words.all());
  Group::Volume made;
  made.name = call.values.at("-n");
  made.tags = call.tags;
  if (call.values.contains("-i")) made.stripes = static_cast<std::uint32_t>(*parse_number(call.values.at("-i")));
  if (call.values.contains("-I")) {
    const std::string& size = call.values.at("-I");
    made.stripe = Bytes{*parse_number(size.substr(0, size.size() - 1)) * 1024};
  }
  const std::string& extents = call.values.at("-l");
  made.size = Bytes{extents == "100%FREE" ? call.only.size() * (2ull << 30) : *parse_number(extents) * (4ull << 20)};
  Group* in = group(call.names.at(0));
  if (in == nullptr) return fail("no such group");
  host_.destructive.push_back(host_.action_id_ + ": lvcreate " + made.name);
  const auto same = [&](const Group::Volume& one) { return one.name == made.name; };
  if (std::any_of(in->volumes.begin(), in->volumes.end(), same)) return fail("a volume of that name exists");
  if (extent_ == Extent::torn) return {};
  made.media = blank_media();
  if (!call.has("-an")) host_.active.insert(in->name + "/" + made.name);
  in->volumes.push_back(std::move(made));
  return {};
}

// vgchange names a group, lvchange its volumes.
Result<> Programs::activate(Words& words, bool whole_group) {
  const Call call = parse(words);
  for (const std::string& full : call.names) {
    const auto slash = full.find('/');
    if (whole_group != (slash == std::string::npos)) throw Broken("which group or volume: " + words.all());
    const std::string name = full.substr(0, slash), volume = whole_group ? "" : full.substr(slash + 1);
    Group* in = group(name);
    if (in == nullptr) return fail("no such group");
    for (const DeviceKey& key : in->members) {
      if (!call.only.contains(key)) return fail("device of '" + name + "' is left out by --devices");
      if (!host_.media_of(key)) return fail("'" + key.text + "' is not there");
    }
    for (Group::Volume& one : in->volumes) {
      if (!whole_group && one.name != volume) continue;
      for (const std::string& tag : call.tags) {
        if (std::find(one.tags.begin(), one.tags.end(), tag) == one.tags.end()) one.tags.push_back(tag);
      }
      if (call.has("-ay")) host_.active.insert(name + "/" + one.name);
      if (call.has("-an") && host_.is_busy({"lv:" + name + "/" + one.name})) return fail("volume is in use");
      if (call.has("-an")) host_.active.erase(name + "/" + one.name);
    }
  }
  return {};
}

}  // namespace nvstripe::sim

// Owns the decision what a volume's array carries, and the one action that makes a file system on it.
#include "configurators/filesystem.hpp"

#include <algorithm>

#include "agent/base/text.hpp"
#include "configurators/host_identity.hpp"
#include "configurators/mount.hpp"

namespace nvstripe::configure {
namespace {

constexpr std::uint64_t kMaxLogStripe = 256;  // KiB; beyond it mkfs.xfs falls to 32 KiB

std::string signatures_text(const BlockDevice& device) {
  std::vector<std::string> texts;
  for (const Signature& signature : device.signatures)
    texts.push_back(printable(signature.type) + ":" + printable(signature.uuid));
  std::sort(texts.begin(), texts.end());
  return texts.empty() ? "data" : join(texts, ",");
}

// One line that the digest covers: no kernel names, no times.
std::string destroy_line(const BlockDevice& device) {
  return device.key.text + " " + std::to_string(device.size.count) + " " + signatures_text(device);
}

bool is_own(const Signature& signature, const VolumeSurvey& volume) {
  const auto uuid = parse_uuid(signature.uuid);
  return signature.type == "xfs" && uuid && *uuid == volume.filesystem;
}

// By the plan of this look; an incomplete array of ours in the way is stopped first, and the rest follows in the next look.
bool will_be_made(const VolumeSurvey& volume) { return volume.phase != Phase::present && volume.state != "inactive"; }

bool intent_open(const VolumeSurvey& volume, const Inventory& seen) {
  const auto& intents = seen.records.value().intents;
  const std::string id = "fs.make:" + volume.wanted->name;
  return std::any_of(intents.begin(), intents.end(), [&](const IntentRecord& intent) { return intent.action_id == id; });
}

std::string on_it(const BlockDevice& device) {
  return device.signatures.empty() ? "data without a signature" : "'" + printable(device.signatures.front().type) + "'";
}

Action make(const VolumeSurvey& volume, const Inventory& seen, OnArray found) {
  const std::string& name = volume.wanted->name;
  const BlockDevice* device = seen.find(volume.device);
  Action action;
  action.id = "fs.make:" + name;
  action.object = "volume:" + name;
  action.sentence = "make an XFS file system on volume '" + name + "', aligned to " + many(volume.members.size(), "member") +
                    " of " + to_text(volume.wanted->chunk);
  action.reason = found == OnArray::torn     ? "making it was interrupted"
                  : found == OnArray::unseen ? "its array is new"
                                             : "its array carries nothing";
  action.risk = Risk::writes_blank;
  action.needs = {identity_fact(seen), volume.fact};
  action.gives = {filesystem_fact(volume)};
  action.writes = {volume.device};
  RequireContent look;
  look.device = volume.device;
  if (device != nullptr) {
    look.diskseq = device->diskseq;
    look.expected = device->signatures;
    look.any_content = (found == OnArray::torn && device->signatures.empty()) || found == OnArray::foreign;
  }
  action.steps = {look};
  Run run;
  run.argv = {"mkfs.xfs"};
  for (const std::string& option : mkfs_options(volume, seen.kernel.value().release)) run.argv.emplace_back(option);
  // Without -f mkfs refuses what it finds, which is one more guard where nothing is to be found.
  if (found == OnArray::torn || found == OnArray::foreign) run.argv.emplace_back("-f");
  run.argv.emplace_back(DeviceRef{volume.device});
  run.deadline = std::chrono::seconds(300);
  run.udev_lock = {volume.device};
  if (found == OnArray::foreign && device != nullptr) {
    action.reason = "its array shows " + on_it(*device) + ", and the spec lets that be wiped";
    action.risk = Risk::destroys_data;
    action.destroys = {destroy_line(*device)};
    action.steps.emplace_back(
        Run{{"wipefs", "-a", DeviceRef{volume.device}}, std::chrono::seconds(60), {0}, {volume.device}});
  }
  action.steps.emplace_back(std::move(run));
  action.steps.emplace_back(Await{filesystem_fact(volume), std::chrono::seconds(30)});
  if (volume.record == nullptr && volume.phase == Phase::present) action.before = {record_at(volume, Stage::made_array)};
  action.after = {record_at(volume, Stage::made)};
  return action;
}

Action remember(const VolumeSurvey& volume) {
  Action action;
  action.id = "volume.record:" + volume.wanted->name;
  action.object = "volume:" + volume.wanted->name;
  action.sentence = "record volume '" + volume.wanted->name + "' as made";
  action.reason = "its members and file system carry this host's identity";
  action.after = {record_at(volume, Stage::made)};
  return action;
}

void refuse(const VolumeSurvey& volume, const BlockDevice& device, OnArray found, Draft& out) {
  const std::string& name = volume.wanted->name;
  if (found == OnArray::unclear) {
    const std::string why = device.look_reason.empty() ? "" : ": " + device.look_reason;
    const bool ambiguous = device.look == Look::ambiguous;
    out.conflicts.push_back(volume_conflict(
        name, ambiguous ? "volume.content_ambiguous" : "volume.content_unknown",
        (ambiguous ? "what its array carries is ambiguous" : "what its array carries could not be read") + why,
        ambiguous ? "look with 'wipefs' and 'blkid'; ambiguous is never taken for empty" : "wait until it can be read",
        ambiguous ? Standing::refused : Standing::waiting));
  } else if (volume.made()) {
    out.conflicts.push_back(volume_conflict(
        name, "volume.filesystem_lost",
        found == OnArray::blank ? "its file system was made, and its array is blank now"
                                : "its file system was made, and its array shows " +
                                      (found == OnArray::torn ? std::string("an unfinished one") : on_it(device)) + " now",
        "find out who wrote to it; nothing is made over it"));
  } else {
    out.conflicts.push_back(volume_conflict(name, "volume.foreign_data",
                                            "its array shows " + on_it(device) + ", from an earlier use of the same drives",
                                            "wipe it yourself, or set 'on_foreign_data: wipe' and accept the plan"));
  }
}

void plan_one(const VolumeSurvey& volume, const Inventory& seen, Draft& out) {
  const OnArray found = what_is_on(volume, seen);
  if (found == OnArray::ours) {
    if (!volume.made()) out.actions.push_back(remember(volume));
    return;
  }
  if (found == OnArray::unseen) {
    if (will_be_made(volume)) out.actions.push_back(make(volume, seen, found));
    return;
  }
  if (volume.phase == Phase::present && !volume.running) return;
  const bool consented = found == OnArray::foreign && volume.wanted->wipe_foreign_data;
  if (!volume.made() && (found == OnArray::blank || found == OnArray::torn || consented)) {
    out.actions.push_back(make(volume, seen, found));
  } else if (const BlockDevice* device = seen.find(volume.device)) {
    refuse(volume, *device, found, out);
  }
}

// "6.1.0-57-amd64" → 6001.
std::uint64_t kernel_number(const std::string& release) {
  const auto parts = split(release, '.');
  if (parts.size() < 2) return UINT64_MAX;  // not known: mkfs decides
  std::string_view minor = parts[1];
  minor = minor.substr(0, minor.find_first_not_of("0123456789"));
  const auto major_number = parse_number(parts[0]), minor_number = parse_number(minor);
  return major_number && minor_number ? *major_number * 1000 + *minor_number : UINT64_MAX;
}

}  // namespace

OnArray what_is_on(const VolumeSurvey& volume, const Inventory& seen) {
  const BlockDevice* device = seen.find(volume.device);
  if (device == nullptr || (!volume.running && volume.phase != Phase::present)) return OnArray::unseen;
  // What is mounted from it is not looked at again, and its drives may be dead.
  if (is_mounted(volume, seen)) return OnArray::ours;
  // Our superblock at its place is proof even where the look as a whole is ambiguous.
  for (const Signature& signature : device->signatures) {
    if (is_own(signature, volume)) return signature.in_progress ? OnArray::torn : OnArray::ours;
  }
  if (device->look == Look::found || !device->signatures.empty()) return OnArray::foreign;
  if (device->look != Look::none) return OnArray::unclear;
  if (device->content == Content::zero || (seen.captured && device->content == Content::presumed)) return OnArray::blank;
  if (device->content == Content::data)
    return !volume.made() && intent_open(volume, seen) ? OnArray::torn : OnArray::foreign;
  return OnArray::unclear;
}

Fact filesystem_fact(const VolumeSurvey& volume) { return "fs:" + to_text(volume.filesystem); }

bool filesystem_comes(const VolumeSurvey& volume, const Inventory& seen) {
  if (volume.phase == Phase::blocked) return false;
  const OnArray found = what_is_on(volume, seen);
  if (found == OnArray::ours) return true;
  if (volume.made()) return found == OnArray::unseen || !volume.running;
  if (found == OnArray::unseen) return will_be_made(volume);
  if (!volume.running) return false;
  return found == OnArray::blank || found == OnArray::torn ||
         (found == OnArray::foreign && volume.wanted->wipe_foreign_data);
}

std::uint64_t log_stripe_kib(const VolumeSurvey& volume) {
  return std::min(volume.wanted->chunk.count / 1024, kMaxLogStripe);
}

std::vector<std::string> mkfs_options(const VolumeSurvey& volume, const std::string& kernel) {
  const std::string chunk = std::to_string(volume.wanted->chunk.count / 1024) + "k";
  std::string features = "uuid=" + to_text(volume.filesystem);
  const std::uint64_t number = kernel_number(kernel);
  if (number < 5010) features += ",bigtime=0,inobtcount=0";  // both mountable since 5.10
  // No discard: over the fabric it takes minutes and looks like a hang.
  std::vector<std::string> options{"-K",
                                   "-m",
                                   features,
                                   "-d",
                                   "su=" + chunk + ",sw=" + std::to_string(volume.members.size()),
                                   "-l",
                                   "su=" + std::to_string(log_stripe_kib(volume)) + "k"};
  // Large extent counters are on by default since xfsprogs 6.5 and mountable since 5.19.
  if (number < 5019) options.insert(options.end(), {"-i", "nrext64=0"});
  return options;
}

void add_wipe(Action& action, const VolumeSurvey& volume, const Inventory& seen) {
  if (volume.wiped.empty()) return;
  action.risk = Risk::destroys_data;
  action.reason = "volume '" + volume.wanted->name + "' does not exist, " + many(volume.wiped.size(), "member") +
                  (volume.wiped.size() == 1 ? " carries" : " carry") + " foreign data, and the spec lets that be wiped";
  for (const DeviceKey& key : volume.wiped) {
    if (const BlockDevice* device = seen.find(key)) action.destroys.push_back(destroy_line(*device));
    action.steps.emplace_back(Run{{"wipefs", "-a", DeviceRef{key}}, std::chrono::seconds(60), {0}, {key}});
  }
  std::sort(action.destroys.begin(), action.destroys.end());
}

Draft plan_filesystem(const Spec& spec, const Inventory& seen) {
  Draft out;
  for (const VolumeSurvey& volume : survey_volumes(spec, seen)) {
    if (volume.phase != Phase::blocked) plan_one(volume, seen, out);
  }
  return out;
}

}  // namespace nvstripe::configure

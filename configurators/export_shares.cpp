// Owns the judgement of one drive or slice for one host: old entry, new entry, or why not. It numbers nothing.
#include "configurators/export_shares.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agent/base/text.hpp"
#include "configurators/export_names.hpp"

namespace nvstripe::configure {
namespace {

const std::vector<ExportRecord>& ledger(const Inventory& seen) { return seen.records.value().exports; }

void block(NamespaceWish& wish, std::string id, std::string why, std::string remedy) {
  if (!wish.problem.empty()) return;
  wish.problem_id = std::move(id);
  wish.problem = std::move(why);
  wish.remedy = std::move(remedy);
}

bool is_blank(const BlockDevice& device) {
  return device.look == Look::none && device.signatures.empty() && device.content == Content::zero;
}

// The namespace that configfs shows for this share, whatever its id: by the identity that we derive for it.
const TargetNamespace* shown_for(const ShareContext& context, const TargetSubsystem& subsystem, const Share& share) {
  for (const TargetNamespace& served : subsystem.namespaces) {
    const auto uuid = parse_uuid(served.uuid);
    if (uuid && derived_from(*uuid, context.host, "namespace", share_name(share.drive, share.slice))) return &served;
  }
  return nullptr;
}

void find_record(const ShareContext& context, const SubsystemWish& subsystem, const Share& share, NamespaceWish& wish) {
  for (const ExportRecord& record : ledger(context.seen)) {
    const bool here = record.drive == share.drive && record.slice == share.slice && record.generation != 0;
    if (!here || record.subsystem_nqn != subsystem.nqn) continue;
    wish.record = record;
    wish.record.retired = false;
    wish.must_be_blank = !record.served && !share.owned_by_tag;
    return;
  }
  const TargetSubsystem* shown = find_subsystem(context.seen, subsystem.nqn);
  const TargetNamespace* served = shown == nullptr ? nullptr : shown_for(context, *shown, share);
  if (served == nullptr) return;
  // The state file was lost while the export ran: the identity that is being served says drive, slice and generation.
  wish.record.nsid = served->nsid;
  wish.record.served = true;
  wish.record.generation = generation_of(*parse_uuid(served->uuid));
}

void start_record(const ShareContext& context, const SubsystemWish& subsystem, const Share& share, NamespaceWish& wish) {
  wish.record.drive = share.drive;
  wish.record.slice = share.slice;
  wish.record.export_name = subsystem.wanted->name;
  wish.record.host_nqn = subsystem.host_nqn;
  wish.record.subsystem_nqn = subsystem.nqn;
  if (wish.record.generation == 0) {
    wish.record.generation = context.seen.records.value().fresh_generation;
    wish.must_be_blank = !share.owned_by_tag;
    if (!context.settled)
      block(wish, "export.identity_unsettled", "nothing is exported anew while the host identity is in question",
            "settle it with 'nvstripe identity adopt'");
  }
}

void supersede(const ShareContext& context, const Share& share, NamespaceWish& wish) {
  for (ExportRecord record : ledger(context.seen)) {
    if (record.drive != share.drive || record.subsystem_nqn == wish.record.subsystem_nqn) continue;
    const bool same_share = record.slice == share.slice || record.slice == 0 || share.slice == 0;
    if (!same_share) continue;
    if (!record.retired)
      block(wish, "export.not_withdrawn", fmt::format("it still belongs to host '{}'", record.host_nqn),
            "'nvstripe apply' withdraws it from that host");
    if (record.generation == 0) continue;
    record.generation = 0;
    record.retired = true;
    wish.superseded.push_back(std::move(record));
  }
}

// A drive whose consumer's data was seen and that is blank now was re-made (secure erase, a fresh drive with an old name):
// serving it under the old identity would let a stalled write through to it (finding 2: identity is compared too late).
void renew_if_remade(const ShareContext& context, const BlockDevice& device, NamespaceWish& wish) {
  if (!wish.record.consumer_data_seen || wish.served) return;
  if (is_blank(device)) {
    wish.record.nsid = 0;
    wish.record.generation = context.seen.records.value().fresh_generation;
    wish.record.consumer_data_seen = false;
    wish.record.served = false;
    wish.must_be_blank = true;
    return;
  }
  const bool sampled = device.content == Content::data || device.look == Look::found || context.seen.captured;
  if (!sampled)
    block(wish, "export.look_unknown", "whether it still carries its consumer's data cannot be told: " + device.look_reason,
          "it is looked at again; a drive that cannot be read is not exported");
}

void check_other_use(const ShareContext& context, const BlockDevice& device, NamespaceWish& wish) {
  for (const TargetSubsystem& subsystem : context.seen.exports.value().subsystems) {
    if (subsystem.nqn == wish.record.subsystem_nqn) continue;
    for (const TargetNamespace& served : subsystem.namespaces) {
      if (backing_of(context.seen, served) == &device)
        block(wish, "guard.exported", fmt::format("nvmet exports it as '{}' too", subsystem.nqn),
              "remove it from that subsystem");
    }
  }
  for (const Signature& signature : device.signatures) {
    if (signature.type == "linux_raid_member" && guard::is_our_array(signature.uuid, context.spec, context.seen))
      block(wish, "guard.signature", "it is a member of this host's own volume", "exclude it by 'serials' or 'count'");
  }
}

void check_drive(const ShareContext& context, const BlockDevice& device, NamespaceWish& wish) {
  const bool content_matters = wish.must_be_blank;
  for (const guard::Veto& veto : guard::unusable(device, context.seen, !content_matters)) {
    if (veto.id == "guard.exported" || veto.id == "guard.ledger") continue;  // told apart by check_other_use, supersede
    block(wish, veto.id, veto.sentence, std::string(guard::remedy_of(veto.id)));
  }
}

// A slice is an LV, which guard::unusable() never lets pass: its drive was judged when it was taken, what is left is its
// own.
void check_slice(const BlockDevice& device, NamespaceWish& wish) {
  if (!device.holders.empty())
    block(wish, "guard.holder", fmt::format("'{}' is stacked on it", device.holders.front().text),
          std::string(guard::remedy_of("guard.holder")));
  if (!device.mount_points.empty() || device.swap)
    block(wish, "guard.mounted", "it is mounted or swap", std::string(guard::remedy_of("guard.mounted")));
  if (device.read_only) block(wish, "guard.read_only", "it is read-only", std::string(guard::remedy_of("guard.read_only")));
  if (!wish.must_be_blank) return;
  if (device.look == Look::found || device.content == Content::data)
    block(wish, "guard.content", "it is not blank and was never this host's",
          std::string(guard::remedy_of("guard.content")));
  if (device.look == Look::unknown || device.look == Look::ambiguous)
    block(wish, "export.look_unknown", "whether it is blank cannot be told: " + device.look_reason, "it is looked at again");
}

// An LV of the same name with another UUID is another slice: made anew by somebody, over what the host had on the old one.
void check_same_slice(const ShareContext& context, const Share& share, NamespaceWish& wish) {
  for (const LvmVolume& volume : context.seen.lvm.value().volumes) {
    if (share.backing.text != "lv:" + volume.vg + "/" + volume.name || volume.uuid.empty()) continue;
    if (wish.record.lv_uuid.empty()) wish.record.lv_uuid = volume.uuid;
    if (wish.record.lv_uuid != volume.uuid)
      block(wish, "export.slice_replaced",
            fmt::format("the slice was LV '{}' and is '{}' now", wish.record.lv_uuid, volume.uuid),
            "find out who made it anew; it is not given to the host as the old one");
  }
}

}  // namespace

NamespaceWish wish_for(const ShareContext& context, const SubsystemWish& subsystem, const Share& share) {
  NamespaceWish wish;
  wish.backing = share.backing;
  find_record(context, subsystem, share, wish);
  start_record(context, subsystem, share, wish);
  supersede(context, share, wish);
  if (share.slice != 0) check_same_slice(context, share, wish);
  const BlockDevice* device = context.seen.find(share.backing);
  if (device == nullptr) {
    // A slice that is not active, or not made yet, is no problem: export_slices makes and activates it first.
    if (share.slice == 0 || context.seen.find(share.drive) == nullptr)
      block(wish, "export.drive_missing", "it is not there", "it is served again under the same id when it comes back");
    return wish;
  }
  if (const TargetSubsystem* shown = find_subsystem(context.seen, subsystem.nqn)) {
    for (const TargetNamespace& served : shown->namespaces) {
      if (served.nsid == wish.record.nsid && served.enabled && backing_of(context.seen, served) == device &&
          is_same_identity(served.uuid, namespace_identity(context.host, wish.record)))
        wish.served = true;
    }
  }
  if (wish.served) {
    wish.record.served = true;
    wish.record.consumer_data_seen = wish.record.consumer_data_seen || device->look == Look::found;
    return wish;
  }
  renew_if_remade(context, *device, wish);
  check_other_use(context, *device, wish);
  if (share.slice == 0) {
    check_drive(context, *device, wish);
  } else {
    check_slice(*device, wish);
  }
  return wish;
}

std::uint32_t highest_nsid(const Inventory& seen, const std::string& nqn) {
  std::uint32_t highest = 0;
  for (const ExportRecord& record : ledger(seen)) {
    if (record.subsystem_nqn == nqn) highest = std::max(highest, record.nsid);
  }
  if (const TargetSubsystem* shown = find_subsystem(seen, nqn)) {
    for (const TargetNamespace& served : shown->namespaces) highest = std::max(highest, served.nsid);
  }
  return highest;
}

SliceOwners owners_of_slices(const ShareContext& context, const ExportSpec& wanted, const DeviceKey& drive,
                             const std::string& group) {
  SliceOwners owners;
  std::set<std::uint32_t> spoken_for;  // by ledger or tag, whoever has it
  for (const ExportRecord& record : ledger(context.seen)) {
    if (record.drive != drive || record.slice == 0 || record.generation == 0) continue;
    owners.owner[record.slice] = {record.host_nqn, false};
    spoken_for.insert(record.slice);
  }
  for (const LvmVolume& volume : context.seen.lvm.value().volumes) {
    const auto slice =
        volume.vg == group && volume.name.starts_with("s") ? parse_number(volume.name.substr(1)) : std::nullopt;
    if (!slice || spoken_for.contains(static_cast<std::uint32_t>(*slice))) continue;
    for (const std::string& tag : volume.tags) {
      if (!tag.starts_with("nvstripe.host=")) continue;
      spoken_for.insert(static_cast<std::uint32_t>(*slice));
      for (const AllowedHost& allowed : wanted.allow) {
        if (owner_tag(allowed.host) == tag) owners.owner[static_cast<std::uint32_t>(*slice)] = {allowed.host, true};
      }
    }
  }
  for (const AllowedHost& allowed : wanted.allow) {
    std::uint32_t has = 0;
    for (const auto& [slice, owner] : owners.owner) has += owner.host_nqn == allowed.host ? 1 : 0;
    const std::uint32_t wants = allowed.slices.value_or(wanted.slices);
    for (std::uint32_t slice = 1; slice <= wanted.slices && has < wants; ++slice) {
      if (!spoken_for.insert(slice).second) continue;
      owners.owner[slice] = {allowed.host, false};
      ++has;
    }
    if (has < wants) owners.without.push_back(allowed.host);
  }
  return owners;
}

}  // namespace nvstripe::configure

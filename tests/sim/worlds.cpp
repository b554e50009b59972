// Owns the making of random machines and of other orders of the same sight.
#include "tests/sim/worlds.hpp"

#include <algorithm>

#include "tests/support/seen.hpp"

namespace nvstripe::sim {
namespace {

using Spoil = void (*)(Bench&, Drive&);

void sign(Drive& drive, const Signature& signature) {
  drive.media->signatures = {signature};
  drive.media->data = true;
}

// What has been found on drives that looked free. Each makes the drive precious.
constexpr Spoil kSpoils[] = {
    [](Bench&, Drive& d) {
      sign(d, {"ext4", "22222222-0000-4000-8000-000000000001", "", false});
    },
    [](Bench&, Drive& d) {
      sign(d, {"xfs", "22222222-0000-4000-8000-000000000002", "", false});
    },
    [](Bench&, Drive& d) {
      sign(d, {"xfs", "22222222-0000-4000-8000-000000000003", "", true});
    },
    [](Bench&, Drive& d) { d.media->data = true; },  // raw database, plain dm-crypt
    [](Bench&, Drive& d) { d.forced_look = Look::ambiguous; },
    [](Bench&, Drive& d) { d.forced_look = Look::unknown; },
    [](Bench&, Drive& d) { d.device.kind = DeviceKind::system; },
    [](Bench&, Drive& d) { d.device.kind = DeviceKind::network_disk; },
    [](Bench&, Drive& d) { d.device.kind = DeviceKind::other; },
    [](Bench&, Drive& d) { d.device.partitions = 2; },
    [](Bench&, Drive& d) { d.device.mount_points = {"/data"}; },
    [](Bench&, Drive& d) { d.device.swap = true; },
    [](Bench&, Drive& d) { d.device.read_only = true; },
    [](Bench&, Drive& d) { d.device.ambiguous_key = true; },
    [](Bench&, Drive& d) { d.device.key = {"name:nvme9n1"}; },
    [](Bench&, Drive& d) { d.device.holders = {{"dm:CRYPT-LUKS2-x"}}; },
    [](Bench&, Drive& d) {  // another host's volume of the same name
      sign(d, {"linux_raid_member", to_text(derive(seen::other_host_id(), "array", "scratch", 7)), "nvs-scratch", false});
    },
    [](Bench&, Drive& d) {  // our own, of a volume that neither spec nor records name any more
      sign(d, {"linux_raid_member", to_text(derive(seen::host_id(), "array", "gone", 7)), "nvs-gone", false});
    },
    [](Bench& b, Drive& d) {  // a stale superblock that udev assembled: the md127 trap
      sign(d, {"linux_raid_member", "deadbeef-0011-2233-4455-66778899aabb", "old:0", false});
      Array stale;
      stale.uuid = "deadbeef-0011-2233-4455-66778899aabb";
      stale.state = "inactive";
      stale.raid_disks = 2;
      stale.members = {d.device.key};
      stale.media = blank_media();
      stale.ours = false;
      const bool there =
          std::any_of(b.host.arrays.begin(), b.host.arrays.end(), [&](const Array& a) { return a.uuid == stale.uuid; });
      if (!there) b.host.arrays.push_back(stale);
    },
    [](Bench& b, Drive& d) {  // a group that has a name like one of ours, and not our tag
      sign(d, {"LVM2_member", "AbCdEf-GhIj-KlMn-OpQr-StUv-WxYz-012345", "", false});
      d.media->pv_uuid = "AbCdEf-GhIj-KlMn-OpQr-StUv-WxYz-012345";
      d.media->vg = "nvs_scratch_0badcafe";
      const bool there = std::any_of(b.host.groups.begin(), b.host.groups.end(),
                                     [](const Group& g) { return g.name == "nvs_scratch_0badcafe"; });
      if (!there) b.host.groups.push_back({"nvs_scratch_0badcafe", "foreign", {}, {d.device.key}, {}});
    },
    [](Bench& b, Drive& d) {  // somebody else's export, given by a link of udev
      TargetSubsystem foreign;
      foreign.nqn = "nqn.2020-01.org.example:other";
      foreign.namespaces = {{1, "/dev/disk/by-id/nvme-" + d.device.wwid, "u", "", true}};
      if (b.host.nvmet.subsystems.empty())
        b.host.nvmet.subsystems.push_back(foreign);
      else
        d.device.read_only = true;
    },
};

void add_drives(Bench& bench, Dice& dice) {
  const unsigned count = 2 + dice.below(6);
  add_local_ssds(bench, count);
  for (Drive& drive : bench.host.drives) {
    if (drive.device.kind != DeviceKind::local_ssd || !dice.one_in(3)) continue;
    kSpoils[dice.below(std::size(kSpoils))](bench, drive);
    drive.media->precious = true;
  }
}

void add_foreign_things(Bench& bench, Dice& dice) {
  if (dice.one_in(2))
    bench.host.controllers.push_back({"nvme77", "nqn.2020-01.org.example:san", "tcp", "192.0.2.77", "4420", "", false});
  if (dice.one_in(3)) bench.host.foreign_mounts.push_back({"/home", "/dev/vdb1", "ext4", "rw", "254:17", "", "", ""});
  if (dice.one_in(3)) bench.host.files["/etc/systemd/system/home.mount"] = "[Mount]\nWhat=/dev/vdb1\nWhere=/home\n";
  bench.host.sysctls = {{"vm.dirty_ratio", "20", ""},
                        {"vm.dirty_background_ratio", "10", ""},
                        {"vm.dirty_bytes", "0", ""},
                        {"vm.dirty_background_bytes", "0", ""}};
}

}  // namespace

std::uint64_t Dice::next() {
  std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

void make_world(Bench& bench, Dice& dice) {
  add_drives(bench, dice);
  add_foreign_things(bench, dice);
  const auto stack = [&] { return dice.one_in(2) ? Stack::md : Stack::lvm; };
  if (dice.one_in(2)) add_local_volume(bench, "scratch", 1 + dice.below(4), stack());
  if (dice.one_in(2)) {
    const unsigned drives = 1 + dice.below(3);
    add_targets_and_volume(bench, drives, 1 + dice.below(2 * drives), stack());
    bench.host.targets[0].tcp_only = dice.one_in(3);
    if (dice.one_in(4)) {  // a drive of the target carries something
      Media& media = *bench.host.targets[1].namespaces[0].media;
      media = Media{{{"ext4", "22222222-0000-4000-8000-000000000009", "", false}}, true, true, "", ""};
    }
  }
  if (dice.one_in(2)) {
    const bool shared = dice.one_in(2);
    std::vector<std::string> hosts{seen::hostnqn(seen::other_host_id())};
    if (shared) hosts.push_back("nqn.2014-08.org.nvmexpress:uuid:0c0c0c0c-1111-4222-8333-444455556666");
    add_pool(bench, "pool", hosts, shared ? 2 : 1);
    if (dice.one_in(2)) bench.spec.exports.back().devices.count = 1 + dice.below(3);
  }
}

std::set<DeviceKey> forbidden(const Bench& bench) {
  std::set<DeviceKey> out;
  for (const Drive& drive : bench.host.drives) {
    if (drive.media->precious) out.insert(drive.device.key);
  }
  for (const Target& target : bench.host.targets) {
    for (const TargetNamespaceOf& ns : target.namespaces) {
      if (ns.media->precious) out.insert({"nvme:uuid." + ns.uuid + "/" + std::to_string(ns.nsid)});
    }
  }
  for (const Array& array : bench.host.arrays) {
    if (!array.ours) out.insert({"md:" + array.uuid});
  }
  return out;
}

void shuffle(Inventory& seen, Dice& dice) {
  dice.shuffle(seen.blocks.value());
  for (BlockDevice& device : seen.blocks.value()) {
    dice.shuffle(device.signatures);
    dice.shuffle(device.holders);
    dice.shuffle(device.mount_points);
  }
  dice.shuffle(seen.controllers.value());
  dice.shuffle(seen.arrays.value());
  dice.shuffle(seen.lvm.value().physicals);
  dice.shuffle(seen.lvm.value().groups);
  dice.shuffle(seen.lvm.value().volumes);
  dice.shuffle(seen.units.value());
  dice.shuffle(seen.links.value());
  dice.shuffle(seen.rdma.value());
  dice.shuffle(seen.tools.value());
  dice.shuffle(seen.targets.value());
  for (TargetView& target : seen.targets.value()) dice.shuffle(target.subsystems);
  dice.shuffle(seen.sysctls.value());
  dice.shuffle(seen.exports.value().ports);
  dice.shuffle(seen.exports.value().subsystems);
  for (TargetSubsystem& subsystem : seen.exports.value().subsystems) {
    dice.shuffle(subsystem.namespaces);
    dice.shuffle(subsystem.allowed_hosts);
  }
  Records& records = seen.records.value();
  dice.shuffle(records.volumes);
  dice.shuffle(records.exports);
  dice.shuffle(records.connections);
  dice.shuffle(records.tunings);
}

}  // namespace nvstripe::sim

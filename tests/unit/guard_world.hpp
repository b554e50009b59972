// Owns the small machine that the guard's tests judge: drives, a spec of volume 'train', and an action that makes its array.
#pragma once
#include <set>

#include "agent/model/guard.hpp"
#include "agent/model/guard_ours.hpp"

namespace nvstripe::guard_world {

inline const Uuid kHost = *parse_uuid("11111111-2222-3333-4444-555555555555");
inline constexpr std::uint64_t kGeneration = 0x0123456789abcdefull;

inline BlockDevice drive(const std::string& key) {
  BlockDevice device;
  device.key = {key};
  device.kernel_name = "nvme" + std::to_string(key.back() - '0' + 1) + "n1";
  device.device_number = "259:" + std::to_string(key.back() - '0');
  device.diskseq = 7;
  device.kind = DeviceKind::local_ssd;
  device.evidence = "model 'Test SSD'";
  device.size = {1000000000};
  device.logical_block = 512;
  device.transport = "pcie";
  device.look = Look::none;
  device.content = Content::zero;
  return device;
}

inline Inventory machine(std::vector<BlockDevice> devices) {
  Inventory seen;
  seen.blocks = Facet<std::vector<BlockDevice>>::known(std::move(devices));
  seen.controllers = Facet<std::vector<NvmeController>>::known({});
  seen.exports = Facet<TargetConfiguration>::known({});
  seen.arrays = Facet<std::vector<MdArray>>::known({});
  seen.lvm = Facet<Lvm>::known({});
  seen.mounts = Facet<Mounts>::known({});
  HostIdentity identity;
  identity.computed = kHost;
  identity.boot_id = "boot-1";
  seen.identity = Facet<HostIdentity>::known(identity);
  Records records;
  records.fresh_generation = kGeneration;
  seen.records = Facet<Records>::known(records);
  return seen;
}

inline Spec spec_of_train() {
  Spec spec;
  VolumeSpec volume;
  volume.name = "train";
  volume.mount.path = "/mnt/train";
  spec.volumes.push_back(volume);
  return spec;
}

inline Action create_array(const std::vector<std::string>& keys) {
  const Uuid uuid = derive(kHost, "array", "train", kGeneration);
  Action action;
  action.id = "md.create:train";
  action.object = "volume:train";
  action.risk = Risk::writes_blank;
  Run run;
  run.argv = {std::string("mdadm"), std::string("--create"), std::string("/dev/md/nvs-train"), "--uuid=" + to_mdadm(uuid)};
  for (const std::string& key : keys) {
    action.writes.push_back({key});
    RequireContent look;
    look.device = {key};
    action.steps.emplace_back(look);
    run.argv.emplace_back(DeviceRef{{key}});
  }
  action.steps.emplace_back(run);
  return action;
}

inline std::set<std::string> ids(const std::vector<guard::Veto>& vetoes) {
  std::set<std::string> out;
  for (const guard::Veto& veto : vetoes) out.insert(veto.id);
  return out;
}

inline std::set<std::string> vetoes_on(const BlockDevice& device) { return ids(guard::unusable(device, machine({device}))); }

}  // namespace nvstripe::guard_world

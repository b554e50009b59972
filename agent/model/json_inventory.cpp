// Owns an Inventory as JSON. A facet that is unknown says so and why; it is never shown as an empty list.
#include "agent/model/json.hpp"
#include "agent/model/json_fields.hpp"

namespace nvstripe::json {

// Every field of these types is shown, in the order of inventory.hpp. One macro keeps each list on one line.
#define NVS_FIELD(name) visit(#name, v.name);
#define NVS_FIELDS(Type, ...)                              \
  template <>                                              \
  struct Fields<Type> {                                    \
    static void each(auto& visit, auto& v) { __VA_ARGS__ } \
  }
#define F NVS_FIELD

NVS_FIELDS(BlockQueue, F(scheduler) F(schedulers) F(read_ahead_kb) F(rq_affinity) F(nr_requests) F(max_sectors_kb)
                           F(wbt_lat_usec) F(nomerges));
NVS_FIELDS(NvmeController, F(kernel_name) F(subsystem_nqn) F(transport) F(state) F(traddr) F(trsvcid) F(host_traddr)
                               F(src_addr) F(hostnqn) F(hostid) F(model) F(serial) F(firmware) F(cntlid) F(queue_count)
                                   F(sqsize) F(kato) F(ctrl_loss_tmo) F(reconnect_delay) F(fast_io_fail_tmo));
NVS_FIELDS(TargetNamespace, F(nsid) F(device_path) F(uuid) F(nguid) F(enabled));
NVS_FIELDS(TargetSubsystem, F(nqn) F(serial) F(model) F(allow_any_host) F(allowed_hosts) F(namespaces));
NVS_FIELDS(TargetPort, F(id) F(trtype) F(adrfam) F(traddr) F(trsvcid) F(subsystems));
NVS_FIELDS(TargetConfiguration, F(loaded) F(ports) F(subsystems) F(hosts));
NVS_FIELDS(ArrayMember, F(device) F(slot) F(state));
NVS_FIELDS(MdArray, F(kernel_name) F(uuid) F(level) F(state) F(metadata) F(raid_disks) F(chunk) F(members));
NVS_FIELDS(LvmVolume, F(vg) F(name) F(uuid) F(tags) F(size) F(stripe_size) F(stripes) F(active));
NVS_FIELDS(LvmGroup, F(name) F(uuid) F(tags) F(missing_pvs) F(pvs) F(size) F(free) F(extent));
NVS_FIELDS(LvmPhysical, F(device) F(uuid) F(vg) F(duplicate));
NVS_FIELDS(Lvm, F(physicals) F(groups) F(volumes));
NVS_FIELDS(Mount, F(path) F(source) F(type) F(options) F(device_number) F(owner) F(group) F(mode));
NVS_FIELDS(Mounts, F(mounts) F(swaps) F(fstab_paths) F(path_kinds) F(no_accounts) F(units_not_loaded));
NVS_FIELDS(UnitFile, F(name) F(path) F(text));
NVS_FIELDS(Address, F(ip) F(prefix));
NVS_FIELDS(NetworkLink, F(name) F(operstate) F(mtu) F(speed_mbits) F(rx_queues) F(addresses));
NVS_FIELDS(RdmaDevice, F(name) F(netdev) F(port_state) F(roce_v2_addresses));
NVS_FIELDS(Kernel, F(release) F(cpus) F(memory) F(modules_loaded) F(modules_available) F(modules_listed) F(fabrics_options)
                       F(fabrics_node) F(module_parameters));
NVS_FIELDS(HostIdentity, F(product_uuid) F(machine_id) F(provider) F(availability_zone) F(from_spec) F(hostnqn_file)
                             F(computed) F(boot_id) F(hostname));
NVS_FIELDS(DiscoveredSubsystem, F(nqn) F(transport) F(traddr) F(trsvcid));
NVS_FIELDS(TargetView, F(connection) F(tcp) F(rdma) F(resolved_address) F(local_address) F(discovered) F(subsystems)
                           F(problem) F(tcp_problem) F(rdma_problem));
NVS_FIELDS(Sysctl, F(name) F(value) F(foreign_setter));

#undef F
#undef NVS_FIELDS
#undef NVS_FIELD

template <>
struct Fields<BlockDevice> {
  static void each(auto& visit, auto& v) {
    visit("key", v.key);
    visit("kernel_name", v.kernel_name);
    visit("kind", v.kind);
    visit("evidence", v.evidence);
    visit("ambiguous_key", v.ambiguous_key);
    visit("device_number", v.device_number);
    visit("diskseq", v.diskseq);
    visit("size", v.size);
    visit("logical_block_size", v.logical_block);
    visit("physical_block_size", v.physical_block);
    visit("model", printable(v.model));
    visit("serial", printable(v.serial));
    visit("firmware", printable(v.firmware));
    visit("wwid", printable(v.wwid));
    visit("uuid", v.uuid);
    visit("nguid", v.nguid);
    visit("eui64", v.eui64);
    visit("nsid", v.nsid == 0 ? std::nullopt : std::optional(v.nsid));
    visit("transport", v.transport);
    visit("subsystem_nqn", v.subsystem_nqn);
    visit("controllers", v.controllers);
    visit("parent", v.parent);
    visit("holders", v.holders);
    visit("slaves", v.slaves);
    visit("partitions", v.partitions);
    visit("read_only", v.read_only);
    visit("look", v.look);
    visit("look_reason", v.look_reason);
    visit("signatures", v.signatures);
    visit("content", v.content);
    visit("mount_points", v.mount_points);
    visit("swap", v.swap);
    visit("dm_name", v.dm_name);
    visit("queue", v.queue);
    visit("paths", v.paths);
    visit("path_queues", v.path_queues);
  }
};

namespace {

// "none", "unknown", "ambiguous", or the types found: what a table shows in one cell.
std::string signature_word(const BlockDevice& device) {
  if (device.look != Look::found) return std::string(to_text(device.look));
  std::vector<std::string> types;
  for (const Signature& signature : device.signatures) types.push_back(signature.type);
  return types.empty() ? "unknown" : join(types, ",");
}

template <class T>
boost::json::value to_facet(const Facet<T>& facet) {
  if (facet.is_known()) return to_value(facet.value());
  return boost::json::object{{"unavailable", to_value(facet.reason())}};
}

}  // namespace

boost::json::object to_json(const BlockDevice& device) { return fields_object(device); }

boost::json::object devices_document(const Inventory& seen, const std::vector<DeviceListing>& devices) {
  boost::json::object out = document();
  boost::json::array list;
  for (const DeviceListing& listing : devices) {
    if (listing.device == nullptr) continue;
    boost::json::object item = to_json(*listing.device);
    item["usable"] = listing.reasons.empty();
    item["reasons"] = to_value(listing.reasons);
    item["reason_ids"] = to_value(listing.reason_ids);
    item["signature"] = to_value(signature_word(*listing.device));
    list.push_back(std::move(item));
  }
  out["devices"] = std::move(list);
  out["captured"] = seen.captured;
  if (!seen.blocks.is_known()) out["unavailable"] = to_value(seen.blocks.reason());
  out["notes"] = to_value(seen.notes);
  return out;
}

boost::json::object inventory_document(const Inventory& seen) {
  boost::json::object out = document();
  out["captured"] = seen.captured;
  out["host"] = to_value(seen.host());
  out["blocks"] = to_facet(seen.blocks);
  out["controllers"] = to_facet(seen.controllers);
  out["exports"] = to_facet(seen.exports);
  out["arrays"] = to_facet(seen.arrays);
  out["lvm"] = to_facet(seen.lvm);
  out["mounts"] = to_facet(seen.mounts);
  out["units"] = to_facet(seen.units);
  out["links"] = to_facet(seen.links);
  out["rdma"] = to_facet(seen.rdma);
  out["kernel"] = to_facet(seen.kernel);
  out["tools"] = to_facet(seen.tools);
  out["identity"] = to_facet(seen.identity);
  out["targets"] = to_facet(seen.targets);
  out["sysctls"] = to_facet(seen.sysctls);
  if (seen.records.is_known()) {
    out["records"] = to_json(seen.records.value());
  } else {
    out["records"] = boost::json::object{{"unavailable", to_value(seen.records.reason())}};
  }
  out["notes"] = to_value(seen.notes);
  return out;
}

}  // namespace nvstripe::json

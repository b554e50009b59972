// Owns the look at LVM by its own reports. Without any PV signature nothing is run; otherwise lvm is shown the PVs that
// answer and nothing else, since it reads every device it is shown and one behind a dead target would hang it (law 12).
#include <algorithm>

#include "agent/base/text.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"
#include "collectors/reports.hpp"

namespace nvstripe::collectors {
namespace {

bool is_physical(const BlockDevice& device) {
  return std::any_of(device.signatures.begin(), device.signatures.end(),
                     [](const Signature& signature) { return signature.type == "LVM2_member"; });
}

// Whether I/O to it, or to what it is stacked on, would wait for a controller that is not live.
bool answers(const BlockDevice& device, const Inventory& seen, int depth = 0) {
  constexpr int kMaxDepth = 16;  // of a stack; a loop in what was read must not loop here
  if (depth > kMaxDepth) return false;
  if (!device.controllers.empty()) {
    const auto& controllers = seen.controllers.value();
    const bool live = std::any_of(controllers.begin(), controllers.end(), [&](const NvmeController& controller) {
      return controller.state == "live" && std::find(device.controllers.begin(), device.controllers.end(),
                                                     controller.kernel_name) != device.controllers.end();
    });
    if (!live) return false;
  }
  return std::all_of(device.slaves.begin(), device.slaves.end(), [&](const DeviceKey& key) {
    const BlockDevice* slave = seen.find(key);
    return slave == nullptr || answers(*slave, seen, depth + 1);
  });
}

const BlockDevice* by_path(const Inventory& seen, const std::string& path) {
  for (const BlockDevice& device : seen.blocks.value()) {
    const bool known = path == "/dev/" + device.kernel_name || path == "/dev/mapper/" + device.dm_name;
    if (known || std::find(device.links.begin(), device.links.end(), path) != device.links.end()) return &device;
  }
  return nullptr;
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> items;
  for (const std::string_view item : split(text, ',')) {
    if (!trim(item).empty()) items.emplace_back(trim(item));
  }
  return items;
}

Bytes bytes_of(const std::string& text) {  // "4194304B" before --nosuffix, "4194304" with it
  std::string_view digits = trim(text);
  if (!digits.empty() && digits.back() == 'B') digits.remove_suffix(1);
  return Bytes{parse_number(digits).value_or(0)};
}

std::uint32_t count_of(const std::string& text) { return static_cast<std::uint32_t>(parse_number(trim(text)).value_or(0)); }

// "duplicate", "1", "true", or empty.
bool is_set(const std::string& text) { return !text.empty() && text != "0" && text != "false" && text != "unknown"; }

void take_physicals(std::vector<Row> rows, const Inventory& seen, Lvm& lvm) {
  for (Row& row : rows) {
    if (row["pv_uuid"].empty()) continue;  // -a lists what is no PV, too
    const BlockDevice* device = by_path(seen, row["pv_name"]);
    LvmPhysical physical;
    if (device != nullptr) physical.device = device->key;
    physical.uuid = row["pv_uuid"];
    physical.vg = row["vg_name"];
    physical.duplicate = is_set(row["pv_duplicate"]);
    lvm.physicals.push_back(std::move(physical));
  }
}

void take_groups(std::vector<Row> rows, Lvm& lvm) {
  for (Row& row : rows) {
    LvmGroup group;
    group.name = row["vg_name"];
    group.uuid = row["vg_uuid"];
    group.tags = list_of(row["vg_tags"]);
    group.missing_pvs = count_of(row["vg_missing_pv_count"]);
    group.pvs = count_of(row["pv_count"]);
    group.size = bytes_of(row["vg_size"]);
    group.free = bytes_of(row["vg_free"]);
    group.extent = bytes_of(row["vg_extent_size"]);
    lvm.groups.push_back(std::move(group));
  }
}

void take_volumes(std::vector<Row> rows, const Inventory& seen, Lvm& lvm) {
  for (Row& row : rows) {
    LvmVolume volume;
    volume.vg = row["vg_name"];
    volume.name = row["lv_name"];
    volume.uuid = row["lv_uuid"];
    volume.tags = list_of(row["lv_tags"]);
    volume.size = bytes_of(row["lv_size"]);
    volume.stripe_size = bytes_of(row["stripe_size"]);
    volume.stripes = count_of(row["stripes"]);
    // What the kernel shows is the truth; the word in the report differs between versions.
    volume.active = seen.find(DeviceKey{"lv:" + volume.vg + "/" + volume.name}) != nullptr;
    lvm.volumes.push_back(std::move(volume));
  }
}

Result<std::vector<Row>> ask(const host::Reader& reader, const std::string& command, std::string_view what,
                             const std::vector<std::string>& devices) {
  TRY(const std::string output, reader.output(command, devices));
  auto rows = report_rows(output, what);
  if (!rows) return fail("cannot understand '" + command + "': " + rows.error().what, "report this with the output");
  return rows;
}

Result<Lvm> read_lvm(const host::Reader& reader, const Inventory& seen, const std::vector<std::string>& devices) {
  Lvm lvm;
  TRY(auto physicals, ask(reader, "lvm.pvs", "pv", devices));
  TRY(auto groups, ask(reader, "lvm.vgs", "vg", devices));
  TRY(auto volumes, ask(reader, "lvm.lvs", "lv", devices));
  take_physicals(std::move(physicals), seen, lvm);
  take_groups(std::move(groups), lvm);
  take_volumes(std::move(volumes), seen, lvm);
  return lvm;
}

}  // namespace

void observe_lvm(const host::Reader& reader, const Spec&, Inventory& seen) {
  if (!seen.blocks.is_known()) {
    seen.lvm = Facet<Lvm>::unavailable("which devices are LVM's cannot be seen: " + seen.blocks.reason());
    return;
  }
  std::vector<std::string> devices;
  bool any = false;
  for (const BlockDevice& device : seen.blocks.value()) {
    if (!is_physical(device)) continue;
    any = true;
    if (answers(device, seen))
      devices.push_back("/dev/" + device.kernel_name);
    else
      seen.notes.push_back("lvm is not asked about '" + device.kernel_name + "': its controller is not live");
  }
  if (devices.empty()) {
    seen.lvm = any ? Facet<Lvm>::unavailable("no device that carries LVM answers") : Facet<Lvm>::known({});
    return;
  }
  auto lvm = read_lvm(reader, seen, devices);
  seen.lvm = lvm ? Facet<Lvm>::known(std::move(*lvm)) : Facet<Lvm>::unavailable(lvm.error().what);
}

}  // namespace nvstripe::collectors

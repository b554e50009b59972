// Owns what is special about NVMe namespaces: their identifiers, and the way from namespace to subsystem to controllers by
// sysfs links, never by equal digits in names, with native multipath on, off or both on one machine.
#include <algorithm>
#include <array>

#include "agent/base/text.hpp"
#include "collectors/block.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

std::vector<std::string> controllers_in(const host::Reader& reader, const std::string& folder) {
  std::vector<std::string> controllers;
  if (const auto names = reader.list(folder)) {
    std::copy_if(names->begin(), names->end(), std::back_inserter(controllers),
                 [](const std::string& name) { return is_numbered(name, "nvme"); });
  }
  return controllers;
}

void find_controllers(const host::Reader& reader, const FoundDisk& disk, const FoundDisks& found, BlockDevice& device) {
  const std::string parent = folder_of(disk.folder);
  if (is_numbered(base_name(parent), "nvme")) {  // multipath is off, or this device cannot have several controllers
    device.controllers = {base_name(parent)};
    return;
  }
  const auto [from, to] = found.paths_of_head.equal_range(disk.name);
  for (auto at = from; at != to; ++at) {
    const FoundDisk& path = found.hidden_paths[at->second];
    device.paths.push_back(path.name);
    const std::string controller = base_name(folder_of(path.folder));
    if (is_numbered(controller, "nvme")) device.controllers.push_back(controller);
  }
  // A capture without the hidden devices: the subsystem's controllers, which reach all namespaces that are not private.
  if (device.controllers.empty()) device.controllers = controllers_in(reader, parent);
  std::sort(device.controllers.begin(), device.controllers.end());
}

std::string first_of(const host::Reader& reader, const std::vector<std::string>& folders, std::string_view attribute) {
  for (const std::string& folder : folders) {
    std::string text = reader.attribute(folder + "/" + std::string(attribute));
    if (!text.empty()) return text;
  }
  return {};
}

// Serial, model as the kernel writes them into a wwid of its own making (nvme_ns_head wwid_show).
std::string made_wwid(std::uint64_t pci_vendor, const BlockDevice& device) {
  const auto digits = [](const std::string& text) {
    return hex(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  const std::array<std::uint8_t, 2> vendor{static_cast<std::uint8_t>(pci_vendor >> 8u),
                                           static_cast<std::uint8_t>(pci_vendor)};
  const std::array<std::uint8_t, 4> nsid{
      static_cast<std::uint8_t>(device.nsid >> 24u), static_cast<std::uint8_t>(device.nsid >> 16u),
      static_cast<std::uint8_t>(device.nsid >> 8u), static_cast<std::uint8_t>(device.nsid)};
  return "nvme." + hex(vendor.data(), vendor.size()) + "-" + digits(device.serial) + "-" + digits(device.model) + "-" +
         hex(nsid.data(), nsid.size());
}

std::string joined(std::string_view text) {  // without separators
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '-') out += c;
  }
  return out;
}

// wwid's second field: "nvme.1d0f-…" names the vendor even where the PCI device was not captured.
std::optional<std::uint64_t> vendor_in_wwid(const std::string& wwid) {
  if (!has_prefix(wwid, "nvme.") || wwid.size() < 10) return std::nullopt;
  return parse_number(std::string_view(wwid).substr(5, 4), 16);
}

}  // namespace

void read_identifiers(const host::Reader& reader, const std::string& folder, std::optional<std::uint64_t> pci_vendor,
                      BlockDevice& device) {
  device.wwid = identifier(reader, folder + "/wwid");
  device.uuid = identifier(reader, folder + "/uuid");
  device.nguid = identifier(reader, folder + "/nguid");
  device.eui64 = identifier(reader, folder + "/eui");
  const auto nsid = number(reader, folder + "/nsid");
  device.nsid = nsid ? static_cast<std::uint32_t>(*nsid) : 0;
  if (device.wwid.empty() && !device.uuid.empty()) device.wwid = "uuid." + device.uuid;
  if (device.wwid.empty() && !device.nguid.empty()) device.wwid = "eui." + joined(device.nguid);
  if (device.wwid.empty() && !device.eui64.empty()) device.wwid = "eui." + joined(device.eui64);
  if (device.wwid.empty() && pci_vendor && !device.serial.empty() && device.nsid != 0) {
    device.wwid = made_wwid(*pci_vendor, device);
  }
  if (device.wwid.empty() || device.nsid == 0) return;
  device.key.text = "nvme:" + printable(device.wwid) + "/" + std::to_string(device.nsid);
}

void read_namespace(const host::Reader& reader, const FoundDisk& disk, const FoundDisks& found, BlockDevice& device,
                    DiskEvidence& evidence) {
  find_controllers(reader, disk, found, device);
  std::vector<std::string> folders{folder_of(disk.folder)};
  for (const std::string& name : device.controllers) folders.push_back("/sys/class/nvme/" + name);
  device.model = first_of(reader, folders, "model");
  device.serial = first_of(reader, folders, "serial");
  device.firmware = first_of(reader, folders, "firmware_rev");
  device.subsystem_nqn = first_of(reader, folders, "subsysnqn");
  device.transport = first_of(reader, folders, "transport");
  evidence.transport = device.transport;
  evidence.model = device.model;
  for (const std::string& folder : folders) {
    if (!evidence.pci_vendor) evidence.pci_vendor = number(reader, folder + "/device/vendor", 16);
    if (!evidence.pci_class) evidence.pci_class = number(reader, folder + "/device/class", 16);
    if (reader.entry(folder + "/device/physfn") != host::Entry::absent) evidence.virtual_function = true;
  }
  read_identifiers(reader, disk.folder, evidence.pci_vendor, device);
  if (!evidence.pci_vendor) evidence.pci_vendor = vendor_in_wwid(device.wwid);
}

}  // namespace nvstripe::collectors

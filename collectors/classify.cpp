// Owns the table of models. Sources: vendors' udev rules and documentation as listed in docs/host-tree.md; a row is added
// with its source and a fixture, never by likeness.
#include "collectors/classify.hpp"

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

struct ModelRow {
  std::string_view provider;
  std::string_view model;
  bool numbered;  // digits may follow
  std::uint64_t pci_vendor;
  DeviceKind kind;
  std::string_view meaning;
};

constexpr std::array<ModelRow, 8> kModels{{
    {"aws", "Amazon EC2 NVMe Instance Storage", false, 0x1d0f, DeviceKind::local_ssd, "AWS instance storage"},
    {"aws", "Amazon Elastic Block Store", false, 0x1d0f, DeviceKind::network_disk, "AWS EBS volume"},
    {"azure", "Microsoft NVMe Direct Disk", false, 0x1414, DeviceKind::local_ssd, "Azure local NVMe disk"},
    {"azure", "Microsoft NVMe Direct Disk v2", false, 0x1414, DeviceKind::local_ssd, "Azure local NVMe disk v2"},
    // OS and data disks alike, whatever the nsid.
    {"azure", "MSFT NVMe Accelerator v1.0", false, 0x1414, DeviceKind::network_disk, "Azure remote disk"},
    // Google's own rules name local SSDs nvme_card and nvme_card<N>; the -pd ones are persistent disks.
    {"gcp", "nvme_card", true, 0x1ae0, DeviceKind::local_ssd, "Google local SSD"},
    {"gcp", "nvme_card-pd", false, 0x1ae0, DeviceKind::network_disk, "Google persistent disk"},
    {"qemu", "QEMU NVMe Ctrl", false, 0x1b36, DeviceKind::local_ssd, "emulated NVMe drive"},
}};

// Makers of NVMe drives by PCI vendor. OCI passes whole drives of these through to its DenseIO shapes; network volumes
// there are iSCSI or virtio SCSI, never NVMe.
constexpr std::array<std::uint64_t, 21> kDriveMakers{0x144d, 0x8086, 0x025e, 0x1344, 0x1e0f, 0x1179, 0x1b96,
                                                     0x15b7, 0x1c58, 0x1c5c, 0x1bb1, 0x1c5f, 0x1e3b, 0xcc53,
                                                     0x19e5, 0x1cc4, 0xc0a9, 0x2646, 0x1987, 0x1e4b, 0x1dee};

// Makers of servers, as DMI's sys_vendor names them. Used where the CPU's flag could not be seen.
constexpr std::array<std::string_view, 21> kServerMakers{"Dell Inc.",
                                                         "HP",
                                                         "HPE",
                                                         "Hewlett Packard Enterprise",
                                                         "Lenovo",
                                                         "Supermicro",
                                                         "Intel Corporation",
                                                         "Inspur",
                                                         "Quanta Cloud Technology Inc.",
                                                         "GIGABYTE",
                                                         "Giga Computing",
                                                         "ASUSTeK COMPUTER INC.",
                                                         "ASRockRack",
                                                         "Cisco Systems Inc",
                                                         "FUJITSU",
                                                         "Wiwynn",
                                                         "TYAN",
                                                         "Oracle Corporation",
                                                         "NVIDIA",
                                                         "Huawei",
                                                         "H3C"};

// As DMI names machines that are not real: a hypervisor can hide the CPU's flag, and seldom hides these.
constexpr std::array<std::string_view, 16> kVirtualMakers{"QEMU",
                                                          "VMware, Inc.",
                                                          "VMware",
                                                          "innotek GmbH",
                                                          "Xen",
                                                          "Parallels",
                                                          "Parallels Software International Inc.",
                                                          "Microsoft Corporation",
                                                          "Google",
                                                          "Amazon EC2",
                                                          "Alibaba Cloud",
                                                          "DigitalOcean",
                                                          "OpenStack Foundation",
                                                          "Red Hat",
                                                          "Nutanix",
                                                          "oVirt"};

template <class List, class Value>
bool contains(const List& list, const Value& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool model_matches(const ModelRow& row, std::string_view model) {
  return model == row.model || (row.numbered && is_numbered(model, row.model));
}

std::string hex_text(std::uint64_t value) {
  const std::array<std::uint8_t, 2> bytes{static_cast<std::uint8_t>(value >> 8u), static_cast<std::uint8_t>(value)};
  return "0x" + hex(bytes.data(), bytes.size());
}

Verdict by_model(const ModelRow& row, const MachineEvidence& machine, const DiskEvidence& disk) {
  const std::string model = "model '" + std::string(row.model) + "'";
  if (!machine.provider.empty() && machine.provider != row.provider) {
    return {DeviceKind::other, model + " belongs to provider '" + std::string(row.provider) + "', and this machine is of '" +
                                   machine.provider + "'"};
  }
  if (disk.pci_vendor && *disk.pci_vendor != row.pci_vendor) {
    return {DeviceKind::other, model + " comes with PCI vendor " + hex_text(row.pci_vendor) + ", and this one has " +
                                   hex_text(*disk.pci_vendor)};
  }
  const bool by_provider = machine.provider == row.provider;
  // Anybody's emulator can show this model: only a machine that says it is QEMU's makes it a drive of the machine.
  if (row.provider == "qemu" && !by_provider)
    return {DeviceKind::other, model + " on a machine whose DMI does not name QEMU"};
  if (!by_provider && !disk.pci_vendor) {
    return {DeviceKind::other, model + ", but neither DMI nor the PCI vendor could be seen to confirm it"};
  }
  std::string evidence = std::string(row.meaning) + ": " + model;
  if (disk.pci_vendor) evidence += ", PCI vendor " + hex_text(*disk.pci_vendor);
  if (by_provider) evidence += ", on " + machine.provider;
  return {row.kind, evidence};
}

// A real machine by two looks: DMI does not name a hypervisor, and the CPU's flag says none or DMI names a server maker.
bool is_bare_metal(const MachineEvidence& machine) {
  if (machine.sys_vendor.empty() || contains(kVirtualMakers, machine.sys_vendor)) return false;
  if (machine.hypervisor) return !*machine.hypervisor;
  return contains(kServerMakers, machine.sys_vendor);
}

Verdict whole_drive(const MachineEvidence& machine, const DiskEvidence& disk) {
  const std::string unknown = "model '" + printable(disk.model) + "' is not in the table of known models";
  const bool oci = machine.provider == "oci";
  if (!oci && !is_bare_metal(machine)) return {DeviceKind::other, unknown + ", and this is not seen to be a bare machine"};
  if (!disk.pci_vendor || !contains(kDriveMakers, *disk.pci_vendor)) {
    return {DeviceKind::other, unknown + ", and its PCI vendor is no known maker of drives"};
  }
  if (disk.virtual_function) return {DeviceKind::other, unknown + ", and it is a virtual function of a PCI device"};
  constexpr std::uint64_t kNvmeClass = 0x0108;  // mass storage, non-volatile memory; the last byte is the interface
  if (!disk.pci_class || *disk.pci_class >> 8u != kNvmeClass) {
    return {DeviceKind::other, unknown + ", and its PCI class is not that of an NVMe drive"};
  }
  return {DeviceKind::local_ssd, "drive '" + printable(disk.model) + "' of PCI vendor " + hex_text(*disk.pci_vendor) +
                                     (oci ? ", passed through whole by oci" : ", on a bare machine")};
}

Verdict scsi(const DiskEvidence& disk) {
  if (disk.vendor == "Google" && disk.model == "PersistentDisk") {
    return {DeviceKind::network_disk, "Google persistent disk: SCSI model 'PersistentDisk'"};
  }
  if (disk.vendor == "ORACLE" && disk.model == "BlockVolume") {
    return {DeviceKind::network_disk, "OCI block volume: SCSI model 'BlockVolume'"};
  }
  // Azure's temporary disk and its remote disks look alike here.
  return {DeviceKind::other,
          "SCSI disk '" + printable(disk.vendor + " " + disk.model) + "': nothing shows what is behind it"};
}

}  // namespace

MachineEvidence machine_evidence(const host::Reader& reader, const Inventory& seen) {
  MachineEvidence machine;
  machine.provider = seen.identity.value().provider;
  machine.sys_vendor = reader.attribute("/sys/class/dmi/id/sys_vendor");
  const auto cpus = reader.file("/proc/cpuinfo");
  const std::size_t at = cpus ? cpus->find("\nflags\t") : std::string::npos;
  if (at != std::string::npos) {
    const std::string_view line = std::string_view(*cpus).substr(at + 1, cpus->find('\n', at + 1) - at - 1);
    machine.hypervisor = contains(words(line), std::string_view("hypervisor"));
  }
  return machine;
}

Verdict classify(const MachineEvidence& machine, const DiskEvidence& disk) {
  if (disk.transport == "rdma" || disk.transport == "tcp" || disk.transport == "fc" || disk.transport == "loop") {
    return {DeviceKind::remote_namespace, "namespace over NVMe/" + disk.transport};
  }
  if (disk.transport == "scsi") return scsi(disk);
  if (disk.transport == "virtio") return {DeviceKind::other, "virtio disk: nothing shows what is behind it"};
  if (disk.transport != "pcie") {
    return {DeviceKind::other, disk.transport.empty() ? "its transport could not be seen"
                                                      : "transport '" + printable(disk.transport) + "' is not known"};
  }
  for (const ModelRow& row : kModels) {
    if (model_matches(row, disk.model)) return by_model(row, machine, disk);
  }
  return whole_drive(machine, disk);
}

}  // namespace nvstripe::collectors

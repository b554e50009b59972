// Owns the look at NVMe controllers of /sys/class/nvme. A controller that goes away while it is read is left out and said:
// every attribute may fail. Reads what the kernel remembers; asks nothing of the device.
#include "agent/base/text.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

constexpr std::string_view kClass = "/sys/class/nvme";

// "traddr=10.9.0.1,trsvcid=4420,src_addr=10.9.0.2" for fabrics, a PCI address for pcie.
void read_address(const std::string& text, NvmeController& controller) {
  if (text.find('=') == std::string::npos) {
    controller.traddr = text;
    return;
  }
  for (const std::string_view part : split(text, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = trim(part.substr(0, equals));
    const std::string value(trim(part.substr(equals + 1)));
    if (name == "traddr")
      controller.traddr = value;
    else if (name == "trsvcid")
      controller.trsvcid = value;
    else if (name == "host_traddr")
      controller.host_traddr = value;
    else if (name == "src_addr")
      controller.src_addr = value;
  }
}

// "off" for time-outs that never end is left empty: the reader must not take it for a number.
std::optional<std::uint64_t> limit(const host::Reader& reader, const std::string& path) { return number(reader, path); }

bool read_controller(const host::Reader& reader, const std::string& name, NvmeController& controller) {
  const std::string folder = std::string(kClass) + "/" + name + "/";
  controller.kernel_name = name;
  controller.transport = reader.attribute(folder + "transport");
  controller.state = reader.attribute(folder + "state");
  controller.subsystem_nqn = reader.attribute(folder + "subsysnqn");
  controller.hostnqn = reader.attribute(folder + "hostnqn");
  controller.hostid = reader.attribute(folder + "hostid");
  controller.model = reader.attribute(folder + "model");
  controller.serial = reader.attribute(folder + "serial");
  controller.firmware = reader.attribute(folder + "firmware_rev");
  controller.cntlid = number(reader, folder + "cntlid");
  controller.queue_count = number(reader, folder + "queue_count");
  controller.sqsize = number(reader, folder + "sqsize");
  controller.kato = number(reader, folder + "kato");
  controller.ctrl_loss_tmo = limit(reader, folder + "ctrl_loss_tmo");
  controller.reconnect_delay = limit(reader, folder + "reconnect_delay");
  controller.fast_io_fail_tmo = limit(reader, folder + "fast_io_fail_tmo");
  read_address(reader.attribute(folder + "address"), controller);
  return !controller.transport.empty() || !controller.state.empty() || !controller.model.empty();
}

bool has_nvme_block_device(const host::Reader& reader) {
  for (const std::string_view folder : {"/sys/block", "/sys/class/block"}) {
    const auto names = reader.list(folder);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (has_prefix(name, "nvme")) return true;
    }
  }
  return false;
}

}  // namespace

void observe_nvme(const host::Reader& reader, const Spec&, Inventory& seen) {
  using Controllers = Facet<std::vector<NvmeController>>;
  const auto names = reader.list(kClass);
  if (!names) {
    const bool none = is_errno(names.error(), ENOENT) && is_class_absent(reader, "nvme") && !has_nvme_block_device(reader);
    seen.controllers = none ? Controllers::known({}) : Controllers::unavailable(names.error().what);
    return;
  }
  std::vector<NvmeController> controllers;
  for (const std::string& name : *names) {
    if (!is_numbered(name, "nvme")) continue;
    NvmeController controller;
    if (read_controller(reader, name, controller))
      controllers.push_back(std::move(controller));
    else
      seen.notes.push_back("nothing could be read of controller '" + name + "': it went away, or was not captured");
  }
  seen.controllers = Controllers::known(std::move(controllers));
}

}  // namespace nvstripe::collectors

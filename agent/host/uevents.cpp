// Owns the libudev monitor. The only user of libudev.
#include "agent/host/uevents.hpp"

#include <libudev.h>
#include <poll.h>

#include <array>
#include <string_view>

namespace nvstripe::host {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<const char*, 4> kSubsystems = {"block", "nvme", "net", "infiniband"};
// A thousand namespaces come at once: the socket must hold what comes while an action runs.
constexpr int kReceiveBuffer = 16 << 20;

struct UnrefUdev {
  void operator()(udev* library) const { udev_unref(library); }
};
struct UnrefMonitor {
  void operator()(udev_monitor* monitor) const { udev_monitor_unref(monitor); }
};
struct UnrefDevice {
  void operator()(udev_device* device) const { udev_device_unref(device); }
};

std::string_view text(const char* value) { return value == nullptr ? std::string_view() : std::string_view(value); }

class Monitor : public Uevents {
 public:
  Monitor(std::unique_ptr<udev, UnrefUdev> library, std::unique_ptr<udev_monitor, UnrefMonitor> monitor)
      : library_(std::move(library)), monitor_(std::move(monitor)) {}

  [[nodiscard]] int fd() const override { return udev_monitor_get_fd(monitor_.get()); }
  [[nodiscard]] bool drain() override {
    bool any = false;
    for (;;) {
      const std::unique_ptr<udev_device, UnrefDevice> device(udev_monitor_receive_device(monitor_.get()));
      if (!device) return any || errno == ENOBUFS;  // what was lost may have mattered
      any = any || matters(text(udev_device_get_subsystem(device.get())), text(udev_device_get_sysname(device.get())),
                           text(udev_device_get_action(device.get())));
    }
  }

 private:
  std::unique_ptr<udev, UnrefUdev> library_;
  std::unique_ptr<udev_monitor, UnrefMonitor> monitor_;
};

}  // namespace

bool matters(std::string_view subsystem, std::string_view sysname, std::string_view action) {
  if (subsystem != "block") return true;
  if (action == "bind" || action == "unbind") return false;
  return !sysname.starts_with("loop") && !sysname.starts_with("ram") && !sysname.starts_with("zram");
}

Result<std::unique_ptr<Uevents>> Uevents::open() {
  std::unique_ptr<udev, UnrefUdev> library(udev_new());
  if (!library) return fail_errno("cannot use libudev");
  std::unique_ptr<udev_monitor, UnrefMonitor> monitor(udev_monitor_new_from_netlink(library.get(), "udev"));
  if (!monitor) return fail_errno("cannot listen to udev's events");
  for (const char* subsystem : kSubsystems) {
    if (udev_monitor_filter_add_match_subsystem_devtype(monitor.get(), subsystem, nullptr) < 0)
      return fail("cannot filter udev's events");
  }
  (void)udev_monitor_set_receive_buffer_size(monitor.get(), kReceiveBuffer);  // without the right to it the default must do
  if (udev_monitor_enable_receiving(monitor.get()) < 0) return fail("cannot listen to udev's events");
  return std::make_unique<Monitor>(std::move(library), std::move(monitor));
}

bool Uevents::wait(std::chrono::milliseconds most, std::chrono::milliseconds swarm) {
  const auto due = Clock::now() + most;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due - Clock::now()).count();
    pollfd polled{fd(), POLLIN, 0};
    const int ready = ::poll(&polled, 1, left < 0 ? 0 : static_cast<int>(left));
    if (ready > 0 && drain()) break;
    if (left <= 0) return false;
  }
  pollfd polled{fd(), POLLIN, 0};
  for (int i = 0; i < 10 && ::poll(&polled, 1, static_cast<int>(swarm.count())) > 0; ++i) (void)drain();
  return true;
}

}  // namespace nvstripe::host

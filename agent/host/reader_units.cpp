// Owns the question to PID 1 which units it has in memory. Asked by its own socket, since a message bus may not be there.
#include <systemd/sd-bus.h>

#include <cerrno>
#include <memory>

#include "agent/host/reader_root.hpp"

namespace nvstripe::host {
namespace {

constexpr std::uint64_t kAnswerMicroseconds = 1'000'000;  // it is silent for seconds while it reloads

struct CloseBus {
  void operator()(sd_bus* bus) const { sd_bus_close_unref(bus); }
};
using Bus = std::unique_ptr<sd_bus, CloseBus>;

Result<Bus> manager() {
  sd_bus* made = nullptr;
  if (const int code = sd_bus_new(&made); code < 0) return fail_errno("cannot speak with systemd", -code);
  Bus bus(made);
  int code = sd_bus_set_address(bus.get(), "unix:path=/run/systemd/private");
  if (code >= 0) code = sd_bus_set_method_call_timeout(bus.get(), kAnswerMicroseconds);
  if (code >= 0) code = sd_bus_start(bus.get());
  if (code < 0) return fail_errno("cannot speak with systemd", -code);
  return bus;
}

// GetUnit answers for what is in memory alone; LoadUnit would load it.
Result<bool> is_loaded(sd_bus* bus, const std::string& unit) {
  sd_bus_error error = SD_BUS_ERROR_NULL;
  const int code = sd_bus_call_method(bus, nullptr, "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager",
                                      "GetUnit", &error, nullptr, "s", unit.c_str());
  const bool none = sd_bus_error_has_name(&error, "org.freedesktop.systemd1.NoSuchUnit") > 0;
  sd_bus_error_free(&error);
  if (none) return false;
  if (code < 0) return fail_errno("systemd does not say whether '" + unit + "' is loaded", -code);
  return true;
}

}  // namespace

Result<std::string> live_units_not_loaded(const std::vector<std::string>& units) {
  TRY(const Bus bus, manager());
  std::string out;
  for (const std::string& unit : units) {
    TRY(const bool loaded, is_loaded(bus.get(), unit));
    if (!loaded) out += unit + "\n";
  }
  return out;
}

}  // namespace nvstripe::host

// Owns the pure half of fabrics.hpp: option lines, addresses, the meaning of errors.
#include "agent/host/fabrics.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "agent/base/text.hpp"

namespace nvstripe::host {
namespace {

bool said(std::string_view kernel, std::string_view part) { return kernel.find(part) != std::string_view::npos; }

std::string where(const Connect& step) { return "'" + step.traddr + ":" + step.trsvcid + "' by " + step.transport; }

struct Meaning {
  std::string why, remedy;
};

Meaning refused_meaning(const Connect& step, std::string_view kernel) {
  if (said(kernel, "is not allowed")) {
    return {"the target does not allow this host",
            "add host '" + step.hostnqn + "' to 'allow' of the export on the storage VM"};
  }
  if (said(kernel, "Invalid Data Parameter, subsysnqn") || said(kernel, "subsysnqn")) {
    return {"the target has no subsystem of this name on that port", "check 'subsystem' of the connection, and the export"};
  }
  return {"the target refused the connection: this host is not allowed, or there is no such subsystem",
          "compare 'allow' on the storage VM with this host's NQN '" + step.hostnqn + "'"};
}

Meaning meaning_of(const Connect& step, int code, std::string_view kernel) {
  const bool rdma = step.transport == "rdma";
  switch (code) {
    case EIO:
      return refused_meaning(step, kernel);
    case ECONNREFUSED:
      return {"nothing listens there", "start the export on the storage VM; it is tried again"};
    case ECONNRESET:
      if (!rdma) return {"the target closed the connection", "check the target's log"};
      return {"nothing listens there by RDMA, or it cannot be reached",
              "check the export's port and both RoCE links; it is tried again"};
    case ETIMEDOUT:
      return {"the target does not answer", "check that the storage VM is up and reachable; it is tried again"};
    case ENETUNREACH:
    case EHOSTUNREACH:
      return {"there is no route to the target", "check this machine's addresses and routes"};
    case EADDRNOTAVAIL:
      return {"this machine does not have the address '" + step.host_traddr + "'", "check this machine's addresses"};
    case EADDRINUSE:
      return {"the host NQN is in use with other options", "see 'nvstripe identity'"};
    case ENODEV:
      return {"this machine has no suitable " + step.transport + " device",
              "check the network interface and its RDMA device"};
    case ENOMEM:
      return {"the kernel or the adapter is short of resources for the queues", "fewer connections or queues are needed"};
    case EINVAL:
      if (said(kernel, "hostid") || said(kernel, "host id")) {
        return {"the kernel knows this host's id with another host NQN",
                "disconnect what was connected under another identity, or reboot"};
      }
      return {"the kernel does not accept the options",
              "load module 'nvme-" + step.transport + "' of exactly the running kernel, see the kernel log"};
    default:
      return {"the kernel refused", "see the kernel log"};
  }
}

}  // namespace

std::vector<std::string> parse_known_options(std::string_view text) {
  std::vector<std::string> names;
  for (const auto item : split(trim(text), ',')) {
    const auto name = trim(item.substr(0, item.find('=')));
    if (!name.empty() && name != "instance" && name != "cntlid") names.emplace_back(name);
  }
  return names;
}

std::string option_line(const Connect& step, const std::vector<std::string>& known) {
  std::string line = "transport=" + step.transport + ",traddr=" + step.traddr;
  const auto add = [&](std::string_view name, const std::string& value) {
    const bool offered = known.empty() || std::find(known.begin(), known.end(), name) != known.end();
    if (offered && !value.empty()) line += "," + std::string(name) + "=" + value;
  };
  const auto number = [](std::uint32_t value) { return value == 0 ? std::string() : std::to_string(value); };
  add("trsvcid", step.trsvcid);
  add("nqn", step.nqn);
  add("host_traddr", step.host_traddr);
  add("hostnqn", step.hostnqn);
  add("hostid", step.hostid);
  if (step.nqn == kDiscoveryNqn) return line;  // has an admin queue only and no loss policy
  add("nr_io_queues", number(step.nr_io_queues));
  add("queue_size", number(step.queue_size));
  add("keep_alive_tmo", number(step.keep_alive_tmo));
  add("reconnect_delay", number(step.reconnect_delay));
  add("ctrl_loss_tmo", std::to_string(step.ctrl_loss_tmo));
  add("fast_io_fail_tmo", std::to_string(step.fast_io_fail_tmo));
  return line;
}

bool same_address(std::string_view a, std::string_view b) {
  if (a == b) return true;
  std::array<unsigned char, sizeof(in6_addr)> left{}, right{};
  const std::string a_text(a.substr(0, a.find('%'))), b_text(b.substr(0, b.find('%')));
  for (const int family : {AF_INET, AF_INET6}) {
    if (::inet_pton(family, a_text.c_str(), left.data()) == 1 && ::inet_pton(family, b_text.c_str(), right.data()) == 1) {
      return left == right;
    }
  }
  return false;
}

const NvmeController* find_controller(const std::vector<NvmeController>& all, std::string_view nqn,
                                      std::string_view transport, std::string_view traddr, std::string_view trsvcid) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const NvmeController& one) {
    return one.subsystem_nqn == nqn && one.transport == transport && one.trsvcid == trsvcid &&
           same_address(one.traddr, traddr);
  });
  return found == all.end() ? nullptr : &*found;
}

bool lacks_resources(int code, std::string_view kernel_said) {
  return code == ENOMEM || code == ENOSPC || code == EAGAIN || said(kernel_said, "no resources") ||
         said(kernel_said, "no QP");
}

Error connect_error(const Connect& step, int code, std::string_view kernel_said) {
  const auto meaning = meaning_of(step, code, kernel_said);
  const std::error_code cause(code, std::system_category());
  return {"cannot connect '" + step.nqn + "' at " + where(step) + ": " + meaning.why + " (" + cause.message() + ")",
          meaning.remedy, cause};
}

}  // namespace nvstripe::host

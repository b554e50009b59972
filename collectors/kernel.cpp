// Owns what the kernel is and can: release, CPUs, memory, the modules we ask about, their parameters, connect options.
// "Built in" counts as loaded. Loads nothing.
#include <algorithm>
#include <array>

#include "agent/base/text.hpp"
#include "collectors/collectors.hpp"
#include "collectors/look.hpp"

namespace nvstripe::collectors {
namespace {

constexpr std::array<std::string_view, 18> kModules{
    "nvme_core", "nvme",  "nvme_fabrics", "nvme_rdma", "nvme_tcp", "nvmet", "nvmet_rdma", "nvmet_tcp", "configfs",
    "raid0",     "raid1", "raid10",       "raid456",   "dm_mod",   "xfs",   "ib_core",    "rdma_cm",   "rdma_rxe"};

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kParameters{
    {{"nvme_core", "multipath"},
     {"nvme_core", "io_timeout"},
     {"nvme_core", "admin_timeout"},
     {"nvme_core", "max_retries"},
     {"nvme_core", "default_ps_max_latency_us"},
     {"nvme", "poll_queues"},
     {"nvme", "write_queues"},
     {"nvme_tcp", "so_priority"},
     {"raid0", "default_layout"},
     {"nvme_rdma", "register_always"}}};

// "0-3,8,10-11"
std::uint32_t count_cpus(std::string_view text) {
  std::uint64_t count = 0;
  for (const std::string_view part : split(text, ',')) {
    const std::vector<std::string_view> ends = split(part, '-');
    const auto first = parse_number(ends.front());
    const auto last = parse_number(ends.back());
    if (first && last && *last >= *first) count += *last - *first + 1;
  }
  return static_cast<std::uint32_t>(count);
}

Bytes memory_of(const std::string& meminfo) {
  for (const std::string_view line : split(meminfo, '\n')) {
    const std::vector<std::string_view> fields = words(line);
    if (fields.size() >= 2 && fields[0] == "MemTotal:") return Bytes{parse_number(fields[1]).value_or(0) * 1024};
  }
  return {};
}

// Names of the modules files list, "kernel/drivers/nvme/host/nvme-rdma.ko.xz: …" → "nvme_rdma".
std::vector<std::string> names_in(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string_view line : split(text, '\n')) {
    const std::string_view path = line.substr(0, line.find(':'));
    std::string name = base_name(path);
    name = name.substr(0, name.find(".ko"));
    std::replace(name.begin(), name.end(), '-', '_');
    if (std::find(kModules.begin(), kModules.end(), name) != kModules.end()) names.push_back(name);
  }
  return names;
}

bool has(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

void read_modules(const host::Reader& reader, Kernel& kernel, Inventory& seen) {
  const std::string folder = "/lib/modules/" + kernel.release + "/";
  const auto available = reader.file(folder + "modules.dep");
  const auto builtin = reader.file(folder + "modules.builtin");
  const std::vector<std::string> inside = builtin ? names_in(*builtin) : std::vector<std::string>{};
  kernel.modules_listed = available || !reader.captured();  // a live kernel without the file loads none
  if (available)
    kernel.modules_available = names_in(*available);
  else
    seen.notes.push_back("which modules can be loaded cannot be seen: " + available.error().what);
  for (const std::string_view name : kModules) {
    if (has(inside, name) || reader.entry("/sys/module/" + std::string(name)) != host::Entry::absent) {
      kernel.modules_loaded.emplace_back(name);
    }
  }
}

Result<std::string> release_of(const host::Reader& reader) {
  const auto text = reader.file("/proc/sys/kernel/osrelease");
  if (text && !trim(*text).empty()) return std::string(trim(*text));
  const std::string version = reader.attribute("/proc/version");  // "Linux version 6.1.0-28-amd64 (…"
  const std::vector<std::string_view> fields = words(version);
  if (fields.size() > 2 && fields[0] == "Linux") return std::string(fields[2]);
  if (!text) return tl::unexpected(text.error());
  return fail("'/proc/sys/kernel/osrelease' is empty");
}

void read_fabrics(const host::Reader& reader, Kernel& kernel) {
  kernel.fabrics_node = reader.entry("/dev/nvme-fabrics") != host::Entry::absent;
  const auto text = reader.file("/dev/nvme-fabrics");
  if (!text) return;
  std::string options(trim(*text));
  std::replace(options.begin(), options.end(), ',', ' ');
  for (const std::string_view option : words(options))
    kernel.fabrics_options.emplace_back(option.substr(0, option.find('=')));
}

}  // namespace

void observe_kernel(const host::Reader& reader, const Spec&, Inventory& seen) {
  const auto release = release_of(reader);
  if (!release) {
    seen.kernel = Facet<Kernel>::unavailable(release.error().what);
    return;
  }
  Kernel kernel;
  kernel.release = *release;
  kernel.cpus = count_cpus(reader.attribute("/sys/devices/system/cpu/online"));
  if (const auto memory = reader.file("/proc/meminfo")) kernel.memory = memory_of(*memory);
  read_modules(reader, kernel, seen);
  for (const auto& [module, name] : kParameters) {
    const std::string value = reader.attribute("/sys/module/" + std::string(module) + "/parameters/" + std::string(name));
    if (!value.empty()) kernel.module_parameters[std::string(module) + "." + std::string(name)] = value;
  }
  read_fabrics(reader, kernel);
  seen.kernel = Facet<Kernel>::known(std::move(kernel));
}

}  // namespace nvstripe::collectors

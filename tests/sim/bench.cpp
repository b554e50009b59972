// Owns how a simulated machine is driven and filled, and what its end state is. Decides nothing that the agent decides.
#include "tests/sim/bench.hpp"

#include <algorithm>

#include "tests/support/seen.hpp"

namespace nvstripe::sim {
namespace {
constexpr int kMaxPasses = 60;
}

const PassReport& Bench::pass(const Permission& permission) {
  auto report = daemon->pass(spec, permission, now_ms);
  if (!report) throw Broken("pass: " + report.error().what);
  last = std::move(*report);
  return last;
}

const PassReport& Bench::settle(const Permission& permission) {
  for (int i = 0; i < kMaxPasses; ++i) {
    pass(permission);
    const auto next = daemon->next_try_ms();
    if (last.outcomes.empty() && !next) return last;
    if (next) now_ms = std::max(now_ms, *next);
    now_ms += 1000;
  }
  std::string why = "it does not come to rest:";
  for (const ActionOutcome& outcome : last.outcomes) why += "\n  " + outcome.id + ": " + outcome.error;
  throw Broken(why + "\n" + plan_text(last.plan));
}

const PassReport& Bench::command(const Reconciler::DraftOf& draft) {
  auto report = daemon->carry_out(spec, draft, {true, {}}, now_ms);
  if (!report) throw Broken("command: " + report.error().what);
  last = std::move(*report);
  return last;
}

bool Bench::settle_or_crash(const Permission& permission) {
  try {
    settle(permission);
    return false;
  } catch (const Crash&) {
    clock.never();
    host.end_action();
    return true;
  }
}

Inventory Bench::look() {
  Inventory seen = host.look(spec, kAllFacets);
  seen.records = Facet<Records>::known(*journal.records());
  return seen;
}

int Bench::destructive(const std::string& what) const {
  return static_cast<int>(std::count_if(host.destructive.begin(), host.destructive.end(),
                                        [&](const std::string& line) { return line.find(what) != std::string::npos; }));
}

bool Bench::has_conflict(const std::string& id) const {
  const auto& all = last.plan.conflicts;
  return std::any_of(all.begin(), all.end(), [&](const Conflict& conflict) { return conflict.id == id; });
}

void add_targets_and_volume(Bench& bench, unsigned drives, unsigned members, Stack stack) {
  unsigned number = 0x100;
  for (const std::string name : {"s1", "s2"}) {
    Target target;
    target.connection = name;
    target.address = name == "s1" ? "10.9.0.1" : "10.9.0.2";
    target.nqn = seen::subsystem_nqn(name);
    for (unsigned i = 1; i <= drives; ++i) {
      const Uuid id = derive(seen::other_host_id(), "ns", name, ++number);
      target.namespaces.push_back({i, to_text(id), blank_media()});
    }
    bench.host.targets.push_back(std::move(target));
    bench.spec.connections.push_back(seen::connection(name, bench.host.targets.back().address));
  }
  bench.spec.volumes.push_back(seen::volume("train", {"s1", "s2"}, members));
  bench.spec.volumes.back().stack = stack;
  bench.host.path_kinds["/mnt/train"] = "absent";
}

void add_local_ssds(Bench& bench, unsigned count) {
  for (unsigned i = 1; i <= count; ++i) bench.host.drives.push_back({seen::local_ssd(i), blank_media(), Look::none});
  for (unsigned i = 1; i <= count; ++i) {
    NvmeController controller = seen::controller("nvme" + std::to_string(i), seen::local_ssd(i).subsystem_nqn, "pcie",
                                                 "0000:00:0" + std::to_string(i));
    controller.hostnqn.clear();
    bench.host.base.controllers.value().push_back(controller);
  }
}

void add_local_volume(Bench& bench, const std::string& name, unsigned members, Stack stack) {
  bench.spec.volumes.push_back(seen::volume(name, {"local_ssd"}, members));
  bench.spec.volumes.back().stack = stack;
  bench.host.path_kinds["/mnt/" + name] = "absent";
}

void add_pool(Bench& bench, const std::string& name, const std::vector<std::string>& hosts, unsigned slices) {
  bench.spec.exports.push_back(seen::pool(name, hosts));
  ExportSpec& pool = bench.spec.exports.back();
  pool.slices = slices;
  for (AllowedHost& allowed : pool.allow) {
    if (slices > 1) allowed.slices = slices / static_cast<unsigned>(hosts.size());
  }
}

std::string end_state(Bench& bench) {
  const Inventory seen = bench.look();
  std::vector<std::string> lines;
  for (const auto& [path, key] : bench.host.mounted) lines.push_back("mounted " + path);
  for (const Array& array : bench.host.arrays) {
    std::string line = "array " + array.name + " " + array.state;
    for (const DeviceKey& member : array.members) line += " " + member.text;
    lines.push_back(line);
  }
  for (const std::string& lv : bench.host.active)
    lines.push_back("active " + lv.substr(0, lv.find_last_of('_')) + lv.substr(lv.find('/')));
  for (const Controller& controller : bench.host.controllers)
    lines.push_back("controller " + controller.nqn + " " + controller.transport);
  for (const TargetSubsystem& subsystem : bench.host.nvmet.subsystems) {
    for (const TargetNamespace& ns : subsystem.namespaces)
      lines.push_back("serves " + subsystem.nqn + "/" + std::to_string(ns.nsid) + (ns.enabled ? " enabled" : ""));
  }
  for (const TargetPort& port : bench.host.nvmet.ports) {
    for (const std::string& nqn : port.subsystems) lines.push_back("port " + port.trtype + " " + port.traddr + " " + nqn);
  }
  for (const auto& [path, text] : bench.host.files) lines.push_back("file " + path);
  for (const VolumeRecord& record : bench.journal.kept.volumes)
    lines.push_back("record " + record.name + " " + std::string(to_text(record.stage)) + " " + record.mount_path);
  for (const auto& [name, value] : bench.host.settings) {
    if (!name.starts_with("md:") && !name.starts_with("lv:")) lines.push_back("setting " + name + "=" + value);
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace nvstripe::sim

// Owns what the spec no longer names, or what lost its drive: subsystems, namespaces, links and ports of ours. Order as
// configfs wants it: unlink from ports, remove namespaces, unlink hosts, remove the subsystem; ports last. What is
// not ours is never touched. Withdrawing what a host may use waits for apply.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "configurators/export_listen.hpp"
#include "configurators/export_names.hpp"
#include "configurators/export_wishes.hpp"
#include "configurators/exports.hpp"

namespace nvstripe::configure {
namespace {

struct OurSubsystem {
  std::string export_name;
  std::vector<ExportRecord> records;  // live ones
};

// By the ledger, or because the spec derives its name: the prefix alone proves nothing.
std::map<std::string, OurSubsystem> our_subsystems(const Spec& spec, const Inventory& seen) {
  std::map<std::string, OurSubsystem> ours;
  for (const ExportSpec& wanted : spec.exports) {
    for (const AllowedHost& allowed : wanted.allow)
      ours[subsystem_nqn(seen.host(), wanted.name, allowed.host)].export_name = wanted.name;
  }
  for (const ExportRecord& record : seen.records.value().exports) {
    OurSubsystem& subsystem = ours[record.subsystem_nqn];
    subsystem.export_name = record.export_name;
    if (!record.retired) subsystem.records.push_back(record);
  }
  return ours;
}

bool used_elsewhere(const Inventory& seen, const std::string& host, const std::string& nqn) {
  const auto& all = seen.exports.value().subsystems;
  return std::any_of(all.begin(), all.end(), [&](const TargetSubsystem& other) {
    return other.nqn != nqn &&
           std::find(other.allowed_hosts.begin(), other.allowed_hosts.end(), host) != other.allowed_hosts.end();
  });
}

std::vector<Step> dismantle(const Inventory& seen, const TargetSubsystem& shown) {
  std::vector<Step> steps;
  for (const TargetPort& port : seen.exports.value().ports) {
    if (std::find(port.subsystems.begin(), port.subsystems.end(), shown.nqn) != port.subsystems.end())
      steps.push_back(Remove{fmt::format("{}/subsystems/{}", port_path(port.id), shown.nqn)});
  }
  for (const TargetNamespace& served : shown.namespaces) steps.push_back(Remove{namespace_path(shown.nqn, served.nsid)});
  for (const std::string& host : shown.allowed_hosts)
    steps.push_back(Remove{fmt::format("{}/allowed_hosts/{}", subsystem_path(shown.nqn), host)});
  steps.push_back(Remove{subsystem_path(shown.nqn)});
  for (const std::string& host : shown.allowed_hosts) {
    if (!used_elsewhere(seen, host, shown.nqn)) steps.push_back(Remove{host_path(host)});
  }
  return steps;
}

std::vector<Record> retired(const std::vector<ExportRecord>& records) {
  std::vector<Record> out;
  for (ExportRecord record : records) {
    record.retired = true;
    out.push_back(record);
  }
  return out;
}

Action withdraw_subsystem(const Inventory& seen, const std::string& nqn, const OurSubsystem& ours) {
  Action action;
  action.id = fmt::format("export.withdraw:{}/{}", ours.export_name, nqn.substr(nqn.rfind(':') + 1));
  action.object = "export:" + ours.export_name;
  action.risk = Risk::disruptive;
  action.sentence = fmt::format("withdraw subsystem '{}' and its {} namespaces", nqn, ours.records.size());
  action.reason = "the spec no longer exports anything to its host; the data stays on the drives";
  if (const TargetSubsystem* shown = find_subsystem(seen, nqn)) action.steps = dismantle(seen, *shown);
  action.after = retired(ours.records);
  return action;
}

// Namespaces of a subsystem that stays: not wanted any more (waits for apply), or without their drive (nothing to lose).
void withdraw_namespaces(const SubsystemWish& wish, const Inventory& seen, const OurSubsystem& ours, Draft& draft) {
  Action unwanted;
  unwanted.id = fmt::format("export.narrow:{}/{}", wish.wanted->name, wish.nqn.substr(wish.nqn.rfind(':') + 1));
  unwanted.object = "export:" + wish.wanted->name;
  unwanted.risk = Risk::disruptive;
  unwanted.reason = "the spec no longer selects these drives; the data stays on them";
  Action gone = unwanted;
  gone.id = fmt::format("export.drop:{}/{}", wish.wanted->name, wish.nqn.substr(wish.nqn.rfind(':') + 1));
  gone.risk = Risk::reversible;
  gone.reason = "the drive behind it is gone, and another drive must never appear under its id";
  std::set<std::uint32_t> wanted, lost;
  std::set<std::string> shares;
  for (const NamespaceWish& one : wish.namespaces) {
    wanted.insert(one.record.nsid);
    shares.insert(share_name(one.record.drive, one.record.slice));
    if (one.problem_id == "export.drive_missing") lost.insert(one.record.nsid);
  }
  for (const ExportRecord& record : ours.records) {
    if (shares.contains(share_name(record.drive, record.slice))) continue;  // re-made: the same entry with a new nsid
    ExportRecord out = record;
    out.retired = true;
    unwanted.after.push_back(out);
  }
  const TargetSubsystem* shown = find_subsystem(seen, wish.nqn);
  for (const TargetNamespace& served : shown == nullptr ? std::vector<TargetNamespace>{} : shown->namespaces) {
    const Step step = Remove{namespace_path(wish.nqn, served.nsid)};
    const bool backed = backing_of(seen, served) != nullptr;
    if (!wanted.contains(served.nsid)) {
      (backed ? unwanted : gone).steps.push_back(step);
    } else if (lost.contains(served.nsid) && !backed) {
      gone.steps.push_back(step);
    }
  }
  unwanted.sentence = fmt::format("withdraw {} namespaces from subsystem '{}'",
                                  std::max(unwanted.steps.size(), unwanted.after.size()), wish.nqn);
  gone.sentence = fmt::format("withdraw {} namespaces without a drive from subsystem '{}'", gone.steps.size(), wish.nqn);
  if (!unwanted.steps.empty() || !unwanted.after.empty()) draft.actions.push_back(std::move(unwanted));
  if (!gone.steps.empty()) draft.actions.push_back(std::move(gone));
}

// nvmet lets every linked host in, so one that the spec does not name was let in by somebody else.
void shut_out(const SubsystemWish& wish, const Inventory& seen, Draft& draft) {
  const TargetSubsystem* shown = find_subsystem(seen, wish.nqn);
  for (const std::string& host : shown == nullptr ? std::vector<std::string>{} : shown->allowed_hosts) {
    if (host == wish.host_nqn) continue;
    Action action;
    action.id = fmt::format("export.shut_out:{}/{}/{}", wish.wanted->name, wish.nqn.substr(wish.nqn.rfind(':') + 1), host);
    action.object = "export:" + wish.wanted->name;
    action.risk = Risk::disruptive;
    action.sentence = fmt::format("shut host '{}' out of subsystem '{}'", host, wish.nqn);
    action.reason = "the spec does not allow it, and somebody let it in";
    action.steps = {Remove{fmt::format("{}/allowed_hosts/{}", subsystem_path(wish.nqn), host)}};
    draft.actions.push_back(std::move(action));
  }
}

bool is_meant(const Spec& spec, const Inventory& seen, const std::string& export_name, const TargetPort& port) {
  const PortAddress address{port.trtype, port.traddr, port.trsvcid};
  return std::any_of(spec.exports.begin(), spec.exports.end(), [&](const ExportSpec& wanted) {
    return (export_name.empty() || wanted.name == export_name) && may_be_meant(wanted, address, seen);
  });
}

void withdraw_links(const Spec& spec, const Inventory& seen, const SubsystemWish& wish, Draft& draft) {
  for (const TargetPort& port : seen.exports.value().ports) {
    const bool linked = std::find(port.subsystems.begin(), port.subsystems.end(), wish.nqn) != port.subsystems.end();
    if (!linked || !is_our_port(port) || is_meant(spec, seen, wish.wanted->name, port)) continue;
    Action action;
    action.id = fmt::format("export.unpublish:{}/{}/{}/{}", wish.wanted->name, wish.nqn.substr(wish.nqn.rfind(':') + 1),
                            port.trtype, port.traddr);
    action.object = "export:" + wish.wanted->name;
    action.risk = Risk::disruptive;
    action.sentence =
        fmt::format("take subsystem '{}' off {}", wish.nqn, to_text(PortAddress{port.trtype, port.traddr, port.trsvcid}));
    action.reason = "the spec no longer listens there";
    action.steps = {Remove{fmt::format("{}/subsystems/{}", port_path(port.id), wish.nqn)}};
    draft.actions.push_back(std::move(action));
  }
}

void remove_ports(const Spec& spec, const Inventory& seen, Draft& draft) {
  for (const TargetPort& port : seen.exports.value().ports) {
    if (!is_our_port(port) || !port.subsystems.empty() || is_meant(spec, seen, "", port)) continue;
    Action action;
    action.id = fmt::format("export.port:{}/{}/{}", port.trtype, port.traddr, port.trsvcid);
    action.object = "exports";
    action.sentence = fmt::format("remove the port on {}", to_text(PortAddress{port.trtype, port.traddr, port.trsvcid}));
    action.reason = "nothing is offered on it any more";
    action.steps = {Remove{port_path(port.id)}};
    draft.actions.push_back(std::move(action));
  }
}

// One that has our prefix and is in neither ledger nor spec may be another installation's: said, never touched.
void tell_unknown(const std::map<std::string, OurSubsystem>& ours, const Inventory& seen, Draft& draft) {
  for (const TargetSubsystem& shown : seen.exports.value().subsystems) {
    if (!shown.nqn.starts_with(kSubsystemPrefix) || ours.contains(shown.nqn)) continue;
    draft.conflicts.push_back({fmt::format("subsystem '{}'", shown.nqn), "exports",
                               "it is named like one of ours, but neither the ledger nor the spec knows it",
                               "remove it from nvmet if nothing needs it", Standing::note, "export.unknown_subsystem"});
  }
}

}  // namespace

Draft export_withdrawal(const Spec& spec, const Inventory& seen) {
  Draft draft;
  if (seen.host().is_none() || !seen.links.is_known() || !export_blindness(spec, seen).empty()) return draft;
  const ExportWishes wishes = export_wishes(spec, seen);
  const auto ours = our_subsystems(spec, seen);
  for (const auto& [nqn, subsystem] : ours) {
    const auto wish = std::find_if(wishes.subsystems.begin(), wishes.subsystems.end(),
                                   [&, name = nqn](const SubsystemWish& one) { return one.nqn == name; });
    if (wish == wishes.subsystems.end() && wishes.refused.contains(subsystem.export_name)) continue;
    if (wish == wishes.subsystems.end()) {
      if (find_subsystem(seen, nqn) != nullptr || !subsystem.records.empty())
        draft.actions.push_back(withdraw_subsystem(seen, nqn, subsystem));
      continue;
    }
    withdraw_namespaces(*wish, seen, subsystem, draft);
    withdraw_links(spec, seen, *wish, draft);
    shut_out(*wish, seen, draft);
  }
  remove_ports(spec, seen, draft);
  tell_unknown(ours, seen, draft);
  return draft;
}

}  // namespace nvstripe::configure

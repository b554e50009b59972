// Owns the making of subsystems and their namespaces in nvmet's configfs, up to enabled. Publishing them is export_ports'.
// nvmet claims nothing and takes a mounted disk without a word, so what may be a namespace is judged here and before the
// write. Each write is checked by the executor; a half-made namespace is removed and made again.
#include "configurators/exports.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "configurators/export_names.hpp"
#include "configurators/export_udev.hpp"
#include "configurators/export_wishes.hpp"

namespace nvstripe::configure {
namespace {

// Queues a consumer may open. nvmet's default is 128 and each RDMA queue costs about 0.75 MiB here whatever the host uses;
// two a CPU is more than any plan of ours asks for, within 8 (few CPUs, one fast stream) and 32.
std::uint32_t queue_limit(const Inventory& seen) {
  const std::uint32_t cpus = seen.kernel.is_known() ? seen.kernel.value().cpus : 0;
  return std::clamp<std::uint32_t>(cpus * 2, 8, 32);
}

void write(std::vector<Step>& steps, const std::string& folder, std::string_view attribute, std::string value) {
  WriteAttribute step;
  step.path = fmt::format("{}/{}", folder, attribute);
  step.value = std::move(value);
  steps.push_back(std::move(step));
}

void load_target_module(const Inventory& seen, std::vector<Step>& steps) {
  if (!seen.exports.value().loaded) steps.push_back(Run{{"modprobe", "nvmet"}});
}

// attr_serial is EINVAL "already assigned" once a host has connected, so what is right already is never written again.
void base_steps(const SubsystemWish& wish, const Inventory& seen, std::vector<Step>& steps) {
  const std::string folder = subsystem_path(wish.nqn);
  const TargetSubsystem* shown = find_subsystem(seen, wish.nqn);
  const std::string serial = subsystem_serial(seen.host(), wish.nqn);
  if (shown == nullptr) steps.push_back(MakeDir{folder});
  if (shown == nullptr || shown->allow_any_host) write(steps, folder, "attr_allow_any_host", "0");
  if (shown == nullptr || shown->serial != serial) write(steps, folder, "attr_serial", serial);
  if (shown == nullptr || shown->model != kTargetModel) write(steps, folder, "attr_model", std::string(kTargetModel));
  if (shown == nullptr) {
    // Since Linux 6.1; writing it later makes every host reconnect (nvmet_subsys_attr_qid_max_store, read).
    WriteAttribute limit;
    limit.path = folder + "/attr_qid_max";
    limit.value = std::to_string(queue_limit(seen));
    limit.if_present = true;
    steps.push_back(std::move(limit));
  }
  const bool allowed = shown != nullptr && std::find(shown->allowed_hosts.begin(), shown->allowed_hosts.end(),
                                                     wish.host_nqn) != shown->allowed_hosts.end();
  if (!allowed) {
    steps.push_back(MakeDir{host_path(wish.host_nqn)});
    steps.push_back(Link{host_path(wish.host_nqn), folder + "/allowed_hosts/" + wish.host_nqn});
  }
}

// The owner on the device itself, after the last look: a slice that was refused must not carry a host's name.
void tag_slice(const NamespaceWish& wish, const std::string& host, std::vector<Step>& steps) {
  if (wish.record.slice == 0 || wish.record.served) return;
  steps.push_back(Run{{"lvchange", "-y", "--devices", DeviceRef{wish.record.drive}, "--addtag", owner_tag(host),
                       wish.backing.text.substr(3)}});
}

void namespace_steps(const SubsystemWish& subsystem, const NamespaceWish& wish, const Inventory& seen,
                     std::vector<Step>& steps) {
  const std::string folder = namespace_path(subsystem.nqn, wish.record.nsid);
  const Uuid identity = namespace_identity(seen.host(), wish.record);
  if (const TargetSubsystem* shown = find_subsystem(seen, subsystem.nqn)) {
    for (const TargetNamespace& half : shown->namespaces) {
      // device_path and the identifiers are EBUSY while enabled; removing the folder disables it as well.
      if (half.nsid == wish.record.nsid) steps.push_back(Remove{folder});
    }
  }
  const BlockDevice* device = seen.find(wish.backing);
  if (wish.must_be_blank) steps.push_back(RequireContent{wish.backing, device == nullptr ? 0 : device->diskseq, {}, false});
  tag_slice(wish, subsystem.host_nqn, steps);
  steps.push_back(MakeDir{folder});
  WriteAttribute path;
  path.path = folder + "/device_path";
  path.value_device = wish.backing;
  steps.push_back(std::move(path));
  write(steps, folder, "device_uuid", to_text(identity));
  write(steps, folder, "device_nguid", to_text(identity));
  write(steps, folder, "enable", "1");
}

std::string id_of(const SubsystemWish& wish) {
  return fmt::format("{}/{}", wish.wanted->name, wish.nqn.substr(wish.nqn.rfind(':') + 1));
}

Action serve(const SubsystemWish& wish, const Inventory& seen, const RuleState& rules) {
  Action action;
  action.id = "export.serve:" + id_of(wish);
  action.object = "export:" + wish.wanted->name;
  action.risk = Risk::reversible;
  if (!seen.records.value().identity) action.needs.push_back("identity:" + to_text(seen.host()));
  load_target_module(seen, action.steps);
  base_steps(wish, seen, action.steps);
  std::size_t count = 0, first = 0;
  for (const NamespaceWish& one : wish.namespaces) {
    if (one.served || !one.problem.empty()) continue;
    ++count;
    first += one.must_be_blank ? 1 : 0;
    if (one.record.slice != 0) action.needs.push_back(one.backing.text);
    if (!is_recorded(seen, one.record)) action.before.push_back(one.record);
    for (const ExportRecord& spent : one.superseded) action.before.push_back(spent);
    ExportRecord served = one.record;
    served.served = true;
    if (!is_recorded(seen, served)) action.after.push_back(served);
    namespace_steps(wish, one, seen, action.steps);
    action.gives.push_back(namespace_fact(wish.nqn, one.record.nsid));
  }
  if (count > 0 && !rules.current) action.needs.push_back(rules.fact);
  action.sentence = count == 0
                        ? fmt::format("put subsystem '{}' of host '{}' in order", wish.nqn, wish.host_nqn)
                        : fmt::format("serve {} {} to host '{}' as subsystem '{}'", count,
                                      std::string(wish.wanted->slices > 1 ? "slice" : "drive") + (count == 1 ? "" : "s"),
                                      wish.host_nqn, wish.nqn);
  action.reason = count == 0   ? "its attributes or allowed hosts are not as the spec says"
                  : first == 0 ? "the ledger says they are this host's, and they are not served now"
                  : count == 1 ? "it is blank and was given to nobody"
                  : first == 1 ? "1 of them is blank and was given to nobody"
                               : fmt::format("{} of them are blank and were given to nobody", first);
  return action;
}

// What changed without a step: a namespace was seen served, or seen to carry its consumer's data.
void remember(const SubsystemWish& wish, const Inventory& seen, Draft& draft) {
  Action action;
  for (const NamespaceWish& one : wish.namespaces) {
    if (one.served && !is_recorded(seen, one.record)) action.after.push_back(one.record);
  }
  if (action.after.empty()) return;
  action.id = "export.remember:" + id_of(wish);
  action.object = "export:" + wish.wanted->name;
  action.sentence = fmt::format("note what {} served drives of host '{}' carry", action.after.size(), wish.host_nqn);
  action.reason = "a drive that carried data and is blank later is another drive, and must not come back under the same id";
  draft.actions.push_back(std::move(action));
}

bool in_order(const SubsystemWish& wish, const Inventory& seen) {
  std::vector<Step> steps;
  base_steps(wish, seen, steps);
  return steps.empty();
}

}  // namespace

Draft exports(const Spec& spec, const Inventory& seen) {
  Draft draft;
  if (!has_exports(spec, seen)) return draft;
  draft.conflicts = export_blindness(spec, seen);
  if (!draft.conflicts.empty()) return draft;
  ExportWishes wishes = export_wishes(spec, seen);
  draft.conflicts = std::move(wishes.conflicts);
  const RuleState rules = export_rules(wishes, seen);
  for (const SubsystemWish& wish : wishes.subsystems) {
    const bool work = std::any_of(wish.namespaces.begin(), wish.namespaces.end(),
                                  [](const NamespaceWish& one) { return !one.served && one.problem.empty(); });
    const bool any = std::any_of(wish.namespaces.begin(), wish.namespaces.end(),
                                 [](const NamespaceWish& one) { return one.served || one.problem.empty(); });
    if (work || (any && !in_order(wish, seen))) draft.actions.push_back(serve(wish, seen, rules));
    remember(wish, seen, draft);
  }
  return draft;
}

}  // namespace nvstripe::configure

// Owns how states are derived: records, kernel state and the plan's conflicts, in this order of weight.
#include "agent/api/status.hpp"

#include <algorithm>
#include <set>

#include "agent/base/text.hpp"

namespace nvstripe::api {
namespace {

const VolumeRecord* record_of(const Inventory& seen, const std::string& name) {
  return seen.records.is_known() ? seen.records.value().volume(name) : nullptr;
}

std::string hold_of(const Inventory& seen, const std::string& object) {
  std::string why;
  for (const HoldRecord& hold : seen.records.value().holds)
    if (hold.object == object || (hold.object == "all" && why.empty())) why = hold.why.empty() ? "hold" : hold.why;
  return why;
}

Reason reason_of(const Conflict& conflict) { return Reason{conflict.id, conflict.why, conflict.remedy}; }

// The device that carries the volume, by the record: the array or LV whose key it must have.
const BlockDevice* device_of(const Inventory& seen, const std::string& name, const VolumeRecord& record) {
  if (record.stack == "lvm") {
    for (const BlockDevice& block : seen.blocks.value())
      if (block.key.text.starts_with("lv:nvs_" + name + "_") && block.key.text.ends_with("/data")) return &block;
    return nullptr;
  }
  return seen.find(DeviceKey{"md:" + to_text(derive(seen.host(), "array", name, record.generation))});
}

const NvmeController* controller_of(const Inventory& seen, const BlockDevice& block) {
  const NvmeController* best = nullptr;
  for (const NvmeController& controller : seen.controllers.value()) {
    if (std::find(block.controllers.begin(), block.controllers.end(), controller.kernel_name) == block.controllers.end())
      continue;
    if (best == nullptr || controller.state == "live") best = &controller;
  }
  return best;
}

std::string connection_of(const Spec& spec, const Inventory& seen, const NvmeController& controller) {
  for (const ConnectionRecord& made : seen.records.value().connections)
    if (made.nqn == controller.subsystem_nqn && made.transport == controller.transport && made.traddr == controller.traddr &&
        made.trsvcid == controller.trsvcid)
      return made.connection;
  for (const ConnectionSpec& connection : spec.connections) {
    if (connection.address == controller.traddr) return connection.name;
    for (const TargetView& target : seen.targets.value())
      if (target.connection == connection.name && target.resolved_address == controller.traddr) return connection.name;
  }
  return {};
}

MemberStatus member_of(const Spec& spec, const Inventory& seen, const DeviceKey& key) {
  MemberStatus member;
  member.key = key.text;
  const BlockDevice* block = seen.find(key);
  if (block == nullptr) {
    member.state = "missing";
    return member;
  }
  member.kernel_name = block->kernel_name;
  member.transport = block->transport;
  member.state = "live";
  if (const NvmeController* controller = controller_of(seen, *block)) {
    member.state = controller->state;
    member.transport = controller->transport;
    member.connection = connection_of(spec, seen, *controller);
  }
  return member;
}

void set_transport(const Spec& spec, const Inventory& seen, VolumeStatus& volume) {
  std::set<std::string> transports, why;
  for (const MemberStatus& member : volume.members) {
    if (!member.transport.empty()) transports.insert(member.transport);
    const ConnectionSpec* connection = spec.connection(member.connection);
    if (connection == nullptr) continue;
    if (connection->transport != Transport::automatic) {
      why.insert("'" + connection->name + "' names " + member.transport);
      continue;
    }
    std::string problem;
    for (const TargetView& target : seen.targets.value())
      if (target.connection == connection->name) problem = target.rdma_problem;
    if (member.transport == "rdma")
      why.insert("both ends can do RDMA");
    else
      why.insert("no RDMA to '" + connection->name + "'" + (problem.empty() ? "" : ": " + problem));
  }
  volume.transport = join({transports.begin(), transports.end()}, "+");
  volume.transport_reason = join({why.begin(), why.end()}, "; ");
}

bool is_mounted(const Inventory& seen, const BlockDevice* device, const std::string& path) {
  for (const Mount& mount : seen.mounts.value().mounts)
    if (mount.path == path && device != nullptr && mount.device_number == device->device_number) return true;
  return false;
}

std::vector<Reason> degradations(const Inventory& seen, const VolumeStatus& volume, const BlockDevice* device) {
  std::vector<Reason> reasons;
  for (const MemberStatus& member : volume.members)
    if (member.state != "live")
      reasons.push_back(Reason{"volume.member_" + member.state, "member '" + member.key + "' is " + member.state,
                               "check the target" + (member.connection.empty() ? "" : " of '" + member.connection + "'") +
                                   "; I/O resumes by itself when it is back"});
  if (device != nullptr)
    for (const MdArray& array : seen.arrays.value())
      if (array.kernel_name == device->kernel_name && (array.state == "broken" || array.state == "inactive"))
        reasons.push_back(Reason{"volume.array_" + array.state, "its array is " + array.state,
                                 "'nvstripe plan' says what the agent will do about it"});
  return reasons;
}

void add_plan(const Snapshot& snapshot, const std::string& object, VolumeStatus& volume, bool& refused, bool& lost) {
  for (const Conflict& conflict : snapshot.pass.plan.conflicts) {
    if (conflict.object != object) continue;
    if (conflict.standing == Standing::note) {
      volume.notes.push_back(reason_of(conflict));
      continue;
    }
    volume.waits_for.push_back(reason_of(conflict));
    refused = refused || conflict.standing == Standing::refused;
    lost = lost || conflict.id.ends_with(".data_lost");
  }
  for (const Action& action : snapshot.pass.plan.actions)
    if (action.object == object) volume.pending.push_back(action.sentence);
  for (const ActionOutcome& outcome : snapshot.pass.outcomes)
    if (!outcome.error.empty() &&
        (outcome.id.ends_with(":" + volume.name) || outcome.id.find(":" + volume.name + "/") != std::string::npos))
      volume.waits_for.push_back(Reason{"action.failed", outcome.error, outcome.remedy});
}

VolumeState state_of(const VolumeStatus& volume, bool mounted, bool refused, bool lost, bool degraded) {
  if (lost) return VolumeState::data_lost;
  if (mounted) return degraded || refused ? VolumeState::degraded : VolumeState::mounted;
  if (volume.held == "release") return VolumeState::released;
  if (refused) return VolumeState::refused;
  if (!volume.waits_for.empty() || volume.pending.empty()) return VolumeState::waiting;
  return VolumeState::pending;
}

VolumeStatus volume_of(const Snapshot& snapshot, const VolumeSpec& wanted) {
  const Inventory& seen = snapshot.pass.seen;
  VolumeStatus volume;
  volume.name = wanted.name;
  volume.mount_path = wanted.mount.path;
  volume.stack = wanted.stack == Stack::lvm ? "lvm" : "md";
  volume.wanted_members = wanted.members.count;
  volume.held = hold_of(seen, "volume:" + wanted.name);
  const BlockDevice* device = nullptr;
  if (const VolumeRecord* record = record_of(seen, wanted.name)) {
    volume.stage = to_text(record->stage);
    for (const DeviceKey& key : record->members) volume.members.push_back(member_of(snapshot.spec.spec, seen, key));
    device = device_of(seen, wanted.name, *record);
  }
  if (device != nullptr) {
    volume.device = device->key.text;
    volume.size_bytes = device->size.count;
  }
  set_transport(snapshot.spec.spec, seen, volume);
  bool refused = false, lost = false;
  add_plan(snapshot, "volume:" + wanted.name, volume, refused, lost);
  volume.mounted = is_mounted(seen, device, wanted.mount.path);
  bool degraded = false;
  if (volume.mounted)
    for (Reason& reason : degradations(seen, volume, device)) {
      volume.waits_for.push_back(std::move(reason));
      degraded = true;
    }
  volume.state = state_of(volume, volume.mounted, refused, lost, degraded);
  if (volume.state == VolumeState::released && volume.waits_for.empty())
    volume.waits_for.push_back(Reason{"volume.released", "it was released", "'nvstripe apply' mounts it again"});
  return volume;
}

ConnectionStatus connection_status(const Snapshot& snapshot, const ConnectionSpec& wanted) {
  const Inventory& seen = snapshot.pass.seen;
  ConnectionStatus connection;
  connection.name = wanted.name;
  connection.address = wanted.address;
  std::string resolved = wanted.address;
  for (const TargetView& target : seen.targets.value()) {
    if (target.connection != wanted.name) continue;
    if (!target.resolved_address.empty()) resolved = target.resolved_address;
    connection.problem = target.problem;
    connection.state = to_text(std::max(target.tcp, target.rdma));
    if (target.tcp == Reach::reachable || target.rdma == Reach::reachable) connection.state = to_text(Reach::reachable);
  }
  std::set<std::string> transports;
  for (const NvmeController& controller : seen.controllers.value()) {
    const bool at_address = controller.traddr == resolved || controller.traddr == wanted.address;
    const bool there = at_address && controller.trsvcid == std::to_string(wanted.port);
    if (!there && connection_of(snapshot.spec.spec, seen, controller) != wanted.name) continue;
    ++connection.controllers;
    connection.queues = std::max(connection.queues, controller.queue_count.value_or(0));
    transports.insert(controller.transport);
    if (connection.controllers == 1 || controller.state != "live") connection.state = controller.state;
  }
  connection.transport = join({transports.begin(), transports.end()}, "+");
  if (connection.state.empty()) connection.state = "unknown";
  for (const Conflict& conflict : snapshot.pass.plan.conflicts)
    if (conflict.object == "connection:" + wanted.name && conflict.standing != Standing::note)
      connection.waits_for.push_back(reason_of(conflict));
  return connection;
}

void add_hosts(const Inventory& seen, const ExportSpec& wanted, ExportStatus& status) {
  std::set<std::string> subsystems;
  for (const ExportRecord& record : seen.records.value().exports)
    if (record.export_name == wanted.name && !record.retired) subsystems.insert(record.subsystem_nqn);
  for (const TargetSubsystem& subsystem : seen.exports.value().subsystems) {
    if (!subsystems.contains(subsystem.nqn)) continue;
    const auto enabled = static_cast<std::uint64_t>(std::count_if(subsystem.namespaces.begin(), subsystem.namespaces.end(),
                                                                  [](const TargetNamespace& n) { return n.enabled; }));
    status.namespaces += enabled;
    for (const std::string& host : subsystem.allowed_hosts) status.hosts.push_back(ExportHost{host, enabled, "unknown"});
    for (const TargetPort& port : seen.exports.value().ports)
      if (std::find(port.subsystems.begin(), port.subsystems.end(), subsystem.nqn) != port.subsystems.end())
        status.listens.push_back(port.trtype + " " + port.traddr + ":" + port.trsvcid);
  }
  std::sort(status.listens.begin(), status.listens.end());
  status.listens.erase(std::unique(status.listens.begin(), status.listens.end()), status.listens.end());
}

ExportStatus export_of(const Snapshot& snapshot, const ExportSpec& wanted) {
  const Inventory& seen = snapshot.pass.seen;
  ExportStatus status;
  status.name = wanted.name;
  std::set<std::string> drives;
  std::uint64_t ledger = 0;
  for (const ExportRecord& record : seen.records.value().exports)
    if (record.export_name == wanted.name && !record.retired) {
      drives.insert(record.drive.text);
      ++ledger;
    }
  status.drives = drives.size();
  add_hosts(seen, wanted, status);
  bool refused = false;
  for (const Conflict& conflict : snapshot.pass.plan.conflicts)
    if (conflict.object == "export:" + wanted.name && conflict.standing != Standing::note) {
      status.waits_for.push_back(reason_of(conflict));
      refused = refused || conflict.standing == Standing::refused;
    }
  for (const ActionOutcome& outcome : snapshot.pass.outcomes)
    if (!outcome.error.empty() && outcome.id.find(":" + wanted.name) != std::string::npos)
      status.waits_for.push_back(Reason{"action.failed", outcome.error, outcome.remedy});
  const bool all = ledger > 0 && status.namespaces >= ledger && !status.listens.empty();
  if (all && status.waits_for.empty())
    status.state = "serving";
  else if (status.namespaces > 0 && !status.listens.empty())
    status.state = "partial";
  else
    status.state = refused ? "refused" : "waiting";
  if (!all && !hold_of(seen, "export:" + wanted.name).empty()) status.state = "held";
  return status;
}

template <class T>
void note_unseen(const char* name, const Facet<T>& facet, std::vector<std::string>& notes) {
  if (!facet.is_known()) notes.push_back(std::string(name) + ": " + facet.reason());
}

std::vector<std::string> unseen(const Inventory& seen) {
  std::vector<std::string> notes;
  note_unseen("block devices", seen.blocks, notes);
  note_unseen("nvme controllers", seen.controllers, notes);
  note_unseen("nvmet", seen.exports, notes);
  note_unseen("md arrays", seen.arrays, notes);
  note_unseen("lvm", seen.lvm, notes);
  note_unseen("mounts", seen.mounts, notes);
  note_unseen("units", seen.units, notes);
  note_unseen("network links", seen.links, notes);
  note_unseen("rdma devices", seen.rdma, notes);
  note_unseen("kernel", seen.kernel, notes);
  note_unseen("tools", seen.tools, notes);
  note_unseen("host identity", seen.identity, notes);
  note_unseen("records", seen.records, notes);
  notes.insert(notes.end(), seen.notes.begin(), seen.notes.end());
  return notes;
}

bool belongs(const Conflict& conflict, const Spec& spec) {
  const std::string_view object = conflict.object;
  for (const VolumeSpec& volume : spec.volumes)
    if (object == "volume:" + volume.name) return true;
  for (const ExportSpec& entry : spec.exports)
    if (object == "export:" + entry.name) return true;
  for (const ConnectionSpec& connection : spec.connections)
    if (object == "connection:" + connection.name) return true;
  return false;
}

void add_unclaimed(const Snapshot& snapshot, Status& status) {
  const Inventory& seen = snapshot.pass.seen;
  for (const VolumeRecord& record : seen.records.value().volumes) {
    if (snapshot.spec.spec.volume(record.name) != nullptr) continue;
    VolumeSpec gone;
    gone.name = record.name;
    gone.stack = record.stack == "lvm" ? Stack::lvm : Stack::md;
    gone.mount.path = record.mount_path;
    VolumeStatus volume = volume_of(snapshot, gone);
    volume.state = VolumeState::unclaimed;
    volume.wanted_members = static_cast<std::uint32_t>(record.members.size());
    volume.waits_for.clear();
    volume.notes.push_back(Reason{"volume.unclaimed", "the spec does not name it any more; it is left as it is",
                                  "put it back into the spec, or 'nvstripe release " + record.name + "'"});
    status.volumes.push_back(std::move(volume));
  }
}

}  // namespace

Status status_of(const Snapshot& snapshot) {
  const Inventory& seen = snapshot.pass.seen;
  Status status;
  status.version = NVSTRIPE_VERSION;
  status.taken = snapshot.taken;
  status.spec = snapshot.spec;
  status.pass_error = snapshot.pass_error;
  if (!snapshot.taken.empty()) {
    status.host_id = to_text(seen.host());
    status.host_nqn = "nqn.2014-08.org.nvmexpress:uuid:" + status.host_id;
    status.provider = seen.identity.value().provider;
    status.hostname = seen.identity.value().hostname;
    status.cannot_see = unseen(seen);
    for (const VolumeSpec& volume : snapshot.spec.spec.volumes) status.volumes.push_back(volume_of(snapshot, volume));
    add_unclaimed(snapshot, status);
    for (const ConnectionSpec& connection : snapshot.spec.spec.connections)
      status.connections.push_back(connection_status(snapshot, connection));
    for (const ExportSpec& entry : snapshot.spec.spec.exports) status.exports.push_back(export_of(snapshot, entry));
  }
  for (const Conflict& conflict : snapshot.pass.plan.conflicts) {
    if (conflict.object == "tuning" || conflict.object.starts_with("tuning:"))
      status.tuning.emplace_back(conflict.subject, reason_of(conflict));
    else if (!belongs(conflict, snapshot.spec.spec) && conflict.standing == Standing::note)
      status.notes.push_back(Reason{conflict.id, conflict.subject + ": " + conflict.why, conflict.remedy});
    else if (!belongs(conflict, snapshot.spec.spec))
      status.others.push_back(Reason{conflict.id, conflict.subject + ": " + conflict.why, conflict.remedy});
  }
  for (const HoldRecord& hold : seen.records.value().holds) status.holds.emplace_back(hold.object, hold.why);
  for (const ActionOutcome& outcome : snapshot.pass.outcomes)
    if (!outcome.error.empty()) status.failures.push_back(outcome);
  for (const std::string& id : snapshot.pass.withheld)
    for (const Action& action : snapshot.pass.plan.actions)
      if (action.id == id) status.withheld.push_back(action.sentence);
  status.digest = snapshot.pass.plan.digest;
  return status;
}

std::string_view to_text(VolumeState state) {
  switch (state) {
    case VolumeState::mounted:
      return "mounted";
    case VolumeState::degraded:
      return "degraded";
    case VolumeState::pending:
      return "pending";
    case VolumeState::waiting:
      return "waiting";
    case VolumeState::refused:
      return "refused";
    case VolumeState::released:
      return "released";
    case VolumeState::data_lost:
      return "data_lost";
    case VolumeState::unclaimed:
      return "unclaimed";
  }
  return "waiting";
}

int exit_code_of(const Status& status) {
  if (!status.spec.problem.empty() || !status.pass_error.empty() || !status.failures.empty() || !status.others.empty())
    return 2;
  for (const VolumeStatus& volume : status.volumes)
    if (volume.state != VolumeState::mounted && volume.state != VolumeState::released &&
        volume.state != VolumeState::unclaimed)
      return 2;
  for (const ExportStatus& entry : status.exports)
    if (entry.state != "serving" && entry.state != "held") return 2;
  return 0;
}

}  // namespace nvstripe::api

// Owns the actions that connect and disconnect controllers, with queues, depth and time-outs that fit together. The kernel
// connects serially under a mutex that cannot be interrupted, so only targets that answered are handed to it.
#include "configurators/nvme_connect.hpp"

#include <algorithm>

#include "agent/base/text.hpp"
#include "configurators/host_identity.hpp"
#include "configurators/sight.hpp"

namespace nvstripe::configure {
namespace {

// Above this many controllers, reconnecting all at once after an outage meets the listen backlog (128) of the targets.
constexpr std::size_t kManyControllers = 32;
constexpr std::uint32_t kMinQueues = 2;   // with one hardware queue the block layer chooses mq-deadline
constexpr std::uint32_t kMaxQueues = 16;  // targets run out of queue pairs beyond
constexpr std::uint32_t kKeepAlive = 5;   // seconds; less turns a stolen vCPU into an outage

constexpr FacetSet kNeeded = FacetName::identity | FacetName::controllers | FacetName::targets | FacetName::links |
                             FacetName::rdma | FacetName::kernel | FacetName::exports | FacetName::blocks;

struct Totals {
  std::size_t controllers = 0;  // wanted over all connections
};

Conflict conflict(const ConnectionSpec& wanted, std::string id, std::string why, std::string remedy, Standing standing) {
  return {"connection '" + wanted.name + "'",
          "connection:" + wanted.name,
          std::move(why),
          std::move(remedy),
          standing,
          std::move(id)};
}

std::uint32_t queue_count(const TargetView& view, const Inventory& seen, const Totals& totals) {
  std::uint64_t limit = std::max(seen.kernel.value().cpus, kMinQueues);
  for (const NetworkLink& link : seen.links.value()) {
    const bool local = std::any_of(link.addresses.begin(), link.addresses.end(),
                                   [&](const Address& address) { return address.ip == view.local_address; });
    if (local && link.rx_queues > 0) limit = std::min(limit, link.rx_queues);
  }
  const std::uint32_t share = totals.controllers <= 4 ? kMaxQueues : totals.controllers <= kManyControllers ? 8u : 4u;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(limit, kMinQueues, share));
}

// In-flight bytes are bandwidth × latency over all controllers together: few controllers need depth each, many do not.
// nvmet over RDMA takes 128 a queue and the host clamps silently beyond.
std::uint32_t queue_size(const std::string& transport, const Totals& totals) {
  if (totals.controllers <= 4) return transport == "rdma" ? 128 : 512;
  if (totals.controllers <= 16) return 128;
  return totals.controllers <= kManyControllers ? 64 : 32;
}

Connect connect_step(const ConnectionView& view, const WantedController& one, const Inventory& seen, const Totals& totals) {
  Connect step;
  step.nqn = one.to.nqn;
  step.transport = one.to.transport;
  step.traddr = one.to.traddr;
  step.trsvcid = one.to.trsvcid;
  step.host_traddr = view.target->local_address;
  step.hostnqn = hostnqn_of(seen.host());
  step.hostid = to_text(seen.host());
  step.nr_io_queues = queue_count(*view.target, seen, totals);
  step.queue_size = queue_size(one.to.transport, totals);
  step.keep_alive_tmo = kKeepAlive;
  step.reconnect_delay = totals.controllers <= kManyControllers ? 2 : 10;
  // A stripe without redundancy waits for its target for ever: when a controller is given up, the file system shuts down.
  step.ctrl_loss_tmo = -1;
  step.fast_io_fail_tmo = -1;
  return step;
}

Action connect_action(const ConnectionSpec& wanted, const ConnectionView& view, const WantedController& one,
                      const std::string& why, const Inventory& seen, const Totals& totals) {
  const Connect step = connect_step(view, one, seen, totals);
  const std::string place = controller_place(step.nqn, step.transport, step.traddr, step.trsvcid);
  Action action;
  action.id = "controller.connect:" + wanted.name + "/" + printable(short_name(one.to.nqn));
  action.object = "connection:" + wanted.name;
  action.sentence = "connect subsystem '" + printable(short_name(one.to.nqn)) + "' of connection '" + wanted.name +
                    "' over " + step.transport + " at '" + step.traddr + "'";
  action.reason = "it is not connected, and " + why;
  action.suspect = !view.target->problem.empty();
  action.needs = {identity_fact(seen)};
  action.gives = {"controller:" + place};
  if (!seen.kernel.value().fabrics_node) action.steps.push_back(Run{{"modprobe", "nvme_fabrics"}});
  action.steps.push_back(step);
  action.steps.push_back(Await{"controller:" + place, std::chrono::seconds(15)});
  action.undo = {Disconnect{step.nqn, step.transport, step.traddr, step.trsvcid}};
  // With the intent already: a connect goes on in the kernel when its time is over or the agent ends, and the controller
  // that comes of it is ours to take down at shutdown. The engine forgets it where the kernel refused.
  action.before = {ConnectionRecord{wanted.name, step.nqn, step.transport, step.traddr, step.trsvcid, step.host_traddr,
                                    seen.identity.value().boot_id}};
  action.after = action.before;
  return action;
}

bool is_own_address(const Inventory& seen, const std::string& ip) {
  for (const NetworkLink& link : seen.links.value()) {
    if (std::any_of(link.addresses.begin(), link.addresses.end(), [&](const Address& address) { return address.ip == ip; }))
      return true;
  }
  return false;
}

// A drive seen back through the fabric has another wwid than the local one, so the loop is told by the NQN.
bool is_own_export(const std::string& nqn, const Spec& spec, const Inventory& seen) {
  const auto& served = seen.exports.value().subsystems;
  if (std::any_of(served.begin(), served.end(), [&](const TargetSubsystem& one) { return one.nqn == nqn; })) return true;
  for (const ExportSpec& exported : spec.exports) {
    if (nqn.starts_with("nqn.2026-11.io.nvstripe:" + exported.name + ":") && nqn.size() > 16) {
      const auto digits = parse_number(nqn.substr(nqn.size() - 16), 16);
      for (const AllowedHost& allowed : exported.allow) {
        if (digits && *digits == derive64(seen.host(), "subsystem", exported.name + "\n" + allowed.host)) return true;
      }
    }
  }
  return false;
}

void add_unreached(const ConnectionSpec& wanted, const ConnectionView& view, const TransportChoice& choice,
                   const Inventory& seen, Draft& out) {
  const std::string target = "target '" + printable(wanted.address) + "'";
  if (seen.captured) {
    out.conflicts.push_back(conflict(wanted, "connection.not_probed", target + " is not probed on a captured machine",
                                     "run 'nvstripe plan' on the machine itself", Standing::waiting));
  } else if (choice.transport.empty()) {
    const bool silent = view.target != nullptr && (view.target->tcp == Reach::silent || view.target->rdma == Reach::silent);
    const std::string id = choice.waiting ? "connection.checking" : silent ? "connection.silent" : "connection.unreachable";
    const std::string remedy = choice.waiting
                                   ? "wait; the check has a deadline"
                                   : "start the target, or correct 'address', 'port' and 'transport' of the connection";
    out.conflicts.push_back(conflict(wanted, id, target + ": " + choice.why, remedy, Standing::waiting));
  } else if (view.target != nullptr && view.target->discovered && view.controllers.empty()) {
    out.conflicts.push_back(conflict(wanted, "connection.not_allowed",
                                     target + " answers and has no subsystem for this host",
                                     "add '" + hostnqn_of(seen.host()) +
                                         "' to 'allow' of the target's export, or wait until its "
                                         "drives are there",
                                     Standing::waiting));
  } else if (view.controllers.empty()) {
    out.conflicts.push_back(conflict(wanted, "connection.not_discovered", target + ": " + view.missing,
                                     "wait; the discovery log is read again", Standing::waiting));
  }
}

void plan_controller(const ConnectionSpec& wanted, const ConnectionView& view, const WantedController& one,
                     const TransportChoice& choice, const Spec& spec, const Inventory& seen, const Totals& totals,
                     Draft& out) {
  const std::string name = "'" + printable(short_name(one.to.nqn)) + "'";
  if (one.existing != nullptr) {
    if (one.existing->state != "live") {
      out.conflicts.push_back(
          conflict(wanted, "connection.reconnecting",
                   "the controller to " + name + " is " + one.existing->state +
                       (view.target != nullptr && !view.target->problem.empty() ? ": " + view.target->problem : ""),
                   "wait; the kernel goes on trying until the target is back", Standing::waiting));
    }
    if (wanted.transport != Transport::automatic && to_text(wanted.transport) != one.existing->transport) {
      out.conflicts.push_back(conflict(
          wanted, "connection.other_transport", name + " is connected over " + one.existing->transport + " already",
          "release the volumes on it and disconnect it, and it comes back over the transport asked for", Standing::note));
    }
    return;
  }
  if (choice.transport.empty() || view.target == nullptr) return;  // add_unreached has said why
  if (is_own_export(one.to.nqn, spec, seen)) {
    const std::string where = is_own_address(seen, one.to.traddr) ? "this host's own address '" : "'";
    out.conflicts.push_back(conflict(wanted, "connection.loop",
                                     name + " at " + where + one.to.traddr + "' is an export of this host",
                                     "use 'local_ssd' for drives of this host", Standing::refused));
    return;
  }
  out.actions.push_back(connect_action(wanted, view, one, choice.why, seen, totals));
}

// Controllers that this agent made for a connection that the spec has no more.
void plan_withdrawn(const Spec& spec, const Inventory& seen, Draft& out) {
  if (spec.wants_nothing()) return;  // an emptied spec changes nothing (law 9)
  for (const NvmeController& controller : seen.controllers.value()) {
    const ConnectionRecord* record = record_of(controller, seen);
    if (record == nullptr || spec.connection(record->connection) != nullptr || controller.state.starts_with("deleting"))
      continue;
    const std::string object = "connection:" + record->connection;
    if (controller_in_use(controller, seen)) {
      out.conflicts.push_back(
          {"connection '" + record->connection + "'", object, "the spec has it no more, and a volume still needs its drives",
           "release that volume first; nothing is disconnected under it", Standing::note, "connection.withdrawn_in_use"});
      continue;
    }
    const std::string place = controller_place(record->nqn, record->transport, record->traddr, record->trsvcid);
    Action action;
    action.id = "controller.disconnect:" + record->connection + "/" + printable(short_name(record->nqn));
    action.object = object;
    action.sentence = "disconnect subsystem '" + printable(short_name(record->nqn)) + "' at '" + record->traddr + "'";
    action.reason = "connection '" + record->connection + "' is not in the spec any more and nothing uses its drives";
    action.risk = Risk::disruptive;
    action.steps = {Disconnect{record->nqn, record->transport, record->traddr, record->trsvcid}};
    action.after = {Forget{"connection", place}};
    out.actions.push_back(std::move(action));
  }
}

}  // namespace

Draft plan_nvme_connect(const Spec& spec, const Inventory& seen) {
  Draft out;
  if (spec.connections.empty() && seen.records.value().connections.empty()) return out;
  const std::vector<std::string> dark = unseen(seen, kNeeded);
  for (const ConnectionSpec& wanted : spec.connections) {
    if (dark.empty()) break;
    out.conflicts.push_back(conflict(wanted, "connection.cannot_see", join(dark, "; "),
                                     "make it readable; nothing is done on missing information", Standing::waiting));
  }
  if (!dark.empty() || !identity_settled(spec, seen)) return out;
  Totals totals;
  std::vector<ConnectionView> views;
  for (const ConnectionSpec& wanted : spec.connections) {
    views.push_back(view_connection(wanted, seen));
    totals.controllers += std::max<std::size_t>(views.back().controllers.size(), 1);
  }
  for (std::size_t at = 0; at < spec.connections.size(); ++at) {
    const ConnectionSpec& wanted = spec.connections[at];
    if (!connection_needed(wanted, spec, seen)) continue;
    const TransportChoice choice = choose_transport(wanted, seen);
    if (!views[at].complete) add_unreached(wanted, views[at], choice, seen, out);
    for (const WantedController& one : views[at].controllers)
      plan_controller(wanted, views[at], one, choice, spec, seen, totals, out);
  }
  plan_withdrawn(spec, seen, out);
  return out;
}

}  // namespace nvstripe::configure

// Owns the child's half of a look at a target: one question after another, the view told after each, so that what was found
// is known even when the next question never returns.
#include <algorithm>
#include <thread>

#include "agent/base/text.hpp"
#include "agent/host/child.hpp"
#include "agent/host/child_verbs.hpp"
#include "agent/host/target_probe.hpp"
#include "agent/host/targets.hpp"

namespace nvstripe::host {
namespace {

// Resolves the name and takes the first address that a route leads to.
bool find_address(const TargetQuestion& question, TargetView& view) {
  const auto addresses = resolve(question.connection.address);
  if (!addresses) {
    view.problem = addresses.error().what;
    return false;
  }
  for (const auto& address : *addresses) {
    const auto local = local_address_to(address, question.connection.port);
    if (!local) {
      view.problem = local.error().what;
      continue;
    }
    view.resolved_address = address;
    view.local_address = *local;
    view.problem.clear();
    return true;
  }
  return false;
}

void reach(const TargetQuestion& question, TargetView& view) {
  const auto& to = question.connection;
  Reached rdma;
  const auto ask_rdma = [&] { return probe_rdma(view.resolved_address, to.port, view.local_address); };
  const auto tell_rdma = [&] {
    view.rdma = rdma.reach;
    view.rdma_problem = rdma.problem;
    tell(to_line(view));
  };
  if (to.transport != Transport::tcp) {
    rdma = ask_rdma();
    tell_rdma();
  }
  if (to.transport != Transport::rdma) {
    auto tcp = probe_tcp(view.resolved_address, to.port);
    view.tcp = tcp.reach;
    view.tcp_problem = std::move(tcp.problem);
    tell(to_line(view));
  }
  if (to.transport == Transport::automatic && view.tcp == Reach::reachable) {
    rdma = insist(std::move(rdma), ask_rdma, [](std::chrono::seconds pause) { std::this_thread::sleep_for(pause); });
    tell_rdma();
  }
}

// RDMA first; TCP where RDMA offers nothing.
void read_log(const TargetQuestion& question, TargetView& view) {
  for (const std::string transport : {"rdma", "tcp"}) {
    if ((transport == "rdma" ? view.rdma : view.tcp) != Reach::reachable) continue;
    auto found = discover(question, transport, view);
    if (!found) {
      view.problem = found.error().what;
      continue;
    }
    view.discovered = true;
    view.problem.clear();
    view.subsystems = std::move(found->subsystems);
    if (!view.subsystems.empty()) return;
    view.problem = "the target offers nothing to this host: add '" + question.hostnqn + "' to 'allow' of an export there";
    if (found->referrals > 0) view.problem += "; its referrals to other targets are not followed";
  }
}

void say_unreached(TargetView& view) {
  if (view.rdma == Reach::reachable || view.tcp == Reach::reachable) return;
  view.problem = !view.rdma_problem.empty() && !view.tcp_problem.empty()
                     ? "rdma: " + view.rdma_problem + "; tcp: " + view.tcp_problem
                     : view.rdma_problem + view.tcp_problem;
}

}  // namespace

int target_verb(const std::vector<std::string>& arguments) {
  constexpr std::size_t kArguments = 7;
  if (arguments.size() != kArguments) return 64;
  TargetQuestion question;
  question.connection.name = arguments[0];
  question.connection.address = arguments[1];
  question.connection.port = static_cast<std::uint16_t>(parse_number(arguments[2]).value_or(0));
  if (arguments[3] == "rdma") question.connection.transport = Transport::rdma;
  if (arguments[3] == "tcp") question.connection.transport = Transport::tcp;
  const bool named = !arguments[4].empty();
  question.hostnqn = arguments[5];
  question.hostid = arguments[6];
  TargetView view{.connection = arguments[0]};
  if (question.connection.transport != Transport::rdma) view.tcp = Reach::unreachable;
  if (question.connection.transport != Transport::tcp) view.rdma = Reach::unreachable;
  if (find_address(question, view)) {
    tell(to_line(view));
    reach(question, view);
    say_unreached(view);
    if (!named && !question.hostnqn.empty() && view.problem.empty()) read_log(question, view);
  }
  tell(to_line(view));
  return 0;
}

}  // namespace nvstripe::host

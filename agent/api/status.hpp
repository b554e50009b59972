// Owns Status: what a person wants to know at a glance, computed from one snapshot. Pure; says nothing that the snapshot
// does not hold.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "agent/api/snapshot.hpp"

namespace nvstripe::api {

// mounted: as asked. degraded: mounted, but something is missing or broken. pending: can be made or mounted, the next pass
// does it or `apply` is awaited. unclaimed: a record without a spec entry.
enum class VolumeState { mounted, degraded, pending, waiting, refused, released, data_lost, unclaimed };

struct Reason {
  std::string id, why, remedy;
  bool operator==(const Reason&) const = default;
};

struct MemberStatus {
  std::string key, kernel_name, connection, transport, state;  // state: live, missing, or the controller's
  bool operator==(const MemberStatus&) const = default;
};

struct VolumeStatus {
  std::string name;
  VolumeState state = VolumeState::waiting;
  std::string mount_path, device, stack, stage;
  std::string transport;         // rdma, tcp, pcie, or several joined by '+'
  std::string transport_reason;  // why it is that one
  std::uint64_t size_bytes = 0;
  std::uint32_t wanted_members = 0;
  std::vector<MemberStatus> members;
  std::vector<Reason> waits_for, notes;
  std::vector<std::string> pending;  // sentences of actions that remain
  std::string held;                  // hold, release; empty: not held
  bool mounted = false;              // its device, where the spec says
};

struct ConnectionStatus {
  std::string name, address, transport, state,
      problem;  // state: live, reachable, unreachable, silent, unknown or the controller's
  std::uint64_t controllers = 0, queues = 0;
  std::vector<Reason> waits_for;
};

struct ExportHost {
  std::string nqn;
  std::uint64_t namespaces = 0;
  std::string connected;  // yes, no, unknown
};

struct ExportStatus {
  std::string name, state;  // serving, partial, waiting, refused, held
  std::uint64_t drives = 0, namespaces = 0;
  std::vector<std::string> listens;  // "rdma 10.9.0.1:4420"
  std::vector<ExportHost> hosts;
  std::vector<Reason> waits_for;
};

struct Status {
  std::string version, taken, host_id, host_nqn, provider, hostname;
  std::string activity;  // empty: idle
  SpecState spec;
  std::string pass_error;
  std::vector<VolumeStatus> volumes;
  std::vector<ConnectionStatus> connections;
  std::vector<ExportStatus> exports;
  std::vector<Reason> others;                              // conflicts that belong to none of these
  std::vector<Reason> notes;                               // worth saying, nothing is withheld
  std::vector<std::pair<std::string, std::string>> holds;  // object, why
  std::vector<std::pair<std::string, Reason>> tuning;      // subject, note
  std::vector<ActionOutcome> failures;                     // actions of the last pass that failed
  std::vector<std::string> withheld;                       // sentences that wait for apply or acceptance
  std::string digest;
  std::vector<std::string> cannot_see;  // facets and their reasons, and notes of collectors
};

[[nodiscard]] Status status_of(const Snapshot& snapshot);
[[nodiscard]] std::string_view to_text(VolumeState state);
// 0 fine, 2 degraded or conflicts: design's exit code.
[[nodiscard]] int exit_code_of(const Status& status);

}  // namespace nvstripe::api

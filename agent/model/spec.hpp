// Owns Spec: all that is wanted, nouns only, as the YAML files say it after merging. Reading and its strictness are in
// spec_read; contradictions visible without a machine in spec_check; the documentation of each field in spec_fields.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/units.hpp"
#include "agent/base/uuid.hpp"

namespace nvstripe {

struct SourcePlace {  // where a named item begins, for messages
  std::string file;
  int line = 0, column = 0;
  bool operator==(const SourcePlace&) const { return true; }  // a moved item is the same item
};

struct NodeSpec {
  std::optional<Uuid> host_id;                // nullopt: auto
  std::optional<std::string> failure_domain;  // nullopt: auto
  bool operator==(const NodeSpec&) const = default;
};

struct DeviceSelector {
  std::string kind = "local_ssd";  // the only kind that may be exported or taken
  std::optional<Bytes> min_size, max_size;
  std::optional<std::string> model;  // shell pattern
  std::vector<std::string> serials;
  std::optional<std::uint32_t> count;
  bool operator==(const DeviceSelector&) const = default;
};

struct Listen {
  std::optional<std::string> network;  // CIDR
  std::optional<std::string> interface;
  std::uint16_t port = 4420;
  bool operator==(const Listen&) const = default;
};

struct AllowedHost {
  std::string host;                     // host NQN
  std::optional<std::uint32_t> slices;  // nullopt: all
  bool operator==(const AllowedHost&) const = default;
};

struct ExportSpec {
  std::string name;
  DeviceSelector devices;
  std::uint32_t slices = 1;
  std::vector<std::string> transports{"rdma", "tcp"};
  Listen listen;
  std::vector<AllowedHost> allow;
  SourcePlace place;
  bool operator==(const ExportSpec&) const = default;
};

enum class Transport { automatic, rdma, tcp };

struct ConnectionSpec {
  std::string name;
  std::string address;  // name, IPv4 or IPv6
  std::uint16_t port = 4420;
  Transport transport = Transport::automatic;
  std::optional<std::string> subsystem;       // NQN; nullopt: all that the discovery log offers
  std::optional<std::string> failure_domain;  // nullopt: the connection's own name
  SourcePlace place;
  bool operator==(const ConnectionSpec&) const = default;
};

struct MemberSpec {
  std::vector<std::string> from;  // connection names, or the one word local_ssd
  std::uint32_t count = 0;
  std::optional<std::uint32_t> min_failure_domains;
  std::optional<std::string> unequal_sizes;  // "trim": all are used up to the smallest; nullopt: refuse
  bool operator==(const MemberSpec&) const = default;
};

enum class Stack { md, lvm };
enum class Workload { streaming, random, checkpoint };

struct MountSpec {
  std::string path;
  std::optional<std::string> owner, group, mode;  // names or numbers; octal text
  bool operator==(const MountSpec&) const = default;
};

struct VolumeSpec {
  std::string name;  // [A-Za-z0-9_-]{1,24}
  MemberSpec members;
  std::string redundancy = "none";
  Stack stack = Stack::md;
  Workload workload = Workload::streaming;
  Bytes chunk{128 * 1024};
  std::optional<BytesPerSecond> want_read, want_write;
  MountSpec mount;
  bool wipe_foreign_data = false;  // on_foreign_data: wipe; still needs acceptance of the exact plan
  SourcePlace place;
  bool operator==(const VolumeSpec&) const = default;
};

struct TuningSpec {
  std::string profile = "auto";  // auto or off
  bool operator==(const TuningSpec&) const = default;
};

struct PushSpec {
  std::string url;  // empty: nowhere
  std::chrono::milliseconds every{15'000};
  bool operator==(const PushSpec&) const = default;
};

struct TelemetrySpec {
  std::string listen = "[::]:9766";  // of the scrape endpoint; "off": none
  std::string web_config;            // file with its TLS and users; empty: plain HTTP
  std::string events_url;            // of the CloudEvents receiver; empty: events are kept here and not sent
  PushSpec metrics;                  // OTLP/HTTP
  PushSpec remote_write;             // Prometheus remote write 1.0
  bool operator==(const TelemetrySpec&) const = default;
};
struct Spec {
  std::uint32_t version = 1;
  NodeSpec node;
  std::vector<ExportSpec> exports;
  std::vector<ConnectionSpec> connections;
  std::vector<VolumeSpec> volumes;
  TuningSpec tuning;
  TelemetrySpec telemetry;
  bool operator==(const Spec&) const = default;

  [[nodiscard]] const ConnectionSpec* connection(const std::string& name) const;
  [[nodiscard]] const VolumeSpec* volume(const std::string& name) const;
  [[nodiscard]] const ExportSpec* find_export(const std::string& name) const;
  // No exports, connections or volumes at all: an emptied spec, which changes nothing (law 9).
  [[nodiscard]] bool wants_nothing() const;
};

[[nodiscard]] std::string_view to_text(Transport transport);
[[nodiscard]] std::string_view to_text(Stack stack);
[[nodiscard]] std::string_view to_text(Workload workload);

}  // namespace nvstripe

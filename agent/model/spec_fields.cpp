// Owns the table itself. A field is added here, in spec.hpp and in spec_build.cpp; a test fails if one is forgotten.
#include "agent/model/spec_fields.hpp"

#include <algorithm>
#include <array>

namespace nvstripe {
namespace {

using T = FieldType;

// lvcreate makes at most 128 stripes, and a wider array gains nothing on one VM.
constexpr std::uint64_t kMaxMembers = 128;
// Each slice is a namespace of every drive; beyond this a slip of the pen is likelier than a wish.
constexpr std::uint64_t kMaxSlices = 32;
// XFS aligns its log to at most 256 KiB; a larger chunk silently costs the log its alignment.
// Milliseconds. What is sent more often costs receivers more than it tells; more rarely, and rates cannot be told.
constexpr std::uint64_t kMinEvery = 5'000, kMaxEvery = 3'600'000;
constexpr std::uint64_t kMinChunk = 4096, kMaxChunk = 256 * 1024;

constexpr std::array kFields{
    SpecField{.path = "version", .type = T::number, .required = true, .help = "format of this file", .min = 1, .max = 1},

    SpecField{.path = "node", .type = T::object, .help = "this VM itself"},
    SpecField{
        .path = "node.host_id",
        .type = T::uuid,
        .fallback = "auto",
        .help =
            "host identity, from which host NQN, array and file system UUIDs are derived; auto: DMI's, else by machine-id. "
            "Give one so that a storage VM's allow list can be written before this VM boots"},
    SpecField{.path = "node.failure_domain",
              .type = T::label,
              .fallback = "auto",
              .help = "what fails together with this VM; auto: as the cloud's local metadata or DMI say"},

    SpecField{.path = "exports", .type = T::named_items, .fallback = "[]", .help = "drives of this VM for other VMs"},
    SpecField{
        .path = "exports[].name", .type = T::name, .required = true, .help = "its name, also part of the subsystem's NQN"},
    SpecField{.path = "exports[].devices",
              .type = T::object,
              .fallback = "{kind: local_ssd}",
              .help = "which drives; all conditions must hold"},
    SpecField{.path = "exports[].devices.kind",
              .type = T::choice,
              .fallback = "local_ssd",
              .help = "only drives with positive evidence of being local SSDs are ever taken",
              .choices = "local_ssd"},
    SpecField{.path = "exports[].devices.min_size", .type = T::size, .help = "only drives of at least this size", .min = 1},
    SpecField{.path = "exports[].devices.max_size", .type = T::size, .help = "only drives of at most this size", .min = 1},
    SpecField{
        .path = "exports[].devices.model", .type = T::text, .help = "only this model; * and ? stand for any characters"},
    SpecField{.path = "exports[].devices.serials", .type = T::words, .help = "only these serial numbers"},
    SpecField{.path = "exports[].devices.count",
              .type = T::number,
              .help = "at most so many drives; while fewer are there, those are exported and the rest is waited for",
              .min = 1,
              .max = 1024},
    SpecField{.path = "exports[].slices",
              .type = T::number,
              .fallback = "1",
              .help = "LVM slices of each drive, one namespace each; 1 exports the drive itself",
              .min = 1,
              .max = kMaxSlices},
    SpecField{.path = "exports[].transports",
              .type = T::words,
              .fallback = "[rdma, tcp]",
              .help = "offered transports",
              .choices = "rdma tcp",
              .items = T::choice},
    SpecField{.path = "exports[].listen",
              .type = T::object,
              .required = true,
              .help = "where to listen: by network or by interface, never everywhere"},
    SpecField{.path = "exports[].listen.network", .type = T::network, .help = "addresses of this VM within this network"},
    SpecField{.path = "exports[].listen.interface", .type = T::interface, .help = "addresses of this network interface"},
    SpecField{.path = "exports[].listen.port",
              .type = T::number,
              .fallback = "4420",
              .help = "port, for both transports",
              .min = 1,
              .max = 65535},
    SpecField{
        .path = "exports[].allow", .type = T::items, .required = true, .help = "hosts that may connect; nobody else can"},
    SpecField{.path = "exports[].allow[].host",
              .type = T::nqn,
              .required = true,
              .help = "host NQN, as `nvstripe identity` prints it on that host"},
    SpecField{.path = "exports[].allow[].slices",
              .type = T::number_or_all,
              .fallback = "all",
              .help = "slices of each drive for this host; no slice belongs to two hosts",
              .min = 1,
              .max = kMaxSlices},

    SpecField{
        .path = "connections", .type = T::named_items, .fallback = "[]", .help = "storage VMs whose drives this VM uses"},
    SpecField{.path = "connections[].name", .type = T::name, .required = true, .help = "its name, for members.from"},
    SpecField{
        .path = "connections[].address", .type = T::address, .required = true, .help = "host name, IPv4 or IPv6 address"},
    SpecField{.path = "connections[].port", .type = T::number, .fallback = "4420", .help = "port", .min = 1, .max = 65535},
    SpecField{.path = "connections[].transport",
              .type = T::choice,
              .fallback = "auto",
              .help = "auto: rdma if both ends can, else tcp; status says which and why",
              .choices = "auto rdma tcp"},
    SpecField{
        .path = "connections[].subsystem", .type = T::nqn, .help = "only this subsystem; else all that discovery offers"},
    SpecField{.path = "connections[].failure_domain",
              .type = T::label,
              .fallback = "the connection's name",
              .help = "what fails together: members are spread over domains"},

    SpecField{.path = "volumes",
              .type = T::named_items,
              .fallback = "[]",
              .help = "striped, formatted, mounted volumes of this VM"},
    SpecField{.path = "volumes[].name", .type = T::name, .required = true, .help = "its name, part of array and unit names"},
    SpecField{.path = "volumes[].members",
              .type = T::object,
              .required = true,
              .help = "its drives; chosen once, when the volume is made"},
    SpecField{.path = "volumes[].members.from",
              .type = T::words,
              .required = true,
              .help = "names of connections, or the one word local_ssd",
              .items = T::name},
    SpecField{.path = "volumes[].members.count",
              .type = T::number,
              .required = true,
              .help = "how many drives",
              .min = 1,
              .max = kMaxMembers},
    SpecField{.path = "volumes[].members.min_failure_domains",
              .type = T::number,
              .help = "spread over at least so many failure domains, or make nothing",
              .min = 1,
              .max = kMaxMembers},
    SpecField{.path = "volumes[].members.unequal_sizes",
              .type = T::choice,
              .fallback = "refuse",
              .help = "trim: use every drive up to the size of the smallest; needs `stack: lvm` where they differ",
              .choices = "refuse trim"},
    SpecField{.path = "volumes[].redundancy",
              .type = T::choice,
              .fallback = "none",
              .help = "this version offers none only",
              .choices = "none mirror parity double_parity"},
    SpecField{.path = "volumes[].stack",
              .type = T::choice,
              .fallback = "md",
              .help = "what stripes: mdadm's raid0 or LVM",
              .choices = "md lvm"},
    SpecField{.path = "volumes[].workload",
              .type = T::choice,
              .fallback = "streaming",
              .help = "what it is tuned for",
              .choices = "streaming random checkpoint"},
    SpecField{.path = "volumes[].chunk",
              .type = T::size,
              .fallback = "128KiB",
              .help = "stripe unit of each member, a power of two",
              .min = kMinChunk,
              .max = kMaxChunk},
    SpecField{.path = "volumes[].want", .type = T::object, .help = "speed that is asked for"},
    SpecField{.path = "volumes[].want.read", .type = T::rate, .help = "sequential reading", .min = 1},
    SpecField{.path = "volumes[].want.write", .type = T::rate, .help = "sequential writing", .min = 1},
    SpecField{.path = "volumes[].mount", .type = T::object, .required = true, .help = "where and for whom it is mounted"},
    SpecField{.path = "volumes[].mount.path", .type = T::path, .required = true, .help = "absolute path of the mount point"},
    SpecField{.path = "volumes[].mount.owner", .type = T::account, .help = "owner of its root: user name or number"},
    SpecField{.path = "volumes[].mount.group", .type = T::account, .help = "group of its root: group name or number"},
    SpecField{.path = "volumes[].mount.mode", .type = T::mode, .help = "permissions of its root, in octal"},
    SpecField{.path = "volumes[].on_foreign_data",
              .type = T::choice,
              .fallback = "refuse",
              .help = "wipe: may overwrite what is on its members, once exactly that plan is accepted",
              .choices = "refuse wipe"},

    SpecField{.path = "tuning", .type = T::object, .help = "kernel settings; every old value is recorded"},
    SpecField{.path = "tuning.profile",
              .type = T::choice,
              .fallback = "auto",
              .help = "off: change no kernel setting",
              .choices = "auto off"},

    SpecField{.path = "telemetry", .type = T::object, .help = "what is told to others about this machine"},
    SpecField{.path = "telemetry.listen",
              .type = T::endpoint,
              .fallback = "[::]:9766",
              .help = "where Prometheus scrapes /metrics; off: nowhere"},
    SpecField{
        .path = "telemetry.web_config",
        .type = T::path,
        .help = "file with TLS and users of that endpoint, see docs/metrics.md; without it anybody reads it in the clear"},
    SpecField{.path = "telemetry.upstream", .type = T::object, .help = "what is sent to others by the agent itself"},
    SpecField{.path = "telemetry.upstream.events", .type = T::object, .help = "events, one CloudEvent a request"},
    SpecField{.path = "telemetry.upstream.events.url",
              .type = T::url,
              .required = true,
              .help = "their receiver; keys and tokens are files, see docs/uplink.md"},
    SpecField{.path = "telemetry.upstream.metrics", .type = T::object, .help = "all metrics, as OTLP/HTTP protobuf"},
    SpecField{.path = "telemetry.upstream.metrics.url",
              .type = T::url,
              .required = true,
              .help = "its receiver; without a path /v1/metrics is meant"},
    SpecField{.path = "telemetry.upstream.metrics.every",
              .type = T::duration,
              .fallback = "15s",
              .help = "how often",
              .min = kMinEvery,
              .max = kMaxEvery},
    SpecField{
        .path = "telemetry.upstream.remote_write", .type = T::object, .help = "all metrics, by Prometheus remote write 1.0"},
    SpecField{.path = "telemetry.upstream.remote_write.url",
              .type = T::url,
              .required = true,
              .help = "its receiver, such as http://prometheus:9090/api/v1/write"},
    SpecField{.path = "telemetry.upstream.remote_write.every",
              .type = T::duration,
              .fallback = "15s",
              .help = "how often",
              .min = kMinEvery,
              .max = kMaxEvery},

    SpecField{.path = "jobs", .type = T::not_offered, .help = "what happens when a job ends"},
};

}  // namespace

std::span<const SpecField> spec_fields() { return kFields; }

const SpecField* find_spec_field(std::string_view path) {
  for (const SpecField& field : kFields) {
    if (field.path == path) return &field;
  }
  return nullptr;
}

std::string_view last_part(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

std::vector<const SpecField*> spec_fields_below(std::string_view path) {
  std::vector<const SpecField*> below;
  for (const SpecField& field : kFields) {
    const std::size_t dot = field.path.rfind('.');
    const std::string_view parent = dot == std::string_view::npos ? std::string_view() : field.path.substr(0, dot);
    if (parent == path) below.push_back(&field);
  }
  return below;
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    std::vector<std::size_t> row(candidate.size() + 1);
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = i;
    for (std::size_t i = 0; i < word.size() && word.size() <= 64; ++i) {
      std::size_t diagonal = row[0];
      row[0] = i + 1;
      for (std::size_t j = 0; j < candidate.size(); ++j) {
        const std::size_t replaced = diagonal + (word[i] == candidate[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
      }
    }
    const std::size_t distance = word.size() > 64 ? word.size() : row.back();
    if (distance >= best_distance || distance >= std::max(word.size(), candidate.size())) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

}  // namespace nvstripe

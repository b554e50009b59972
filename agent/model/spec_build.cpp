// Owns which field of the tree becomes which member. Values were checked before, so what does not parse here cannot occur;
// the fallbacks are those of spec.hpp, and a test holds them equal to the table's.
#include "agent/model/spec_build.hpp"

#include <algorithm>

#include "agent/base/text.hpp"

namespace nvstripe {
namespace {

// The scalars of one map by name.
class Fields {
 public:
  explicit Fields(const YamlNode* node) : node_(node) {}

  [[nodiscard]] Fields below(std::string_view key) const { return Fields(find(key)); }
  [[nodiscard]] const YamlNode* find(std::string_view key) const { return node_ == nullptr ? nullptr : node_->find(key); }
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const {
    const YamlNode* found = find(key);
    return found == nullptr ? std::nullopt : std::optional(found->text);
  }
  [[nodiscard]] std::string text_or(std::string_view key, std::string fallback) const {
    return text(key).value_or(std::move(fallback));
  }
  [[nodiscard]] std::optional<std::uint32_t> number(std::string_view key) const {
    const auto found = text(key);
    const auto value = found ? parse_number(*found) : std::nullopt;
    return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
  }
  [[nodiscard]] std::optional<Bytes> size(std::string_view key) const { return parsed(key, parse_bytes); }
  [[nodiscard]] std::optional<BytesPerSecond> rate(std::string_view key) const { return parsed(key, parse_rate); }
  [[nodiscard]] std::optional<std::chrono::milliseconds> duration(std::string_view key) const {
    return parsed(key, parse_duration);
  }
  [[nodiscard]] std::vector<std::string> words(std::string_view key, std::vector<std::string> fallback = {}) const {
    const YamlNode* found = find(key);
    if (found == nullptr) return fallback;
    std::vector<std::string> out;
    for (const YamlNode& item : found->items) out.push_back(item.text);
    return out;
  }

 private:
  template <class T>
  std::optional<T> parsed(std::string_view key, Result<T> (*parse)(std::string_view)) const {
    const auto found = text(key);
    auto value = found ? parse(*found) : Result<T>(fail("absent"));
    return value ? std::optional<T>(*value) : std::nullopt;
  }
  const YamlNode* node_;
};

template <class T>
T choice(const std::optional<std::string>& word, std::initializer_list<T> all, T fallback) {
  for (const T value : all) {
    if (word && *word == to_text(value)) return value;
  }
  return fallback;
}

std::uint16_t port_of(const Fields& fields, std::uint16_t fallback) {
  const auto port = fields.number("port");
  return port ? static_cast<std::uint16_t>(*port) : fallback;
}

ExportSpec make_export(const Fields& fields) {
  ExportSpec made;
  made.name = fields.text_or("name", {});
  const Fields devices = fields.below("devices");
  made.devices.kind = devices.text_or("kind", made.devices.kind);
  made.devices.min_size = devices.size("min_size");
  made.devices.max_size = devices.size("max_size");
  made.devices.model = devices.text("model");
  made.devices.serials = devices.words("serials");
  made.devices.count = devices.number("count");
  made.slices = fields.number("slices").value_or(made.slices);
  made.transports = fields.words("transports", made.transports);
  const Fields listen = fields.below("listen");
  made.listen.network = listen.text("network");
  made.listen.interface = listen.text("interface");
  made.listen.port = port_of(listen, made.listen.port);
  if (const YamlNode* allow = fields.find("allow")) {
    for (const YamlNode& item : allow->items) {
      const Fields host(&item);
      made.allow.push_back({.host = host.text_or("host", {}), .slices = host.number("slices")});
    }
  }
  return made;
}

ConnectionSpec make_connection(const Fields& fields) {
  ConnectionSpec made;
  made.name = fields.text_or("name", {});
  made.address = fields.text_or("address", {});
  made.port = port_of(fields, made.port);
  made.transport = choice(fields.text("transport"), {Transport::automatic, Transport::rdma, Transport::tcp}, made.transport);
  made.subsystem = fields.text("subsystem");
  made.failure_domain = fields.text("failure_domain");
  if (made.failure_domain == made.name) made.failure_domain.reset();
  return made;
}

VolumeSpec make_volume(const Fields& fields) {
  VolumeSpec made;
  made.name = fields.text_or("name", {});
  const Fields members = fields.below("members"), want = fields.below("want"), mount = fields.below("mount");
  made.members.from = members.words("from");
  made.members.count = members.number("count").value_or(0);
  made.members.min_failure_domains = members.number("min_failure_domains");
  made.members.unequal_sizes = members.text("unequal_sizes");
  if (made.members.unequal_sizes == "refuse") made.members.unequal_sizes.reset();
  made.redundancy = fields.text_or("redundancy", made.redundancy);
  made.stack = choice(fields.text("stack"), {Stack::md, Stack::lvm}, made.stack);
  made.workload =
      choice(fields.text("workload"), {Workload::streaming, Workload::random, Workload::checkpoint}, made.workload);
  made.chunk = fields.size("chunk").value_or(made.chunk);
  made.want_read = want.rate("read");
  made.want_write = want.rate("write");
  made.mount.path = mount.text_or("path", {});
  made.mount.owner = mount.text("owner");
  made.mount.group = mount.text("group");
  made.mount.mode = mount.text("mode");
  made.wipe_foreign_data = fields.text("on_foreign_data") == "wipe";
  return made;
}

void take_push(const Fields& fields, PushSpec& into) {
  into.url = fields.text_or("url", into.url);
  into.every = fields.duration("every").value_or(into.every);
}

template <class T>
void merge(const std::string& file, const YamlNode* list, T (*make)(const Fields&), std::vector<T>& into) {
  if (list == nullptr) return;
  for (const YamlNode& item : list->items) {
    T made = make(Fields(&item));
    made.place = {file, item.line, item.column};
    const auto same = std::find_if(into.begin(), into.end(), [&](const T& other) { return other.name == made.name; });
    if (same != into.end()) {
      *same = std::move(made);
    } else {
      into.push_back(std::move(made));
    }
  }
}

}  // namespace

void build_spec(const std::string& file, const YamlNode& root, Spec& spec) {
  const Fields top(&root);
  const Fields node = top.below("node"), tuning = top.below("tuning"), telemetry = top.below("telemetry");
  if (const auto id = node.text("host_id")) {
    const auto uuid = parse_uuid(*id);
    spec.node.host_id = uuid ? std::optional(*uuid) : std::nullopt;
  }
  if (const auto domain = node.text("failure_domain")) {
    spec.node.failure_domain = *domain == "auto" ? std::nullopt : domain;
  }
  spec.tuning.profile = tuning.text_or("profile", spec.tuning.profile);
  spec.telemetry.listen = telemetry.text_or("listen", spec.telemetry.listen);
  spec.telemetry.web_config = telemetry.text_or("web_config", spec.telemetry.web_config);
  const Fields upstream = telemetry.below("upstream");
  spec.telemetry.events_url = upstream.below("events").text_or("url", spec.telemetry.events_url);
  take_push(upstream.below("metrics"), spec.telemetry.metrics);
  take_push(upstream.below("remote_write"), spec.telemetry.remote_write);
  merge(file, top.find("exports"), make_export, spec.exports);
  merge(file, top.find("connections"), make_connection, spec.connections);
  merge(file, top.find("volumes"), make_volume, spec.volumes);
}

}  // namespace nvstripe

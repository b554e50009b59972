// Owns a Spec as JSON, in the shape of its YAML, with every value in force. Fields that are absent stay absent.
#include "agent/model/json.hpp"
#include "agent/model/json_fields.hpp"

namespace nvstripe::json {
namespace {

template <class T>
void put(boost::json::object& out, std::string_view name, const std::optional<T>& value) {
  if (value) out[name] = to_value(*value);
}
void put_size(boost::json::object& out, std::string_view name, const std::optional<Bytes>& value) {
  if (value) out[name] = to_spec(*value);
}
void put_rate(boost::json::object& out, std::string_view name, const std::optional<BytesPerSecond>& value) {
  if (value) out[name] = to_spec(*value);
}

boost::json::object to_object(const DeviceSelector& devices) {
  boost::json::object out;
  out["kind"] = to_value(devices.kind);
  put_size(out, "min_size", devices.min_size);
  put_size(out, "max_size", devices.max_size);
  put(out, "model", devices.model);
  if (!devices.serials.empty()) out["serials"] = to_value(devices.serials);
  put(out, "count", devices.count);
  return out;
}

boost::json::object to_object(const ExportSpec& wanted) {
  boost::json::object out;
  out["name"] = to_value(wanted.name);
  out["devices"] = to_object(wanted.devices);
  out["slices"] = wanted.slices;
  out["transports"] = to_value(wanted.transports);
  boost::json::object listen;
  put(listen, "network", wanted.listen.network);
  put(listen, "interface", wanted.listen.interface);
  listen["port"] = wanted.listen.port;
  out["listen"] = std::move(listen);
  boost::json::array allow;
  for (const AllowedHost& host : wanted.allow) {
    const auto slices = host.slices ? to_value(*host.slices) : boost::json::value("all");
    allow.push_back(boost::json::object{{"host", to_value(host.host)}, {"slices", slices}});
  }
  out["allow"] = std::move(allow);
  return out;
}

boost::json::object to_object(const ConnectionSpec& wanted) {
  boost::json::object out;
  out["name"] = to_value(wanted.name);
  out["address"] = to_value(wanted.address);
  out["port"] = wanted.port;
  out["transport"] = to_value(wanted.transport);
  put(out, "subsystem", wanted.subsystem);
  out["failure_domain"] = to_value(wanted.failure_domain.value_or(wanted.name));
  return out;
}

boost::json::object to_object(const VolumeSpec& wanted) {
  boost::json::object out, members, want, mount;
  out["name"] = to_value(wanted.name);
  members["from"] = to_value(wanted.members.from);
  members["count"] = wanted.members.count;
  put(members, "min_failure_domains", wanted.members.min_failure_domains);
  members["unequal_sizes"] = to_value(wanted.members.unequal_sizes.value_or("refuse"));
  out["members"] = std::move(members);
  out["redundancy"] = to_value(wanted.redundancy);
  out["stack"] = to_value(wanted.stack);
  out["workload"] = to_value(wanted.workload);
  out["chunk"] = to_spec(wanted.chunk);
  put_rate(want, "read", wanted.want_read);
  put_rate(want, "write", wanted.want_write);
  if (!want.empty()) out["want"] = std::move(want);
  mount["path"] = to_value(wanted.mount.path);
  put(mount, "owner", wanted.mount.owner);
  put(mount, "group", wanted.mount.group);
  put(mount, "mode", wanted.mount.mode);
  out["mount"] = std::move(mount);
  out["on_foreign_data"] = wanted.wipe_foreign_data ? "wipe" : "refuse";
  return out;
}

boost::json::object to_object(const PushSpec& wanted) {
  return {{"url", to_value(wanted.url)}, {"every", std::to_string(wanted.every.count()) + "ms"}};
}

boost::json::object to_object(const TelemetrySpec& wanted) {
  boost::json::object out{{"listen", to_value(wanted.listen)}}, upstream;
  if (!wanted.web_config.empty()) out["web_config"] = to_value(wanted.web_config);
  if (!wanted.events_url.empty()) upstream["events"] = boost::json::object{{"url", to_value(wanted.events_url)}};
  if (!wanted.metrics.url.empty()) upstream["metrics"] = to_object(wanted.metrics);
  if (!wanted.remote_write.url.empty()) upstream["remote_write"] = to_object(wanted.remote_write);
  if (!upstream.empty()) out["upstream"] = std::move(upstream);
  return out;
}

template <class T>
boost::json::array to_list(const std::vector<T>& items) {
  boost::json::array out;
  for (const T& item : items) out.push_back(to_object(item));
  return out;
}

}  // namespace

boost::json::object to_json(const Spec& spec) {
  boost::json::object out, node;
  out["version"] = spec.version;
  node["host_id"] = spec.node.host_id ? to_value(*spec.node.host_id) : boost::json::value("auto");
  node["failure_domain"] = to_value(spec.node.failure_domain.value_or("auto"));
  out["node"] = std::move(node);
  out["exports"] = to_list(spec.exports);
  out["connections"] = to_list(spec.connections);
  out["volumes"] = to_list(spec.volumes);
  out["tuning"] = boost::json::object{{"profile", to_value(spec.tuning.profile)}};
  out["telemetry"] = to_object(spec.telemetry);
  return out;
}

}  // namespace nvstripe::json

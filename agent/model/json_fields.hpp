// Owns how one value becomes JSON, and the field lists of records. Included by the json_*.cpp files only.
#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/base/units.hpp"
#include "agent/base/uuid.hpp"
#include "agent/model/device_key.hpp"
#include "agent/model/facet.hpp"
#include "agent/model/inventory.hpp"
#include "agent/model/record.hpp"

namespace nvstripe::json {

// Specialised for each type that becomes an object: `static void each(auto& visit, auto& value)` names every field once.
template <class T>
struct Fields;

template <class T>
concept HasFields = requires {
  sizeof(Fields<T>);
};

inline boost::json::value to_value(const std::string& text) { return boost::json::string(to_utf8(text)); }
inline boost::json::value to_value(bool flag) { return flag; }
inline boost::json::value to_value(std::uint32_t number) { return std::uint64_t{number}; }
inline boost::json::value to_value(std::int32_t number) { return std::int64_t{number}; }
inline boost::json::value to_value(std::uint64_t number) { return number; }
inline boost::json::value to_value(double number) { return number; }
inline boost::json::value to_value(const Bytes& size) { return size.count; }
inline boost::json::value to_value(const Uuid& uuid) { return boost::json::string(to_text(uuid)); }
inline boost::json::value to_value(const DeviceKey& key) { return to_value(key.text); }
inline boost::json::value to_value(std::chrono::seconds time) { return std::int64_t{time.count()}; }

template <class T>
requires std::is_enum_v<T> boost::json::value to_value(T choice) { return boost::json::string(to_text(choice)); }

template <HasFields T>
boost::json::value to_value(const T& value);
template <class T>
boost::json::value to_value(const std::optional<T>& value);
template <class T>
boost::json::value to_value(const std::vector<T>& values);
template <class T>
boost::json::value to_value(const std::map<std::string, T>& values);

// Writes each field it is shown.
struct FieldWriter {
  boost::json::object out;
  template <class T>
  void operator()(std::string_view name, const T& value) {
    out.emplace(name, to_value(value));
  }
  void hex64(std::string_view name, std::uint64_t value) { out.emplace(name, fmt::format("{:016x}", value)); }
};

template <HasFields T>
boost::json::object fields_object(const T& value) {
  FieldWriter writer;
  Fields<T>::each(writer, value);
  return std::move(writer.out);
}

template <HasFields T>
boost::json::value to_value(const T& value) {
  return fields_object(value);
}
template <class T>
boost::json::value to_value(const std::optional<T>& value) {
  return value ? to_value(*value) : boost::json::value(nullptr);
}
template <class T>
boost::json::value to_value(const std::vector<T>& values) {
  boost::json::array out;
  out.reserve(values.size());
  for (const T& value : values) out.push_back(to_value(value));
  return out;
}
template <class T>
boost::json::value to_value(const std::map<std::string, T>& values) {
  boost::json::object out;
  for (const auto& [name, value] : values) out.emplace(to_utf8(name), to_value(value));
  return out;
}

template <>
struct Fields<Signature> {
  static void each(auto& visit, auto& s) {
    visit("type", s.type);
    visit("uuid", s.uuid);
    visit("label", s.label);
    visit("in_progress", s.in_progress);
  }
};

// ---- records: written and read back ---------------------------------------------------------------------------------

template <>
struct Fields<IdentityRecord> {
  static void each(auto& visit, auto& r) {
    visit("host", r.host);
    visit("source", r.source);
  }
};
template <>
struct Fields<VolumeRecord> {
  static void each(auto& visit, auto& r) {
    visit("name", r.name);
    visit("stack", r.stack);
    visit.hex64("generation", r.generation);
    visit("members", r.members);
    visit("stage", r.stage);
    visit("vg_uuid", r.vg_uuid);
    visit("lv_uuid", r.lv_uuid);
    visit("mount_path", r.mount_path);
  }
};
template <>
struct Fields<ExportRecord> {
  static void each(auto& visit, auto& r) {
    visit("drive", r.drive);
    visit("slice", r.slice);
    visit("export", r.export_name);
    visit("host_nqn", r.host_nqn);
    visit("subsystem_nqn", r.subsystem_nqn);
    visit("nsid", r.nsid);
    visit.hex64("generation", r.generation);
    visit("lv_uuid", r.lv_uuid);
    visit("served", r.served);
    visit("consumer_data_seen", r.consumer_data_seen);
    visit("retired", r.retired);
  }
};
template <>
struct Fields<ConnectionRecord> {
  static void each(auto& visit, auto& r) {
    visit("connection", r.connection);
    visit("nqn", r.nqn);
    visit("transport", r.transport);
    visit("traddr", r.traddr);
    visit("trsvcid", r.trsvcid);
    visit("host_traddr", r.host_traddr);
    visit("boot_id", r.boot_id);
  }
};
template <>
struct Fields<TuningRecord> {
  static void each(auto& visit, auto& r) {
    visit("object", r.object);
    visit("attribute", r.attribute);
    visit("old_value", r.old_value);
    visit("set_value", r.set_value);
    visit("foreign_changes", r.foreign_changes);
    visit("instance", r.instance);
  }
};
template <>
struct Fields<HoldRecord> {
  static void each(auto& visit, auto& r) {
    visit("object", r.object);
    visit("why", r.why);
  }
};
template <>
struct Fields<IntentRecord> {
  static void each(auto& visit, auto& r) {
    visit("action_id", r.action_id);
    visit("digest", r.digest);
    visit("reported", r.reported);
  }
};
template <>
struct Fields<JobVolume> {
  static void each(auto& visit, auto& r) {
    visit("name", r.name);
    visit("diskseq", r.diskseq);
    visit("read_bytes", r.read_bytes);
    visit("written_bytes", r.written_bytes);
  }
};
template <>
struct Fields<JobRecord> {
  static void each(auto& visit, auto& r) {
    visit("id", r.id);
    visit("name", r.name);
    visit("source", r.source);
    visit("uid", r.uid);
    visit("unit", r.unit);
    visit("invocation_id", r.invocation_id);
    visit("boot_id", r.boot_id);
    visit("started", r.started);
    visit("last_seen", r.last_seen);
    visit("ended", r.ended);
    visit("result", r.result);
    visit("reason", r.reason);
    visit("exit_status", r.exit_status);
    visit("signal", r.signal);
    visit("accelerator_utilization", r.accelerator_utilization);
    visit("accelerator_source", r.accelerator_source);
    visit("counts_at_start", r.counts_at_start);
    visit("volumes", r.volumes);
    visit("memory_peak_bytes", r.memory_peak_bytes);
  }
};
template <>
struct Fields<Forget> {
  static void each(auto& visit, auto& r) {
    visit("kind", r.kind);
    visit("key", r.key);
  }
};

}  // namespace nvstripe::json

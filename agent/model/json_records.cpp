// Owns records and events as JSON, records both ways. A record that does not read back whole is an error, never a default:
// a volume record without its generation would be taken for another volume.
#include <array>

#include "agent/model/json.hpp"
#include "agent/model/json_fields.hpp"

namespace nvstripe::json {
namespace {

bool from_value(const boost::json::value& value, std::string& out) {
  if (!value.is_string()) return false;
  out.assign(value.get_string().data(), value.get_string().size());
  return true;
}
bool from_value(const boost::json::value& value, bool& out) {
  if (!value.is_bool()) return false;
  out = value.get_bool();
  return true;
}
bool from_value(const boost::json::value& value, std::uint32_t& out) {
  boost::json::error_code error;
  out = value.to_number<std::uint32_t>(error);  // refuses signs, fractions and overflow
  return !error;
}
bool from_value(const boost::json::value& value, std::uint64_t& out) {
  boost::json::error_code error;
  out = value.to_number<std::uint64_t>(error);
  return !error;
}
bool from_value(const boost::json::value& value, double& out) {
  boost::json::error_code error;
  out = value.to_number<double>(error);
  return !error;
}
bool from_value(const boost::json::value& value, Uuid& out) {
  std::string text;
  if (!from_value(value, text)) return false;
  const auto parsed = parse_uuid(text);
  if (parsed) out = *parsed;
  return parsed.has_value();
}
bool from_value(const boost::json::value& value, DeviceKey& out) { return from_value(value, out.text); }
template <class Choice, class Choices>
bool choose(const boost::json::value& value, const Choices& choices, Choice& out) {
  for (const Choice choice : choices) {
    if (!value.is_string() || std::string_view(value.get_string()) != to_text(choice)) continue;
    out = choice;
    return true;
  }
  return false;
}
bool from_value(const boost::json::value& value, Stage& out) {
  return choose(value, std::array{Stage::intended, Stage::made_array, Stage::made}, out);
}
bool from_value(const boost::json::value& value, JobSource& out) { return choose(value, kJobSources, out); }
bool from_value(const boost::json::value& value, JobResult& out) { return choose(value, kJobResults, out); }
bool from_value(const boost::json::value& value, std::vector<DeviceKey>& out) {
  if (!value.is_array()) return false;
  out.clear();
  for (const boost::json::value& item : value.get_array()) {
    if (!from_value(item, out.emplace_back())) return false;
  }
  return true;
}

template <class T>
bool from_value(const boost::json::value& value, std::optional<T>& out) {
  out.reset();
  return value.is_null() || from_value(value, out.emplace());
}
bool from_value(const boost::json::value& value, std::vector<JobVolume>& out);

struct FieldReader {
  const boost::json::object& in;
  std::string missing, wrong;  // the last field of each kind
  template <class T>
  void operator()(std::string_view name, T& value) {
    const boost::json::value* found = in.if_contains(name);
    if (found == nullptr) {
      missing = name;
    } else if (!from_value(*found, value)) {
      wrong = name;
    }
  }
  void hex64(std::string_view name, std::uint64_t& value) {
    std::string text;
    (*this)(name, text);
    const auto parsed = parse_number(text, 16);
    if (text.size() == 16 && parsed) {
      value = *parsed;
    } else {
      wrong = name;
    }
  }
};

bool from_value(const boost::json::value& value, std::vector<JobVolume>& out) {
  if (!value.is_array()) return false;
  out.clear();
  for (const boost::json::value& item : value.get_array()) {
    if (!item.is_object()) return false;
    FieldReader reader{item.get_object(), {}, {}};
    Fields<JobVolume>::each(reader, out.emplace_back());
    if (!reader.missing.empty() || !reader.wrong.empty()) return false;
  }
  return true;
}

template <class T>
Result<Record> read(const boost::json::object& in) {
  T record;
  FieldReader reader{in, {}, {}};
  Fields<T>::each(reader, record);
  const auto refuse = [](std::string_view field, std::string_view why) {
    return fail(fmt::format("cannot read record: field '{}' {}", field, why));
  };
  if (!reader.missing.empty()) return refuse(reader.missing, "is missing");
  if (!reader.wrong.empty()) return refuse(reader.wrong, "has a value of another type");
  return Record(record);
}

struct Row {
  std::string_view kind;
  Result<Record> (*read)(const boost::json::object&);
};
constexpr std::array kRows{Row{"identity", read<IdentityRecord>}, Row{"volume", read<VolumeRecord>},
                           Row{"export", read<ExportRecord>},     Row{"connection", read<ConnectionRecord>},
                           Row{"tuning", read<TuningRecord>},     Row{"hold", read<HoldRecord>},
                           Row{"intent", read<IntentRecord>},     Row{"job", read<JobRecord>}};

}  // namespace

boost::json::object to_json(const Record& record) {
  return std::visit([](const auto& one) { return fields_object(one); }, record);
}

std::string record_text(const Record& record) { return text(to_json(record)); }

Result<Record> parse_record(std::string_view kind, std::string_view text) {
  TRY(const boost::json::value value, parse(text));
  if (!value.is_object()) return fail("cannot read record: it is not a JSON object");
  for (const Row& row : kRows) {
    if (row.kind == kind) return row.read(value.get_object());
  }
  return fail(fmt::format("cannot read record: kind '{}' is not known", printable(kind)));
}

boost::json::object to_json(const Records& records) {
  boost::json::object out;
  out["identity"] = to_value(records.identity);
  out["volumes"] = to_value(records.volumes);
  out["exports"] = to_value(records.exports);
  out["connections"] = to_value(records.connections);
  out["tunings"] = to_value(records.tunings);
  out["holds"] = to_value(records.holds);
  out["intents"] = to_value(records.intents);
  out["jobs"] = to_value(records.jobs);
  return out;
}

boost::json::object to_json(const Event& event) {
  boost::json::object out;
  out["epoch"] = event.epoch;
  out["sequence"] = event.sequence;
  out["id"] = to_value(event.id);
  out["time"] = to_value(event.time);
  out["type"] = to_value(event.type);
  out["subject"] = to_value(event.subject);
  auto data = event.data.empty() ? Result<boost::json::value>(boost::json::object()) : parse(event.data);
  out["data"] = data ? std::move(*data) : to_value(event.data);
  return out;
}

boost::json::object events_document(const std::vector<Event>& events) {
  boost::json::object out = document();
  boost::json::array list;
  for (const Event& event : events) list.push_back(to_json(event));
  out["events"] = std::move(list);
  return out;
}

}  // namespace nvstripe::json

// Owns the JSON that programs see and that the store keeps: documents carry api_version, records are read back. Text from
// devices that is not UTF-8 is escaped. Generations are 16 hex digits, since many readers round large numbers.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>

#include "agent/base/result.hpp"
#include "agent/model/event.hpp"
#include "agent/model/inventory.hpp"
#include "agent/model/plan.hpp"
#include "agent/model/record.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::json {

inline constexpr int kApiVersion = 1;
inline constexpr std::size_t kMaxDepth = 32;  // of text from outside; ours is less than ten deep

// An object that begins with "api_version".
[[nodiscard]] boost::json::object document();
[[nodiscard]] std::string text(const boost::json::value& value);         // one line
[[nodiscard]] std::string pretty_text(const boost::json::value& value);  // two blanks a level, line end at the end
[[nodiscard]] std::string yaml_text(const boost::json::value& value);    // the same content as block YAML
[[nodiscard]] Result<boost::json::value> parse(std::string_view text);   // strict, bounded depth

[[nodiscard]] boost::json::object error_document(const Error& error);

// ---- plans --------------------------------------------------------------------------------------------------------------
[[nodiscard]] boost::json::object to_json(const Step& step);  // kind, sentence and the fields of that kind
[[nodiscard]] boost::json::object to_json(const Action& action);
[[nodiscard]] boost::json::object to_json(const Conflict& conflict);
[[nodiscard]] boost::json::object plan_document(const Plan& plan);  // actions, conflicts, digest (null: destroys nothing)

// ---- what is seen -------------------------------------------------------------------------------------------------------
// One device with what the guard says of it: the guard lives in the engine, so the caller asks it.
struct DeviceListing {
  const BlockDevice* device = nullptr;
  std::vector<std::string> reason_ids, reasons;  // why it is not usable; none: it is
};
[[nodiscard]] boost::json::object devices_document(const Inventory& seen, const std::vector<DeviceListing>& devices);
[[nodiscard]] boost::json::object to_json(const BlockDevice& device);
[[nodiscard]] boost::json::object inventory_document(const Inventory& seen);  // all facets; an unknown one says why

// ---- what is wanted -----------------------------------------------------------------------------------------------------
// Every field with its value in force, in the shape of the YAML: reading the text of it gives an equal Spec.
[[nodiscard]] boost::json::object to_json(const Spec& spec);

// ---- what is remembered -------------------------------------------------------------------------------------------------
[[nodiscard]] boost::json::object to_json(const Record& record);  // without its kind, which is a column of the store
[[nodiscard]] boost::json::object to_json(const Records& records);
[[nodiscard]] std::string record_text(const Record& record);
// The inverse of record_text(); `kind` as record_kind() spells it. A missing field or a wrong type is an error.
[[nodiscard]] Result<Record> parse_record(std::string_view kind, std::string_view text);

// ---- what happened ------------------------------------------------------------------------------------------------------
[[nodiscard]] boost::json::object to_json(const Event& event);
[[nodiscard]] boost::json::object events_document(const std::vector<Event>& events);

}  // namespace nvstripe::json

// Owns lenient reading of programs' JSON. Lenient in types, not in shape: what is no report is an error.
#include "collectors/reports.hpp"

#include <boost/json.hpp>

namespace nvstripe::collectors {
namespace {

namespace json = boost::json;

std::string scalar_text(const json::value& value) {
  if (const auto* text = value.if_string()) return std::string(text->data(), text->size());
  if (value.is_null() || value.is_object()) return {};
  if (const auto* list = value.if_array()) {  // newer lvm prints lists as arrays
    std::string out;
    for (const json::value& item : *list) out += (out.empty() ? "" : ",") + scalar_text(item);
    return out;
  }
  return json::serialize(value);
}

Row row_of(const json::value& value) {
  Row row;
  const auto* object = value.if_object();
  if (object == nullptr) return row;
  for (const auto& member : *object) row[std::string(member.key())] = scalar_text(member.value());
  return row;
}

Result<json::value> parse(std::string_view text) {
  boost::system::error_code code;
  json::value root = json::parse(json::string_view(text.data(), text.size()), code);
  if (code) return fail("the output is no JSON: " + code.message());
  return root;
}

const json::array* array_in(const json::value& value, std::string_view name) {
  const auto* object = value.if_object();
  const auto* member = object == nullptr ? nullptr : object->if_contains(json::string_view(name.data(), name.size()));
  return member == nullptr ? nullptr : member->if_array();
}

}  // namespace

Result<std::vector<Row>> report_rows(std::string_view text, std::string_view what) {
  TRY(const json::value root, parse(text));
  const json::array* reports = array_in(root, "report");
  if (reports == nullptr) return fail("the output has no 'report'");
  std::vector<Row> rows;
  bool any = false;
  for (const json::value& report : *reports) {
    const json::array* list = array_in(report, what);
    if (list == nullptr) continue;
    any = true;
    for (const json::value& item : *list) rows.push_back(row_of(item));
  }
  if (!any) return fail("the report has no '" + std::string(what) + "'");
  return rows;
}

Result<std::vector<LinkAddresses>> link_addresses(std::string_view text) {
  TRY(const json::value root, parse(text));
  const auto* list = root.if_array();
  if (list == nullptr) return fail("the output is no list of links");
  std::vector<LinkAddresses> links;
  for (const json::value& item : *list) {
    LinkAddresses link;
    link.name = row_of(item)["ifname"];
    if (link.name.empty()) continue;  // `ip -j` prints empty objects for what it filters
    if (const json::array* addresses = array_in(item, "addr_info")) {
      for (const json::value& address : *addresses) link.addresses.push_back(row_of(address));
    }
    links.push_back(std::move(link));
  }
  return links;
}

}  // namespace nvstripe::collectors

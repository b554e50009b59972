// Owns lenient reading of programs' JSON: every scalar becomes text, since tools change types between versions.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"

namespace nvstripe::collectors {

using Row = std::map<std::string, std::string>;

// Rows of {"report": [{"<what>": [ {…}, … ]}, …]}, all reports together.
[[nodiscard]] Result<std::vector<Row>> report_rows(std::string_view json, std::string_view what);

struct LinkAddresses {
  std::string name;
  std::vector<Row> addresses;  // family, local, prefixlen
};
// `ip -j addr`
[[nodiscard]] Result<std::vector<LinkAddresses>> link_addresses(std::string_view json);

}  // namespace nvstripe::collectors

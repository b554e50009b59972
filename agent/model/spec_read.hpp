// Owns the way from texts to Spec: strict reading by the table of fields, then merging over files. Pure: which files there
// are is found elsewhere. A text that is wrong anywhere gives no Spec at all, only all of its errors (law 9).
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.hpp"
#include "agent/model/spec.hpp"
#include "agent/model/spec_error.hpp"

namespace nvstripe {

// In this order; in each, nvstripe.yaml first, then conf.d/*.yaml by name. Later files win.
inline constexpr std::array<std::string_view, 3> kSpecFolders{"/usr/lib/nvstripe", "/etc/nvstripe", "/run/nvstripe"};

struct SpecText {
  std::string path, text;
};

struct SpecReading {
  Spec spec;                      // a default one unless `errors` is empty
  std::vector<SpecError> errors;  // by file in the order given, then by line
};

// Reads and merges: named items of a later file replace the earlier one whole, other fields replace one by one.
[[nodiscard]] SpecReading read_spec(const std::vector<SpecText>& files);
// The same, then check_spec(): what everybody but tests calls.
[[nodiscard]] SpecReading load_spec(const std::vector<SpecText>& files);

// load_spec() as one Result: all errors in `what`, a line each; the remedy is in each line.
[[nodiscard]] Result<Spec> load_spec_or_error(const std::vector<SpecText>& files);

}  // namespace nvstripe

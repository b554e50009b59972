// Owns SpecError: one thing wrong with the spec, with its place and what to write instead.
#pragma once
#include <string>
#include <vector>

#include "agent/model/spec.hpp"

namespace nvstripe {

struct SpecError {
  SourcePlace place;
  std::string what;    // one clause, lower case, values in single quotes
  std::string remedy;  // never empty
};

// "/etc/nvstripe/nvstripe.yaml:12:5: unknown key 'volume'; did you mean 'volumes'?"
[[nodiscard]] std::string to_text(const SpecError& error);

}  // namespace nvstripe

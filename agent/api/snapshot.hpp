// Owns Snapshot: what the engine last saw, planned and did, as one immutable value that any thread may read.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "agent/engine/reconcile.hpp"
#include "agent/model/spec.hpp"

namespace nvstripe::api {

// Where the spec in force came from, and why what lies in the folders now is not it.
struct SpecState {
  Spec spec;
  std::vector<std::string> files;  // that the spec in force was read from
  std::string loaded;              // RFC 3339; empty: there is no spec yet
  bool last_good = false;          // the folders hold something else that was rejected
  std::string problem, remedy;     // why it was rejected; empty: the folders' content is in force
};

struct Snapshot {
  std::uint64_t serial = 0;  // rises with each one published
  std::string taken;         // RFC 3339; empty: nothing was looked at yet
  SpecState spec;
  PassReport pass;
  std::string pass_error;  // why the last pass could not run at all
};

}  // namespace nvstripe::api

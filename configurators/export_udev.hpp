// Owns the udev rules of exported drives: what they must say, and whether they say so.
#pragma once
#include <string>
#include <vector>

#include "configurators/export_wishes.hpp"

namespace nvstripe::configure {

struct RuleState {
  std::string text;      // what the file is to say
  bool current = false;  // it says so, or there is nothing to say and no file
  Fact fact;             // given once it says so
};
[[nodiscard]] RuleState export_rules(const ExportWishes& wishes, const Inventory& seen);

}  // namespace nvstripe::configure

// Proves what the rules for exported drives say, and that they are in place before a drive is served.
#include <algorithm>

#include "configurators/export_names.hpp"
#include "configurators/exports.hpp"
#include "tests/configurators/served.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using namespace nvstripe::configure;
using namespace nvstripe::served;

TEST_CASE("the rules list each exported drive by wwid and nsid") {
  const Draft draft = export_udev(pool_spec(), storage(2));
  REQUIRE(draft.actions.size() == 1);
  const auto* file = std::get_if<PutFile>(&draft.actions.front().steps.front());
  REQUIRE(file != nullptr);
  CHECK(file->path == "/etc/udev/rules.d/62-nvstripe-exports.rules");
  CHECK(golden_difference("62-nvstripe-exports.rules", file->text) == "");
  CHECK(file->text.starts_with("# Made by nvstripe"));  // the mark by which collectors/units.cpp knows the file as ours
  CHECK(draft.actions.front().steps.back() == Step{Run{{"udevadm", "control", "--reload"}}});
}

TEST_CASE("no drive is served before its rule is in place") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  const Action rules = export_udev(spec, seen).actions.front();
  const Action serve = exports(spec, seen).actions.front();
  REQUIRE(rules.gives.size() == 1);
  CHECK(std::find(serve.needs.begin(), serve.needs.end(), rules.gives.front()) != serve.needs.end());
  carry_out(seen, rules);
  CHECK(export_udev(spec, seen).actions.empty());
  CHECK(exports(spec, seen).actions.front().needs.empty());
}

TEST_CASE("a drive that is away keeps its rule, for udev sees it first when it comes back") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  settle(spec, seen);
  std::erase_if(seen::blocks(seen), [](const BlockDevice& device) { return device.key == seen::local_ssd(2).key; });
  CHECK(export_udev(spec, seen).actions.empty());
}

TEST_CASE("a drive that cannot be looked at just now keeps its rule, though nobody has it yet") {
  const Spec spec = pool_spec();
  Inventory seen = storage(2);
  carry_out(seen, export_udev(spec, seen).actions.front());
  for (BlockDevice& device : seen::blocks(seen)) {
    if (device.kind == DeviceKind::local_ssd) device.look = Look::unknown;
  }
  CHECK(export_udev(spec, seen).actions.empty());
}

TEST_CASE("odd bytes in an identifier cannot end the pattern of a rule") {
  const Spec spec = pool_spec();
  Inventory seen = storage(1);
  seen::device(seen, seen::local_ssd(1).key).wwid = "nvme.1b36-\"|*\n";
  const Draft draft = export_udev(spec, seen);
  const auto* file = std::get_if<PutFile>(&draft.actions.front().steps.front());
  CHECK(file->text.find("ATTRS{wwid}==\"nvme.1b36-????\"") != std::string::npos);
}

TEST_CASE("the rules go when nothing is exported any more") {
  Inventory seen = storage(1);
  settle(pool_spec(), seen);
  const Spec empty;
  carry_out(seen, export_withdrawal(empty, seen).actions.front());
  const Draft draft = export_udev(empty, seen);
  REQUIRE(draft.actions.size() == 1);
  CHECK(draft.actions.front().steps.front() == Step{Remove{std::string(kExportRules)}});
}

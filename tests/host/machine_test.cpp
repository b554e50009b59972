// Tests of the real World over a machine that is told: a fake look, a tape for programs, real hands in a temporary folder.
#include "agent/engine/machine.hpp"

#include <unistd.h>

#include "agent/host/tape.hpp"
#include "tests/host/folder.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::test;
using namespace std::chrono_literals;

namespace {

class NoReader : public host::Reader {
 public:
  Result<std::string> file(std::string_view) const override { return fail("none"); }
  Result<std::string> link(std::string_view) const override { return fail("none"); }
  Result<std::vector<std::string>> list(std::string_view) const override { return fail("none"); }
  Result<std::string> canonical(std::string_view) const override { return fail("none"); }
  host::Entry entry(std::string_view) const override { return host::Entry::absent; }
  Result<std::string> output(std::string_view, const std::vector<std::string>&) const override { return fail("none"); }
  Result<host::Status> status(std::string_view) const override { return fail("none"); }
  bool captured() const override { return false; }
};

BlockDevice drive(const std::string& key, const std::string& name) {
  return {.key = {key},
          .kernel_name = name,
          .device_number = "1:3",
          .diskseq = 4,
          .kind = DeviceKind::array,
          .size = {1u << 30}};
}

struct Told {
  Inventory seen;
  host::TapeRunner tape{{}};
  host::LookAnswers kept;  // answers of the looker
  int observed = 0;
  Folder folder;

  Told() {
    seen.blocks = Facet<std::vector<BlockDevice>>::known({drive("md:1", "md127")});
    seen.controllers = Facet<std::vector<NvmeController>>::known({});
    seen.exports = Facet<TargetConfiguration>::known({});
  }
  [[nodiscard]] std::unique_ptr<Machine> machine(const std::string& calls = {}) {
    tape = host::TapeRunner(host::parse_tape(calls).value());
    MachineParts parts;
    parts.reader = std::make_unique<NoReader>();
    parts.runner = &tape;
    parts.looker = host::Looker([this](const auto&, auto) { return kept; },
                                [](const std::string&) {
                                  return host::Traces{1, 0};
                                });
    parts.observe = [this](const host::Reader&, const Spec&, FacetSet, Inventory& out) {
      ++observed;
      const auto records = out.records;
      out = seen;
      out.records = records;
    };
    parts.look_now = [](const std::vector<host::LookAsked>& asked, std::chrono::milliseconds) {
      host::LookAnswers answers;
      for (const auto& one : asked) answers[one.device_number] = {.look = Look::none, .content = Content::zero};
      return answers;
    };
    parts.dev = folder / "dev";
    parts.sys_block = folder / "sys";
    std::filesystem::create_directories(parts.dev);
    return std::make_unique<Machine>(std::move(parts));
  }
};

bool says(const Result<>& result, std::string_view part) {
  return !result && result.error().what.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a program gets its arguments, and its failure is explained") {
  Told told;
  auto machine = told.machine(
      "> [\"systemctl\",\"daemon-reload\"]\n= 0\n> [\"systemctl\",\"start\",\"x\"]\n= 5\n! Unit x not found.\n");
  CHECK(machine->perform(Run{{"systemctl", "daemon-reload"}}).has_value());
  const auto failed = machine->perform(Run{{"systemctl", "start", "x"}});
  CHECK(says(failed, "exit status 5"));
  CHECK(says(failed, "Unit x not found."));
  CHECK(told.tape.complaint().empty());
}

TEST_CASE("devices that a look at something else reads anew are looked at anew") {
  Told told;
  told.kept["1:3"] = {.look = Look::none, .content = Content::zero};
  const auto machine = told.machine();
  CHECK(machine->look({}, kAllFacets).find({"md:1"})->content == Content::zero);
  for (const auto facet : {FacetName::identity, FacetName::arrays, FacetName::lvm, FacetName::mounts})
    CHECK(machine->look({}, static_cast<FacetSet>(facet)).find({"md:1"})->content == Content::zero);
}

TEST_CASE("an exit status that is expected is no failure") {
  Told told;
  auto machine = told.machine("> [\"mdadm\",\"--stop\",\"x\"]\n= 1\n");
  CHECK(machine->perform(Run{{"mdadm", "--stop", "x"}, 60s, {0, 1}}).has_value());
}

TEST_CASE("a regular file in the place of a device node is never handed to a program") {
  Told told;
  auto machine = told.machine();
  put(told.folder / "dev/md127", "");
  CHECK(says(machine->perform(Run{{"mkfs.xfs", DeviceRef{{"md:1"}}}}), "is not a block device"));
  CHECK(says(machine->perform(RequireContent{{"md:1"}, 4, {}, false}), "is not a block device"));
}

TEST_CASE("last looks in a row are judged by one look at the machine, and by a new one after any other step") {
  Told told;
  auto machine = told.machine("> [\"systemctl\",\"daemon-reload\"]\n= 0\n");
  const RequireContent require{{"md:2"}, 4, {}, false};
  CHECK(says(machine->perform(require), "'md:2' is not there"));
  CHECK(says(machine->perform(require), "'md:2' is not there"));
  CHECK(told.observed == 1);
  CHECK(machine->perform(Run{{"systemctl", "daemon-reload"}}).has_value());
  CHECK(says(machine->perform(require), "'md:2' is not there"));
  CHECK(told.observed == 2);
}

TEST_CASE("a device that is gone, or whose key two devices have, is not used") {
  Told told;
  auto machine = told.machine();
  CHECK(says(machine->perform(Run{{"mkfs.xfs", DeviceRef{{"md:2"}}}}), "'md:2' is not there"));
  told.seen.blocks.value()[0].ambiguous_key = true;
  CHECK(says(machine->perform(Run{{"mkfs.xfs", DeviceRef{{"md:1"}}}}), "two devices"));
}

TEST_CASE("attributes of a device are written below its folder, and below each of its paths") {
  Told told;
  auto machine = told.machine();
  // A device number that is a node of every machine: only its kind is looked at here.
  told.seen.blocks.value()[0].paths = {"nvme0c0n1", "nvme0c1n1"};
  for (const auto* name : {"nvme0c0n1", "nvme0c1n1"}) {
    std::filesystem::create_directories(told.folder / ("sys/" + std::string(name) + "/queue"));
    put(told.folder / ("sys/" + std::string(name) + "/queue/scheduler"), "");
  }
  put(told.folder / "plain", "");
  CHECK(machine->perform(WriteAttribute{.path = told.folder / "plain", .value = "1"}).has_value());
  CHECK(get(told.folder / "plain") == "1");
  CHECK(machine->perform(WriteAttribute{.path = told.folder / "absent", .value = "1", .if_present = true}).has_value());
  CHECK_FALSE(machine->perform(WriteAttribute{.path = told.folder / "absent", .value = "1"}).has_value());
}

TEST_CASE("A-50 a controller that exists in any state is not connected again") {
  Told told;
  auto machine = told.machine();
  told.seen.controllers.value() = {{.kernel_name = "nvme1",
                                    .subsystem_nqn = "nqn.x",
                                    .transport = "tcp",
                                    .state = "connecting",
                                    .traddr = "10.9.0.1",
                                    .trsvcid = "4420"}};
  CHECK(machine->perform(Connect{.nqn = "nqn.x", .transport = "tcp", .traddr = "10.9.0.1", .trsvcid = "4420"}).has_value());
  told.seen.controllers.value()[0].state = "deleting";
  CHECK(says(machine->perform(Connect{.nqn = "nqn.x", .transport = "tcp", .traddr = "10.9.0.1", .trsvcid = "4420"}),
             "being deleted"));
}

TEST_CASE("nothing is connected or disconnected while the controllers cannot be seen") {
  Told told;
  auto machine = told.machine();
  told.seen.controllers = Facet<std::vector<NvmeController>>::unavailable("no sysfs");
  CHECK(says(machine->perform(Connect{.nqn = "nqn.x", .transport = "tcp"}), "cannot see"));
  CHECK(says(machine->perform(Disconnect{.nqn = "nqn.x", .transport = "tcp"}), "cannot see"));
}

TEST_CASE("a controller that is gone needs no disconnect") {
  Told told;
  CHECK(told.machine()
            ->perform(Disconnect{.nqn = "nqn.x", .transport = "tcp", .traddr = "10.9.0.1", .trsvcid = "4420"})
            .has_value());
}

TEST_CASE("waiting ends when the fact holds, and names it when it does not") {
  Told told;
  auto machine = told.machine();
  CHECK(machine->perform(Await{"block:md:1", 5s}).has_value());
  const auto late = machine->perform(Await{"block:md:2", 0s});
  CHECK(says(late, "'block:md:2' did not come about"));
  CHECK(is_errno(late.error(), ETIMEDOUT));
}

TEST_CASE("facets that were not asked for are taken over from the last look") {
  Told told;
  auto machine = told.machine();
  told.seen.notes = {"whole"};
  CHECK(machine->look({}, kAllFacets).blocks.is_known());
  CHECK_FALSE(machine->look({}, kAllFacets).targets.is_known());
}

TEST_CASE("a write needs exactly the content that was planned for") {
  const Signature xfs{"xfs", "u", ""}, md{"linux_raid_member", "a", "nvs-train"};
  const RequireContent blank{{"k"}, 1, {}, false};
  const RequireContent own{{"k"}, 1, {md}, false};
  const RequireContent accepted{{"k"}, 1, {xfs, md}, true};
  const RequireContent accepted_blank{{"k"}, 1, {}, true};
  using host::LookAnswer;
  CHECK(content_objection(LookAnswer{.look = Look::none, .content = Content::zero}, blank).empty());
  CHECK_FALSE(content_objection(LookAnswer{.look = Look::none, .content = Content::data}, blank).empty());
  CHECK_FALSE(
      content_objection(LookAnswer{.look = Look::found, .content = Content::data, .signatures = {xfs}}, blank).empty());
  CHECK_FALSE(content_objection(LookAnswer{.look = Look::unknown}, blank).empty());
  CHECK_FALSE(content_objection(LookAnswer{.look = Look::unknown}, accepted_blank).empty());
  CHECK_FALSE(content_objection(LookAnswer{.look = Look::ambiguous, .content = Content::data}, blank).empty());
  CHECK_FALSE(content_objection(LookAnswer{.look = Look::ambiguous, .content = Content::data}, accepted_blank).empty());
  CHECK(content_objection(LookAnswer{.look = Look::found, .content = Content::data, .signatures = {md}}, own).empty());
  CHECK_FALSE(
      content_objection(LookAnswer{.look = Look::found, .content = Content::data, .signatures = {md, xfs}}, own).empty());
  CHECK(content_objection(LookAnswer{.look = Look::ambiguous, .content = Content::data, .signatures = {md, xfs}}, accepted)
            .empty());
  CHECK(content_objection(LookAnswer{.look = Look::none, .content = Content::data}, accepted_blank).empty());
  CHECK_FALSE(content_objection(LookAnswer{.look = Look::none, .content = Content::zero}, own).empty());
}

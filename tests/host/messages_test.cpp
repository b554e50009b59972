// Tests of what programs' messages are taken to mean, over output recorded on a real machine.
#include "agent/host/tape.hpp"
#include "agent/host/tools.hpp"
#include "tests/host/folder.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::host;

namespace {
std::vector<TapeEntry> tape(const std::string& name) {
  auto entries = parse_tape(test::get(std::string(NVSTRIPE_SOURCE_DIR) + "/tests/fixtures/tapes/" + name));
  REQUIRE(entries.has_value());
  REQUIRE_FALSE(entries->empty());
  return std::move(*entries);
}
}  // namespace

TEST_CASE("each recorded refusal is told with its cause in our words and a remedy") {
  const std::vector<std::string> causes = {"a member is in use",
                                           "the device carries a file system already",
                                           "mdadm asked a question that nobody may answer",
                                           "Unit no-such.mount not found",
                                           "the running kernel has no such module",
                                           "a drive belongs to another volume group",
                                           "Needs to be larger"};
  const auto entries = tape("refusals.tape");
  REQUIRE(entries.size() == causes.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto error = explain(entries[i].argv, entries[i].result);
    INFO(error.what);
    CHECK(entries[i].result.exit_status != 0);
    CHECK(error.what.find(causes[i]) != std::string::npos);
    CHECK(error.what.find('\n') == std::string::npos);
    CHECK_FALSE(error.remedy.empty());
  }
}

TEST_CASE("A-40 what programs say when they succeed is benign to the last line") {
  for (const auto& entry : tape("successes.tape")) {
    INFO(to_tape(entry));
    CHECK(entry.result.exit_status == 0);
    CHECK(without_benign(entry.argv[0], entry.result.out + entry.result.err).empty());
  }
}

TEST_CASE("the reports of LVM are asked for exactly as they were recorded") {
  TapeRunner runner(tape("lvm-reports.tape"));
  for (const auto* name : {"lvm.pvs", "lvm.vgs", "lvm.lvs"}) {
    const auto report = read_output(runner, name, {"/dev/nvme0n1", "/dev/nvme1n1"});
    REQUIRE(report.has_value());
    CHECK(report->find("nvs_t_12345678") != std::string::npos);
  }
  CHECK(runner.complaint().empty());
}

// Tests of whom the looker asks, and what it remembers.
#include "agent/host/looker.hpp"

#include "tests/host/folder.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::host;
using namespace std::chrono_literals;

namespace {

BlockDevice drive(const std::string& name, const std::string& number, DeviceKind kind) {
  return {.key = {"nvme:" + name},
          .kernel_name = name,
          .device_number = number,
          .diskseq = 1,
          .kind = kind,
          .size = {1u << 30},
          .controllers = {name.substr(0, 5)}};
}

Inventory machine() {
  Inventory seen;
  BlockDevice array{.key = {"md:1"},
                    .kernel_name = "md127",
                    .device_number = "9:127",
                    .kind = DeviceKind::array,
                    .size = {1u << 30},
                    .slaves = {{"nvme:nvme1n1"}}};
  seen.blocks = Facet<std::vector<BlockDevice>>::known({drive("nvme0n1", "259:0", DeviceKind::system),
                                                        drive("nvme1n1", "259:1", DeviceKind::remote_namespace),
                                                        drive("nvme2n1", "259:2", DeviceKind::local_ssd), array});
  seen.controllers = Facet<std::vector<NvmeController>>::known({{.kernel_name = "nvme0", .state = "live"},
                                                                {.kernel_name = "nvme1", .state = "live"},
                                                                {.kernel_name = "nvme2", .state = "live"}});
  return seen;
}

struct Asked {
  std::vector<std::string> numbers;
  std::vector<std::string> held;  // those of them that were asked with Depth::held
  LookAnswer answer{.look = Look::none, .content = Content::zero};
  Traces traces{1, 0};
  Looker looker{[this](const std::vector<LookAsked>& devices, std::chrono::milliseconds) {
                  LookAnswers answers;
                  for (const auto& device : devices) {
                    numbers.push_back(device.device_number);
                    if (device.depth == Depth::held) held.push_back(device.device_number);
                    answers[device.device_number] = answer;
                  }
                  return answers;
                },
                [this](const std::string&) { return traces; }};
  Inventory fill(Inventory seen, std::chrono::seconds at = 0s) {
    numbers.clear();
    held.clear();
    looker.fill(seen, std::chrono::steady_clock::time_point(at));
    return seen;
  }
};

using Numbers = std::vector<std::string>;

}  // namespace

TEST_CASE("only local SSDs, remote namespaces and arrays are looked at, and once while nothing changes") {
  Asked asked;
  const auto seen = asked.fill(machine());
  CHECK(asked.numbers == Numbers{"259:1", "259:2", "9:127"});
  CHECK(seen.find({"nvme:nvme0n1"})->look == Look::unknown);
  CHECK(seen.find({"nvme:nvme1n1"})->look == Look::none);
  CHECK(seen.find({"nvme:nvme1n1"})->content == Content::zero);
  asked.fill(machine(), 1000s);
  CHECK(asked.numbers.empty());
}

TEST_CASE("a changed udev record, another disk sequence or our own write makes a look new") {
  Asked asked;
  asked.fill(machine());
  asked.traces.record_time = 2;
  asked.fill(machine());
  CHECK(asked.numbers.size() == 3);
  auto replaced = machine();
  replaced.blocks.value()[1].diskseq = 7;
  asked.fill(replaced);
  CHECK(asked.numbers == Numbers{"259:1"});
  asked.looker.forget("9:127");
  asked.fill(replaced);
  CHECK(asked.numbers == Numbers{"9:127"});
}

TEST_CASE("nothing is asked of a controller that is not live, nor of what is stacked on it") {
  Asked asked;
  auto away = machine();
  away.controllers.value()[1].state = "connecting";
  const auto seen = asked.fill(away);
  CHECK(asked.numbers == Numbers{"259:2"});
  CHECK(seen.find({"nvme:nvme1n1"})->look == Look::unknown);
  CHECK(seen.find({"md:1"})->look_reason == "no controller of it is live");
}

TEST_CASE("what was found stays known while its target is away, that nothing was found does not") {
  Asked asked;
  asked.answer = {.look = Look::found, .content = Content::data, .signatures = {{"xfs", "u", ""}}};
  asked.fill(machine());
  auto away = machine();
  away.controllers.value()[1].state = "connecting";
  CHECK(asked.fill(away).find({"md:1"})->look == Look::found);
  asked.looker.forget_all();
  asked.answer = {.look = Look::none, .content = Content::zero};
  asked.fill(machine());
  CHECK(asked.fill(away).find({"nvme:nvme1n1"})->look == Look::unknown);
}

TEST_CASE("a device that timed out is left alone for a while") {
  Asked asked;
  asked.answer = {.look = Look::unknown, .reason = "reading it timed out"};
  asked.fill(machine(), 100s);
  asked.fill(machine(), 101s);
  CHECK(asked.numbers.empty());
  asked.fill(machine(), 140s);
  CHECK(asked.numbers.size() == 3);
}

TEST_CASE("that nothing was found holds until something is written, which a consumer of an export does unheard") {
  Asked asked;
  asked.fill(machine());
  asked.traces.sectors_written = 8;
  asked.answer = {.look = Look::found, .content = Content::data, .signatures = {{"linux_raid_member", "u", ""}}};
  const auto seen = asked.fill(machine());
  CHECK(asked.numbers.size() == 3);
  CHECK(seen.find({"nvme:nvme2n1"})->look == Look::found);
  asked.traces.sectors_written = 800;
  asked.fill(machine());
  CHECK(asked.numbers.empty());
}

TEST_CASE("a new device is looked at when udev has handled it, or has not for long, or is not there") {
  Asked asked;
  asked.traces.record_time = 0;
  const auto seen = asked.fill(machine(), 100s);
  CHECK(asked.numbers.empty());
  CHECK(seen.find({"nvme:nvme1n1"})->look_reason == "udev has not handled it yet");
  asked.fill(machine(), 111s);
  CHECK(asked.numbers.size() == 3);
  asked.looker.forget_all();
  asked.traces.record_time = kNoUdev;
  asked.fill(machine(), 112s);
  CHECK(asked.numbers.size() == 3);
}

TEST_CASE("a member is looked at once while its array holds it, and wholly when it is let go") {
  Asked asked;
  asked.fill(machine());
  auto stacked = machine();
  stacked.blocks.value()[1].holders = {{"md:1"}};
  asked.traces = {2, 8};
  asked.answer = {.look = Look::found, .content = Content::data, .signatures = {{"linux_raid_member", "u", ""}}};
  asked.fill(stacked);
  CHECK(asked.held == Numbers{"259:1"});
  asked.traces.record_time = 3;
  asked.fill(stacked);
  CHECK(asked.numbers == Numbers{"259:2", "9:127"});
  asked.fill(machine());
  CHECK(asked.numbers == Numbers{"259:1"});
  CHECK(asked.held.empty());
}

TEST_CASE("an answer survives its line, odd labels included") {
  const LookAnswer answer{.look = Look::ambiguous,
                          .reason = "two \"of\" them",
                          .content = Content::data,
                          .signatures = {{"xfs", "u", "a\\b", true}, {"iso9660", "", ""}}};
  const auto parsed = parse_line(to_line("259:3", answer));
  REQUIRE(parsed.has_value());
  CHECK(parsed->first == "259:3");
  CHECK(parsed->second == answer);
  CHECK_FALSE(parse_line("{}").has_value());
  CHECK_FALSE(parse_line("nonsense").has_value());
}

TEST_CASE("a child looks at each device it is given, and what is none says so") {
  const test::Folder folder;
  test::put(folder / "file", "x");
  const auto answers = look_in_child({{"1:2", folder / "file"}, {"1:3", folder / "absent"}}, 20s);
  REQUIRE(answers.size() == 2);
  CHECK(answers.at("1:2").look == Look::unknown);
  CHECK(answers.at("1:2").reason.find("not a block device") != std::string::npos);
  CHECK(answers.at("1:3").reason.find("cannot open") != std::string::npos);
}

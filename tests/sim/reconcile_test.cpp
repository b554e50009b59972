// Owns the checks of the loop itself, on drafts made by hand and a machine that does as it is told.
#include <deque>

#include "agent/engine/reconcile.hpp"
#include "agent/model/event.hpp"
#include "tests/sim/bench.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;

namespace {

// Shows the units that were written; fails where told to.
struct Machine : World {
  Inventory base = seen::machine();
  std::set<std::string> written, failing, without_effect;
  std::vector<std::string> performed;
  std::vector<FacetSet> looks;
  int open = 0;
  std::error_code cause;  // of what fails

  Inventory look(const Spec&, FacetSet wanted) override {
    looks.push_back(wanted);
    Inventory seen = base;
    for (const std::string& path : written) seen.units.value().push_back({path, path, ""});
    return seen;
  }
  void begin_action(const Action&) override { ++open; }
  void end_action() override { --open; }
  Result<> perform(const Step& step) override {
    if (const auto* look = std::get_if<RequireContent>(&step)) {
      if (failing.contains(look->device.text)) return fail("it carries data without a signature", "look");
      return {};
    }
    const std::string& path = std::get<PutFile>(step).path;
    performed.push_back(path);
    if (failing.contains(path)) return fail("cannot write '" + path + "'", "make room", cause);
    if (!without_effect.contains(path)) written.insert(path);
    return {};
  }
};

Action put(const std::string& name, Risk risk = Risk::reversible, const std::string& needs = {}) {
  const std::string path = "/etc/nvstripe/" + name;
  Action out;
  out.id = "file.put:" + name;
  out.object = "volume:" + name;
  out.sentence = "write " + name;
  out.risk = risk;
  out.steps = {PutFile{path, "", 0644}};
  out.gives = {"path:" + path};
  if (!needs.empty()) out.needs = {"path:/etc/nvstripe/" + needs};
  return out;
}

struct Loop {
  sim::Clock clock;
  sim::MemoryJournal journal{clock};
  Machine machine;
  Reconciler daemon{machine, journal};
  std::deque<Action> wanted;
  Permission permission;

  PassReport pass(std::int64_t now_ms = 0) {
    const Reconciler::DraftOf draft = [&](const Spec&, const Inventory& seen) {
      Draft out;
      for (const Action& action : wanted) {
        if (!holds(action, seen)) out.actions.push_back(action);
      }
      return out;
    };
    auto report = daemon.carry_out(Spec{}, draft, permission, now_ms);
    if (!report) FAIL(report.error().what);
    return *report;
  }
  static bool holds(const Action& action, const Inventory& seen) {
    for (const UnitFile& unit : seen.units.value()) {
      if ("path:" + unit.path == action.gives[0]) return true;
    }
    return false;
  }
};

}  // namespace

TEST_CASE("an action is journalled before and after its steps, and looked at again in part") {
  Loop loop;
  loop.wanted = {put("a"), put("b", Risk::reversible, "a")};
  const PassReport report = loop.pass();
  CHECK(loop.machine.performed == std::vector<std::string>{"/etc/nvstripe/a", "/etc/nvstripe/b"});
  CHECK(report.plan.actions.empty());
  REQUIRE(report.outcomes.size() == 2);
  CHECK(loop.journal.count_events(std::string(event::kActionSucceeded)) == 2);
  CHECK(loop.journal.kept.intents.empty());
  REQUIRE(loop.machine.looks.size() == 4);  // full, two in part, full
  CHECK(loop.machine.looks.front() == kAllFacets);
  CHECK_FALSE(contains(loop.machine.looks[1], FacetName::blocks));
  CHECK(loop.machine.looks.back() == kAllFacets);
  CHECK(loop.machine.open == 0);
}

TEST_CASE("what interrupts waits for apply, and what needs it waits with it") {
  Loop loop;
  loop.wanted = {put("a", Risk::disruptive), put("b", Risk::reversible, "a"), put("c")};
  CHECK(loop.pass().withheld == std::vector<std::string>{"file.put:a"});
  CHECK(loop.machine.performed == std::vector<std::string>{"/etc/nvstripe/c"});
  loop.permission.disruptive = true;
  CHECK(loop.pass().plan.actions.empty());
  CHECK(loop.machine.performed.size() == 3);
}

TEST_CASE("what destroys waits for the digest of exactly that plan, which is good for one apply") {
  Loop loop;
  loop.wanted = {put("a", Risk::destroys_data), put("b", Risk::destroys_data)};
  loop.wanted[0].destroys = {"x 1 ext4"};
  loop.wanted[1].destroys = {"y 1 ext4"};
  loop.permission.disruptive = true;
  const std::string digest = loop.pass().plan.digest;
  CHECK(loop.machine.performed.empty());
  loop.permission.accepted_digest = digest;
  loop.wanted[1].destroys = {"z 1 ext4"};  // another plan by now
  CHECK(loop.pass().withheld.size() == 2);
  CHECK(loop.machine.performed.empty());
  loop.wanted[1].destroys = {"y 1 ext4"};
  CHECK(loop.pass().plan.actions.empty());
  CHECK(loop.machine.performed.size() == 2);
  CHECK(loop.journal.count_events(std::string(event::kAcceptanceUsed)) == 2);
  loop.machine.written.clear();
  loop.permission.accepted_digest.clear();
  CHECK(loop.pass().withheld.size() == 2);
}

TEST_CASE("a failed action is said, backs off within bounds, and keeps its intent") {
  Loop loop;
  loop.machine.failing = {"/etc/nvstripe/a"};
  loop.wanted = {put("a")};
  const PassReport first = loop.pass(1000);
  REQUIRE(first.outcomes.size() == 1);
  CHECK(first.outcomes[0].remedy == "make room");
  CHECK(loop.journal.count_events(std::string(event::kActionFailed)) == 1);
  CHECK(loop.journal.kept.intents.size() == 1);
  REQUIRE(loop.daemon.next_try_ms() == 1000 + kFirstRetryMs);
  CHECK(loop.pass(1001).backed_off == std::vector<std::string>{"file.put:a"});
  CHECK(loop.machine.performed.size() == 1);
  std::int64_t now = 0, longest = 0;
  for (int i = 0; i < 20; ++i) {
    now = *loop.daemon.next_try_ms();
    (void)loop.pass(now);
    longest = std::max(longest, *loop.daemon.next_try_ms() - now);
  }
  CHECK(longest == kLastRetryMs);
  loop.machine.failing.clear();
  CHECK(loop.pass(now + kLastRetryMs).plan.actions.empty());
  CHECK_FALSE(loop.daemon.next_try_ms());
  CHECK(loop.journal.kept.intents.empty());
}

TEST_CASE("an action that is wanted again right after success had no effect, is said, and backs off") {
  sim::Bench bench;
  bench.host.deaf = true;
  sim::add_targets_and_volume(bench, 2, 4, Stack::md);
  bench.pass();
  const bool said = std::any_of(bench.last.outcomes.begin(), bench.last.outcomes.end(), [](const ActionOutcome& outcome) {
    return outcome.error.find("had no effect") != std::string::npos;
  });
  CHECK(said);
  CHECK(bench.daemon->next_try_ms() == kFirstRetryMs);
  CHECK(bench.host.mounted.contains("/mnt/train"));  // what does not depend on it goes on
}

TEST_CASE("nothing is done when the journal cannot be written") {
  Loop loop;
  loop.journal.full = true;
  loop.wanted = {put("a")};
  const Reconciler::DraftOf draft = [&](const Spec&, const Inventory&) { return Draft{{put("a")}, {}}; };
  const auto report = loop.daemon.carry_out(Spec{}, draft, Permission{}, 0);
  REQUIRE_FALSE(report);
  CHECK(report.error().remedy == "make room");
  CHECK(loop.machine.performed.empty());
}

TEST_CASE("an intent without outcome becomes one event at the next start") {
  Loop loop;
  loop.journal.kept.intents = {{"file.put:a", "", false}};
  loop.wanted = {put("b", Risk::disruptive)};
  (void)loop.pass();
  (void)loop.pass();
  Reconciler again{loop.machine, loop.journal};
  REQUIRE(again.pass(Spec{}, Permission{}, 0));
  CHECK(loop.journal.count_events(std::string(event::kActionInterrupted)) == 1);
}

TEST_CASE("a conflict is said once when it comes and once when it goes") {
  Loop loop;
  bool there = true;
  const Reconciler::DraftOf draft = [&](const Spec&, const Inventory&) {
    Draft out;
    if (there) out.conflicts = {{"volume 'x'", "volume:x", "why", "remedy", Standing::refused, "volume.data_lost"}};
    return out;
  };
  for (int i = 0; i < 3; ++i) REQUIRE(loop.daemon.carry_out(Spec{}, draft, Permission{}, 0));
  CHECK(loop.journal.count_events(std::string(event::kConflictFound)) == 1);
  CHECK(loop.journal.count_events(std::string(event::kVolumeDataLost)) == 1);
  there = false;
  for (int i = 0; i < 3; ++i) REQUIRE(loop.daemon.carry_out(Spec{}, draft, Permission{}, 0));
  CHECK(loop.journal.count_events(std::string(event::kConflictCleared)) == 1);
}

TEST_CASE("a draft given as a value is carried out once, and ends at the first failure") {
  Loop loop;
  Draft draft{{put("a"), put("b"), put("c")}, {}};
  loop.machine.failing = {"/etc/nvstripe/b"};
  const auto report = loop.daemon.carry_out(Spec{}, draft, Permission{true, {}}, 0);
  REQUIRE(report);
  CHECK(loop.machine.performed == std::vector<std::string>{"/etc/nvstripe/a", "/etc/nvstripe/b"});
  CHECK(report->plan.actions.size() == 1);
}

TEST_CASE("every event that the loop writes is in the table of types") {
  Loop loop;
  loop.machine.failing = {"/etc/nvstripe/b"};
  loop.wanted = {put("a"), put("b")};
  loop.journal.kept.intents = {{"file.put:a", "", false}};
  (void)loop.pass();
  for (const EventDraft& one : loop.journal.events) CHECK(is_event_type(one.type));
}

TEST_CASE("a last look that refuses leaves no intent that a redo could lean on") {
  Loop loop;
  Action action = put("a");
  action.steps.insert(action.steps.begin(), RequireContent{DeviceKey{"nvme:a0"}, 0, {}, false});
  loop.wanted = {action};
  loop.machine.failing = {"nvme:a0"};
  CHECK(loop.pass().outcomes.front().error != "");
  CHECK(loop.journal.kept.intents.empty());
  CHECK(loop.machine.performed.empty());
  SECTION("one that was open before stays, since its action may have written") {
    loop.machine.failing = {"/etc/nvstripe/a"};
    loop.pass(10'000);
    REQUIRE(loop.journal.kept.intents.size() == 1);
    loop.machine.failing = {"nvme:a0"};
    loop.pass(1'000'000);
    CHECK(loop.journal.kept.intents.size() == 1);
  }
}

TEST_CASE("a connection whose attempt did not end is remembered as ours, and one that was refused is not") {
  Loop loop;
  Action action = put("a");
  action.before = {ConnectionRecord{"s1", "nqn.a", "tcp", "10.9.0.1", "4420", "", "boot-1"}};
  loop.wanted = {action};
  loop.machine.failing = {"/etc/nvstripe/a"};
  loop.machine.cause = std::error_code(ETIMEDOUT, std::system_category());
  loop.pass();
  CHECK(loop.journal.kept.connections.size() == 1);
  loop.machine.cause = std::error_code(ECONNREFUSED, std::system_category());
  loop.pass(1'000'000);
  CHECK(loop.journal.kept.connections.empty());
}

// Owns the four laws of every configurator (idle, progress, silence, stability) over random machines, and what must hold
// through random troubles: reboots, crashes, targets that go and come.
#include "agent/engine/tables.hpp"
#include "agent/model/json.hpp"
#include "tests/sim/worlds.hpp"
#include "tests/support/catch.hpp"

#include <boost/json.hpp>

using namespace nvstripe;
using namespace nvstripe::sim;

namespace {

constexpr std::uint64_t kWorlds = 200, kTroubledWorlds = 100;

// Every device that an action names, wherever in its steps.
std::set<DeviceKey> named(const Action& action) {
  std::set<DeviceKey> out(action.writes.begin(), action.writes.end());
  for (const auto* steps : {&action.steps, &action.undo}) {
    for (const Step& step : *steps) {
      if (const auto* run = std::get_if<Run>(&step)) {
        for (const Arg& arg : run->argv) {
          if (const auto* reference = std::get_if<DeviceRef>(&arg)) out.insert(reference->key);
        }
        out.insert(run->udev_lock.begin(), run->udev_lock.end());
      } else if (const auto* attribute = std::get_if<WriteAttribute>(&step)) {
        if (attribute->device) out.insert(*attribute->device);
        if (attribute->value_device) out.insert(*attribute->value_device);
      } else if (const auto* look = std::get_if<RequireContent>(&step)) {
        out.insert(look->device);
      }
    }
  }
  return out;
}

// What was judged away, which no configurator should have drafted in the first place.
std::string vetoed(const Plan& plan) {
  std::string out;
  for (const Conflict& conflict : plan.conflicts) {
    if (conflict.why.starts_with("will not ")) out += conflict.id + ": " + conflict.why + "\n";
  }
  return out;
}

std::string bytes_of(const Plan& plan) { return json::text(json::plan_document(plan)) + plan_text(plan); }

// Where two texts begin to differ; empty where they do not.
std::string difference(const std::string& a, const std::string& b) {
  const auto [at, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at == a.end() && other == b.end()) return {};
  const auto from = static_cast<std::size_t>(at - a.begin());
  const std::size_t begin = from < 300 ? 0 : from - 300;
  return a.substr(begin, 450) + "\n---\n" + b.substr(begin, 450);
}

std::string problems(const PassReport& report) {
  std::string out;
  for (const ActionOutcome& outcome : report.outcomes) {
    if (!outcome.error.empty()) out += outcome.id + ": " + outcome.error + "\n";
  }
  return out;
}

std::set<std::string> mounts(const Bench& bench) {
  std::set<std::string> out;
  for (const auto& [path, key] : bench.host.mounted) out.insert(path);
  return out;
}

}  // namespace

TEST_CASE("silence: no configurator names a device that is system, foreign or unknown") {
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    Bench bench;
    Dice dice(seed);
    make_world(bench, dice);
    INFO("seed " << seed);
    const std::set<DeviceKey> out_of_bounds = forbidden(bench);
    for (int round = 0; round < 2; ++round) {
      const Inventory seen = bench.look();
      for (const Configurator& row : all_configurators()) {
        const Draft draft = row.plan(bench.spec, seen);
        for (const Action& action : draft.actions) {
          for (const DeviceKey& key : named(action)) {
            INFO(row.name << ": " << action.id << " names " << key.text);
            CHECK_FALSE(out_of_bounds.contains(key));
          }
        }
      }
      bench.pass();  // ends the test when something precious is touched
      CHECK(vetoed(bench.last.plan) == "");
    }
  }
}

TEST_CASE("progress: what is done is not wanted again, and a healthy machine fails nothing") {
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    Bench bench;
    Dice dice(seed);
    make_world(bench, dice);
    INFO("seed " << seed);
    for (int i = 0; i < 20; ++i) {
      CHECK(problems(bench.pass()) == "");
      if (bench.last.outcomes.empty()) break;
    }
    INFO(plan_text(bench.last.plan));
    CHECK(bench.last.outcomes.empty());
    CHECK(bench.last.plan.actions.empty());
  }
}

TEST_CASE("idle: a satisfied machine is left alone, by each configurator and by the loop") {
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    Bench bench;
    Dice dice(seed);
    make_world(bench, dice);
    bench.settle();
    INFO("seed " << seed);
    const std::size_t steps = bench.host.tape.size(), events = bench.journal.events.size();
    bench.settle();
    bench.settle({true, {}});
    CHECK(bench.host.tape.size() == steps);
    CHECK(bench.journal.events.size() == events);
    const Inventory seen = bench.look();
    for (const Configurator& row : all_configurators()) {
      INFO(row.name);
      CHECK(row.plan(bench.spec, seen).actions.empty());
    }
  }
}

TEST_CASE("stability: the same sight in another order gives the same bytes") {
  for (std::uint64_t seed = 1; seed <= kWorlds; ++seed) {
    Bench bench;
    Dice dice(seed);
    make_world(bench, dice);
    INFO("seed " << seed);
    for (int round = 0; round < 3; ++round) {
      Inventory seen = bench.look();
      const std::string expected = bytes_of(make_plan(bench.spec, seen));
      for (int i = 0; i < 3; ++i) {
        shuffle(seen, dice);
        REQUIRE(difference(bytes_of(make_plan(bench.spec, seen)), expected) == "");
      }
      bench.pass();
    }
  }
}

TEST_CASE("through reboots, crashes and lost targets nothing precious is touched, and what was mounted comes back") {
  for (std::uint64_t seed = 1; seed <= kTroubledWorlds; ++seed) {
    Bench bench;
    Dice dice(seed * 7919);
    make_world(bench, dice);
    INFO("seed " << seed);
    if (dice.one_in(2))
      bench.clock.crash_at(static_cast<int>(dice.below(60)), dice.one_in(2) ? Clock::When::before : Clock::When::torn);
    if (bench.settle_or_crash()) bench.restart_daemon();
    bench.clock.never();
    bench.settle();
    const std::set<std::string> there = mounts(bench);
    for (const std::string& path : there) bench.host.use_volume(path);
    const std::size_t destructive = bench.host.destructive.size();
    for (int trouble = 0; trouble < 4; ++trouble) {
      for (Target& target : bench.host.targets) target.up = !dice.one_in(3);
      if (dice.one_in(2)) bench.reboot();
      bench.clock.crash_at(bench.clock.count() + static_cast<int>(dice.below(15)), Clock::When::before);
      if (bench.settle_or_crash()) bench.restart_daemon();
      bench.clock.never();
      CHECK(bench.host.destructive.size() == destructive);
    }
    for (Target& target : bench.host.targets) target.up = true;
    bench.settle();
    INFO(plan_text(bench.last.plan));
    const std::set<std::string> now = mounts(bench);
    CHECK(std::includes(now.begin(), now.end(), there.begin(), there.end()));
  }
}

TEST_CASE("a configurator whose facets are unknown says so and plans nothing") {
  Bench bench;
  Dice dice(4711);
  make_world(bench, dice);
  Inventory blind;
  blind.records = Facet<Records>::known(*bench.journal.records());
  const Plan plan = make_plan(bench.spec, blind);
  CHECK(plan.actions.empty());
  const bool said = std::any_of(plan.conflicts.begin(), plan.conflicts.end(),
                                [](const Conflict& conflict) { return conflict.id == "plan.cannot_see"; });
  CHECK(said);
}

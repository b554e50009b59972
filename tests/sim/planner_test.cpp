// Owns the checks of the planner on drafts made by hand: order, vetoes and what depends on them, holds, digest, words.
#include <algorithm>

#include "agent/engine/planner.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;

namespace {

Action action(const std::string& id, std::vector<Fact> needs, std::vector<Fact> gives) {
  Action out;
  out.id = id;
  out.object = "volume:train";
  out.sentence = "do " + id;
  out.reason = "the test wants it";
  out.needs = std::move(needs);
  out.gives = std::move(gives);
  return out;
}

std::vector<std::string> ids(const Plan& plan) {
  std::vector<std::string> out;
  for (const Action& one : plan.actions) out.push_back(one.id);
  return out;
}

Plan planned(std::vector<Action> actions, const Inventory& seen = seen::machine()) {
  return plan_of(Draft{std::move(actions), {}}, Spec{}, seen, Holds::respect);
}

}  // namespace

TEST_CASE("actions are ordered by facts, ties by id, whatever order they were drafted in") {
  std::vector<Action> actions{action("d", {"array:1"}, {"fs:1"}), action("b", {}, {"array:1"}), action("a", {"fs:1"}, {}),
                              action("c", {}, {})};
  const std::vector<std::string> expected{"b", "c", "d", "a"};
  std::sort(actions.begin(), actions.end(), [](const Action& x, const Action& y) { return x.id < y.id; });
  do {
    const Plan plan = planned(actions);
    REQUIRE(ids(plan) == expected);
  } while (
      std::next_permutation(actions.begin(), actions.end(), [](const Action& x, const Action& y) { return x.id < y.id; }));
}

TEST_CASE("a suspect comes after everything that does not need it") {
  std::vector<Action> actions{action("a", {}, {"array:1"}), action("b", {"array:1"}, {}), action("c", {}, {"fs:1"}),
                              action("d", {"fs:1"}, {})};
  actions[0].suspect = true;
  CHECK(ids(planned(actions)) == std::vector<std::string>{"c", "d", "a", "b"});
}

TEST_CASE("a need that nobody gives and nobody sees is a conflict, and so is what depends on it") {
  const Plan plan = planned({action("a", {"array:1"}, {"fs:1"}), action("b", {"fs:1"}, {}), action("c", {"mount:/"}, {})});
  CHECK(ids(plan) == std::vector<std::string>{"c"});
  REQUIRE(plan.conflicts.size() == 2);
  CHECK(plan.conflicts[0].id == "plan.unmet_need");
  CHECK(plan.conflicts[0].standing == Standing::waiting);
}

TEST_CASE("a vetoed action becomes a conflict with its remedy, and takes what needs it along") {
  Action bad = action("a", {}, {"array:1"});
  bad.steps = {PutFile{"/etc/passwd", "", 0644}};
  const Plan plan = planned({bad, action("b", {"array:1"}, {})});
  CHECK(plan.actions.empty());
  REQUIRE(plan.conflicts.size() == 2);
  CHECK(plan.conflicts[0].id == "guard.foreign_path");
  CHECK_FALSE(plan.conflicts[0].remedy.empty());
  CHECK(plan.conflicts[1].id == "plan.unmet_need");
}

TEST_CASE("actions that wait for each other are a conflict") {
  const Plan plan = planned({action("a", {"fs:1"}, {"array:1"}), action("b", {"array:1"}, {"fs:1"}), action("c", {}, {})});
  CHECK(ids(plan) == std::vector<std::string>{"c"});
  REQUIRE(plan.conflicts.size() == 2);
  CHECK(plan.conflicts[0].id == "plan.cycle");
}

TEST_CASE("two different actions of one id are not done, equal ones once") {
  Action other = action("a", {}, {"array:1"});
  CHECK(planned({action("a", {}, {}), other}).actions.empty());
  CHECK(planned({other, other}).actions.size() == 1);
}

TEST_CASE("held objects plan nothing and complain of nothing") {
  Inventory seen = seen::machine();
  seen.records.value().holds = {{"volume:train", "release"}};
  Action other = action("b", {}, {});
  other.object = "tuning";
  const Plan plan = planned({action("a", {}, {}), other}, seen);
  CHECK(ids(plan) == std::vector<std::string>{"b"});
  REQUIRE(plan.conflicts.size() == 1);
  CHECK(plan.conflicts[0].standing == Standing::note);
  CHECK(plan_of(Draft{{action("a", {}, {})}, {}}, Spec{}, seen, Holds::ignore).actions.size() == 1);
  seen.records.value().holds = {{"all", "hold"}};
  CHECK(planned({action("a", {}, {}), other}, seen).actions.empty());
}

TEST_CASE("the digest covers what would be destroyed, and nothing else") {
  Action one = action("a", {}, {}), two = action("b", {}, {});
  CHECK(digest_of({one, two}).empty());
  one.risk = two.risk = Risk::destroys_data;
  one.destroys = {"nvme:x/1 1000 ext4:u"};
  two.destroys = {"nvme:y/1 1000 data"};
  const std::string digest = digest_of({one, two});
  CHECK(digest.size() == 64);
  CHECK(digest_of({two, one}) == digest);
  one.sentence = "another";
  CHECK(digest_of({one, two}) == digest);
  one.destroys = {"nvme:x/1 1000 xfs:u"};
  CHECK(digest_of({one, two}) != digest);
}

TEST_CASE("a plan reads like sentences") {
  Action one = action("a", {}, {});
  one.sentence = "make a raid0 array of 4 members for volume 'train'";
  one.reason = "volume 'train' does not exist and all 4 members are blank";
  one.risk = Risk::writes_blank;
  Plan plan;
  plan.actions = {one};
  plan.conflicts = {{"connection 's2'", "connection:s2", "no answer", "start the target", Standing::waiting, "x"}};
  CHECK(plan_text(plan) ==
        "1. Make a raid0 array of 4 members for volume 'train', because volume 'train' does not exist and all 4 members are "
        "blank. This writes to blank devices.\nWaiting: connection 's2': no answer. Start the target.\n");
  CHECK(plan_text(Plan{}) == "Nothing to do: all is as the spec wants it.\n");
}

TEST_CASE("facts are seen where they hold, and only there") {
  Inventory seen = seen::machine();
  seen::connect(seen, "s1", "10.9.0.1", 2, 11);
  const DeviceKey key = seen::blocks(seen).back().key;
  const std::string nqn = seen::subsystem_nqn("s1");
  CHECK(holds("block:" + key.text, seen));
  CHECK_FALSE(holds("block:nvme:none/1", seen));
  CHECK(holds("controller:" + nqn + "@rdma:10.9.0.1:4420", seen));
  CHECK_FALSE(holds("controller:" + nqn + "@tcp:10.9.0.1:4420", seen));
  CHECK(holds("namespace:" + nqn + "/1", seen));
  CHECK(holds("mount:/", seen));
  CHECK(holds("identity:" + to_text(seen::host_id()), seen));
  CHECK_FALSE(holds("identity:" + to_text(seen::other_host_id()), seen));
  CHECK_FALSE(holds("nonsense:x", seen));
  const Uuid array = derive(seen::host_id(), "array", "train", 5);
  seen::run_array(seen, array, "nvs-train", {key});
  CHECK(holds("array:" + to_text(array), seen));
  seen.arrays.value().back().state = "inactive";
  CHECK_FALSE(holds("array:" + to_text(array), seen));
  CHECK(contains(facets_of("array:x"), FacetName::arrays));
  CHECK_FALSE(contains(facets_of("array:x"), FacetName::targets));
  CHECK(facets_of("nonsense:x") == kAllFacets);
}

TEST_CASE("after an action only the facets that it can change are looked at again") {
  Action connect = action("a", {}, {"controller:x@tcp:y:1"});
  connect.steps = {Connect{}, Await{"controller:x@tcp:y:1", std::chrono::seconds(1)}};
  const FacetSet changed = facets_changed_by(connect);
  CHECK(contains(changed, FacetName::controllers));
  CHECK(contains(changed, FacetName::blocks));
  CHECK_FALSE(contains(changed, FacetName::targets));
  CHECK_FALSE(contains(changed, FacetName::exports));
  Action odd = action("b", {}, {});
  odd.steps = {Run{{std::string("strange")}, std::chrono::seconds(1), {0}, {}}};
  CHECK(facets_changed_by(odd) == kAllFacets);
}

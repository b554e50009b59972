// Owns tests of the daemon's loop over a machine that is only counted: when it looks, and what requests do to the journal.
#include "agent/daemon/engine.hpp"

#include <sys/eventfd.h>

#include <boost/json.hpp>

#include "agent/base/fd.hpp"
#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;

namespace {

const std::string kSpec = R"(version: 1
connections:
  - {name: s1, address: 10.9.0.1}
volumes:
  - name: train
    members: {from: [s1], count: 2}
    mount: {path: /mnt/train}
)";

struct CountedWorld : World {
  int looks = 0, steps = 0;
  std::vector<FacetSet> wanted;
  int dark = 0;  // so many looks do not see the mounts
  Inventory look(const Spec&, FacetSet facets) override {
    ++looks;
    wanted.push_back(facets);
    if (dark > 0) {
      --dark;
      Inventory seen = seen::machine();
      seen.mounts = Facet<Mounts>::unavailable("in the dark");
      return seen;
    }
    return seen::machine();
  }
  void begin_action(const Action&) override {}
  void end_action() override {}
  Result<> perform(const Step&) override {
    ++steps;
    return {};
  }
};

struct Daemon {
  test::Folder folder;
  CountedWorld world;
  api::SharedStore store{std::move(*store::Store::open(":memory:"))};
  api::Board board;
  daemon::SpecSource specs{daemon::SpecPlaces{{folder.path("etc")}, folder.path("spec.last")}, load_spec_or_error,
                           [] { return std::string("2026-01-01T00:00:00Z"); }};
  Fd wake{::eventfd(0, EFD_NONBLOCK)};
  std::int64_t now = 1'000'000;
  int ready = 0;
  std::string pulse = "a";
  daemon::Tally tally{[] { return 0.0; }};
  std::unique_ptr<daemon::Engine> engine;

  void start() {
    daemon::EngineParts parts{world, store, board, specs, load_spec_or_error};
    parts.wake_fd = wake.get();
    parts.tally = &tally;
    parts.now_ms = [this] { return now; };
    parts.now_text = [] { return std::string("2026-01-01T00:00:00Z"); };
    parts.pulse = [this] { return pulse; };
    parts.volumes_ready = [this] { ++ready; };
    parts.release_volume = [](const Spec&, const Inventory&, const std::string& name) {
      Draft draft;
      draft.actions.push_back(Action{.id = "volume.release:" + name, .object = "volume:" + name, .sentence = "let it go"});
      draft.actions.back().steps.push_back(MakeDir{"/run/nvstripe/test"});
      return draft;
    };
    parts.revert_tuning = [](const Spec&, const Inventory&) { return Draft{}; };
    engine = std::make_unique<daemon::Engine>(std::move(parts));
    engine->turn();
  }
  api::Progress ask(api::Verb verb, const std::string& argument) {
    const auto id = board.submit(verb, argument);
    REQUIRE(id);
    engine->turn();
    return *board.progress(*id);
  }
  bool held(const std::string& object) { return store.records()->held(object); }
  int events(const std::string& type) {
    int count = 0;
    const auto all = *store.events({0, 1000, false});
    for (const Event& event : all) count += event.type == type ? 1 : 0;
    return count;
  }
};

}  // namespace

TEST_CASE("Without a spec the daemon looks, shows devices and does nothing") {
  Daemon at;
  at.start();
  CHECK(at.world.looks > 0);
  CHECK(at.world.steps == 0);
  CHECK_FALSE(at.board.snapshot()->taken.empty());
  CHECK(at.board.snapshot()->pass.plan.actions.empty());
}

TEST_CASE("Passes and actions are counted") {
  Daemon at;
  at.folder.write("etc/nvstripe.yaml", kSpec);
  at.start();
  const auto passes = at.tally.measured().counters.passes;
  CHECK(passes > 0);
  CHECK(at.ask(api::Verb::release, "train").error.empty());
  const AgentCounters counters = at.tally.measured().counters;
  CHECK(counters.passes > passes);
  CHECK(counters.failed_passes == 0);
  CHECK(counters.actions.at("volume.release").done == 1);
  CHECK(counters.actions.at("volume.release").failed == 0);
}

TEST_CASE("The daemon is quiet when nothing is to do and looks again after a change or a minute") {
  Daemon at;
  at.folder.write("etc/nvstripe.yaml", kSpec);
  at.start();
  at.now += 1'000;
  at.engine->turn();
  at.now += 6'000;
  at.engine->turn();
  const int looks = at.world.looks;
  at.now += 1'000;
  at.engine->turn();
  CHECK(at.world.looks == looks);
  at.pulse = "a controller left the state live";
  at.now += 5'000;
  at.engine->turn();
  CHECK(at.world.looks > looks);
  const int after_pulse = at.world.looks;
  at.now += 61'000;
  at.engine->turn();
  CHECK(at.world.looks > after_pulse);
}

TEST_CASE("A spec that turns invalid is told once by an event and shown, and the last good one stays") {
  Daemon at;
  at.folder.write("etc/nvstripe.yaml", kSpec);
  at.start();
  CHECK(at.events("io.nvstripe.spec.loaded.v1") == 1);
  at.folder.write("etc/nvstripe.yaml", "version: 1\nvolumes: [");
  for (int i = 0; i < 3; ++i) {
    at.now += 61'000;
    at.engine->turn();
  }
  CHECK(at.events("io.nvstripe.spec.rejected.v1") == 1);
  CHECK(at.board.snapshot()->spec.last_good);
  CHECK(at.board.snapshot()->spec.spec.volume("train") != nullptr);
}

TEST_CASE("Hold is recorded before anything else, and apply lifts it") {
  Daemon at;
  at.folder.write("etc/nvstripe.yaml", kSpec);
  at.start();
  CHECK(at.ask(api::Verb::hold, "volume:train").state == api::Progress::State::done);
  CHECK(at.held("volume:train"));
  CHECK(at.ask(api::Verb::hold, "volume:nobody").state == api::Progress::State::failed);
  CHECK(at.ask(api::Verb::apply, "").state == api::Progress::State::done);
  CHECK_FALSE(at.held("volume:train"));
  CHECK(at.events("io.nvstripe.hold.set.v1") == 1);
  CHECK(at.events("io.nvstripe.hold.lifted.v1") == 1);
  const auto all = *at.store.events({0, 1000, false});
  for (const Event& event : all)
    if (event.type.starts_with("io.nvstripe.hold.")) CHECK(event.subject == "volume/train");
}

TEST_CASE("An acceptance is an event with its digest, and an apply without one is not") {
  Daemon at;
  at.folder.write("etc/nvstripe.yaml", kSpec);
  at.start();
  (void)at.ask(api::Verb::apply, "");
  CHECK(at.events("io.nvstripe.acceptance.given.v1") == 0);
  (void)at.ask(api::Verb::apply, "abcd1234");
  CHECK(at.events("io.nvstripe.acceptance.given.v1") == 1);
  CHECK(at.store.events({0, 1000, false})->back().data.find("abcd1234") != std::string::npos);
}

TEST_CASE("Release puts the volume on hold first, and a later hold does not weaken that") {
  Daemon at;
  at.folder.write("etc/nvstripe.yaml", kSpec);
  at.start();
  const int steps = at.world.steps;
  const auto released = at.ask(api::Verb::release, "train");
  CHECK(released.state == api::Progress::State::done);
  REQUIRE(released.lines.size() == 1);
  CHECK(released.lines.front().error.empty());
  CHECK(at.world.steps == steps + 1);
  CHECK(at.ask(api::Verb::hold, "volume:train").state == api::Progress::State::done);
  REQUIRE(at.store.records()->holds.size() == 1);
  CHECK(at.store.records()->holds.front().why == "release");
  CHECK(at.ask(api::Verb::release, "nobody").state == api::Progress::State::failed);
}

TEST_CASE("Apply refuses an invalid spec and plan of a given text does nothing") {
  Daemon at;
  at.folder.write("etc/nvstripe.yaml", kSpec);
  at.start();
  const int steps = at.world.steps;
  const auto plan = at.ask(api::Verb::plan, kSpec);
  CHECK(plan.state == api::Progress::State::done);
  CHECK_FALSE(plan.answer.empty());
  CHECK(at.world.steps == steps);
  at.folder.write("etc/nvstripe.yaml", "version: 2\n");
  const auto applied = at.ask(api::Verb::apply, "");
  CHECK(applied.state == api::Progress::State::failed);
  CHECK_FALSE(applied.remedy.empty());
}

TEST_CASE("Apply tells all that it did, also when it looked again for what was not there yet") {
  Daemon at;
  at.start();
  at.folder.write("etc/nvstripe.yaml",
                  "version: 1\nvolumes: [{name: a, members: {from: [local_ssd], count: 2}, mount: {path: /mnt/a}}]\n");
  at.world.dark = 3;  // the first round's
  const auto applied = at.ask(api::Verb::apply, "");
  CHECK(at.world.dark == 0);
  const auto recorded = [](const ActionOutcome& line) { return line.id == "identity.record:host"; };
  CHECK(std::count_if(applied.lines.begin(), applied.lines.end(), recorded) == 1);
}

TEST_CASE("Callers who ask for plans without end keep nobody from passes and root's requests") {
  Daemon at;
  at.folder.write("etc/nvstripe.yaml", kSpec);
  at.start();
  at.now += 61'000;
  for (std::size_t i = 0; i < api::Board::kMaxQueued; ++i) REQUIRE(at.board.submit(api::Verb::plan, ""));
  CHECK_FALSE(at.board.submit(api::Verb::plan, ""));
  const auto hold = at.board.submit(api::Verb::hold, "volume:train");
  REQUIRE(hold);
  const auto serial = at.board.snapshot()->serial;
  at.engine->turn();
  CHECK(at.board.progress(*hold)->state == api::Progress::State::done);
  CHECK(at.board.snapshot()->serial > serial);
  CHECK(at.board.has_requests());
  const auto before = at.board.snapshot()->serial;
  at.now += 61'000;
  at.engine->turn();
  CHECK(at.board.has_requests());
  CHECK(at.board.snapshot()->serial > before);
}

TEST_CASE("Planning a given text follows no target that it names") {
  Daemon at;
  at.folder.write("etc/nvstripe.yaml", kSpec);
  at.start();
  at.world.wanted.clear();
  CHECK(at.ask(api::Verb::plan, kSpec).state == api::Progress::State::done);
  REQUIRE_FALSE(at.world.wanted.empty());
  CHECK_FALSE(contains(at.world.wanted.front(), FacetName::targets));
  CHECK(contains(at.world.wanted.front(), FacetName::blocks));
}

TEST_CASE("An emptied spec changes nothing until apply says that it is meant") {
  Daemon at;
  at.folder.write("etc/nvstripe.yaml", kSpec);
  at.start();
  at.folder.write("etc/nvstripe.yaml", "");
  at.now += 61'000;
  at.engine->turn();
  CHECK(at.board.snapshot()->spec.spec.volume("train") != nullptr);
  CHECK(at.ask(api::Verb::apply, "").state == api::Progress::State::done);
  CHECK(at.board.snapshot()->spec.spec.wants_nothing());
}

TEST_CASE("Identity adopt records this machine's identity and tells the previous one") {
  Daemon at;
  at.folder.write("etc/nvstripe.yaml", kSpec);
  REQUIRE(at.store.write({IdentityRecord{seen::other_host_id(), "dmi"}}, {}));
  at.start();
  CHECK(at.ask(api::Verb::adopt, "").state == api::Progress::State::done);
  CHECK(at.store.records()->identity->host == seen::machine().identity.value().computed);
  CHECK(at.events("io.nvstripe.identity.adopted.v1") == 1);
}

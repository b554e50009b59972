// Proves that the table of event types is what is emitted: type, shape of the subject and keys of the data, over the lives
// of a volume and of an export.
#include <algorithm>

#include "agent/model/event.hpp"
#include "agent/model/event_schema.hpp"
#include "configurators/release.hpp"
#include "tests/sim/bench.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using namespace nvstripe::sim;

namespace {

bool has_shape(const std::string& subject, std::string_view shape) {
  if (shape.starts_with("OBJECT")) return subject.find(':') == std::string::npos;
  const auto slash = shape.find("/NAME");
  if (slash == std::string_view::npos) return subject == shape;
  return subject.starts_with(shape.substr(0, slash + 1)) && subject.size() > slash + 1;
}

void check_event(const EventDraft& event) {
  INFO(event.type << " " << event.subject << " " << event.data);
  const auto types = all_event_types();
  const auto type = std::find_if(types.begin(), types.end(), [&](const EventType& one) { return one.name == event.type; });
  REQUIRE(type != types.end());
  CHECK(has_shape(event.subject, type->subject));
  CHECK(schema_problem(event.type, event.data) == "");
}

void check_events(const Bench& bench) {
  for (const EventDraft& event : bench.journal.events) check_event(event);
}

const Reconciler::DraftOf kRelease = [](const Spec& spec, const Inventory& seen) {
  return configure::release_volume(spec, seen, "train");
};

}  // namespace

TEST_CASE("every event of a volume's life has the subject and the keys that the table tells") {
  for (const Stack stack : {Stack::md, Stack::lvm}) {
    Bench bench;
    add_targets_and_volume(bench, 2, 4, stack);
    bench.settle();
    bench.host.set_target("s1", false);
    bench.settle();
    bench.host.set_target("s1", true);
    bench.settle();
    bench.command(kRelease);
    bench.journal.kept.put(Forget{"hold", "volume:train"});
    bench.settle({true, {}});
    bench.journal.kept.put(IntentRecord{"md.create:train", "", false});
    bench.reboot();
    bench.settle();
    for (Target& target : bench.host.targets) {
      for (TargetNamespaceOf& ns : target.namespaces) *ns.media = Media{};
    }
    if (stack == Stack::lvm) bench.host.groups.clear();
    bench.reboot();
    bench.settle();
    check_events(bench);
    for (const std::string_view type :
         {event::kArrayCreated, event::kArrayAssembled, event::kArrayStopped, event::kFilesystemCreated,
          event::kVolumeCreated, event::kVolumeMounted, event::kVolumeUnmounted, event::kVolumeDataLost,
          event::kConnectionMade, event::kConnectionLost, event::kConnectionRestored, event::kConnectionEnded,
          event::kActionInterrupted}) {
      INFO(type);
      CHECK(bench.journal.count_events(std::string(type)) > 0);
    }
    CHECK(bench.journal.count_events(std::string(event::kVolumeReleased)) == 1);
  }
}

TEST_CASE("every event of an export's life has the subject and the keys that the table tells") {
  for (const unsigned slices : {1u, 4u}) {
    Bench bench;
    add_local_ssds(bench, 2);
    add_pool(bench, "pool", {seen::hostnqn(seen::other_host_id())}, slices);
    bench.settle();
    bench.spec.exports.clear();
    bench.settle({true, {}});
    check_events(bench);
    CHECK(bench.journal.count_events(std::string(event::kExportMade)) > 0);
    CHECK(bench.journal.count_events(std::string(event::kExportWithdrawn)) > 0);
  }
}

// Owns tests of what status says of volumes.
#include "agent/api/status.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;
using api::VolumeState;

namespace {

struct Case {
  api::Snapshot snapshot;
  Uuid array;
  Case() {
    snapshot.taken = snapshot.spec.loaded = "2026-01-01T00:00:00Z";
    snapshot.spec.spec = seen::two_target_spec();
    snapshot.pass.seen = seen::two_targets_connected();
    array = derive(seen::host_id(), "array", "train", 7);
  }
  Inventory& inventory() { return snapshot.pass.seen; }
  void record(Stage stage) {
    VolumeRecord record;
    record.name = "train";
    record.stack = "md";
    record.generation = 7;
    record.stage = stage;
    record.mount_path = "/mnt/train";
    for (const BlockDevice& block : inventory().blocks.value())
      if (block.kind == DeviceKind::remote_namespace && record.members.size() < 4) record.members.push_back(block.key);
    seen::records(inventory()).volumes.push_back(record);
  }
  void mount() {
    record(Stage::made);
    seen::run_array(inventory(), array, "nvs-train", seen::records(inventory()).volumes.front().members);
    seen::mount(inventory(), DeviceKey{"md:" + to_text(array)}, "/mnt/train");
  }
  void conflict(const std::string& id, Standing standing) {
    snapshot.pass.plan.conflicts.push_back(Conflict{"volume 'train'", "volume:train", "why", "remedy", standing, id});
  }
  api::VolumeStatus volume() { return api::status_of(snapshot).volumes.at(0); }
};

}  // namespace

TEST_CASE("A mounted volume says its transport and why it is that one") {
  Case at;
  at.mount();
  const api::VolumeStatus volume = at.volume();
  CHECK(volume.state == VolumeState::mounted);
  CHECK(volume.transport == "rdma");
  CHECK(volume.transport_reason == "both ends can do RDMA");
  CHECK(volume.members.size() == 4);
  CHECK(api::exit_code_of(api::status_of(at.snapshot)) == 0);
}

TEST_CASE("A mounted volume whose controller reconnects is degraded and names the member and its target") {
  Case at;
  at.mount();
  at.inventory().controllers.value().front().state = "connecting";
  const api::VolumeStatus volume = at.volume();
  CHECK(volume.state == VolumeState::degraded);
  REQUIRE_FALSE(volume.waits_for.empty());
  CHECK(volume.waits_for.front().id == "volume.member_connecting");
  CHECK(volume.waits_for.front().remedy.find("'s1'") != std::string::npos);
  CHECK(api::exit_code_of(api::status_of(at.snapshot)) == 2);
}

TEST_CASE("A foreign mount on the volume's path does not make it mounted") {
  Case at;
  at.record(Stage::made);
  seen::mount(at.inventory(), at.inventory().blocks.value().front().key, "/mnt/train");
  CHECK(at.volume().state != VolumeState::mounted);
}

TEST_CASE("Conflicts decide between waiting, refused and data lost, and say why") {
  Case waiting;
  waiting.conflict("volume.target_down", Standing::waiting);
  CHECK(waiting.volume().state == VolumeState::waiting);
  Case refused;
  refused.conflict("volume.too_few", Standing::refused);
  refused.conflict("volume.target_down", Standing::waiting);
  CHECK(refused.volume().state == VolumeState::refused);
  CHECK(refused.volume().waits_for.size() == 2);
  Case lost;
  lost.record(Stage::made);
  lost.conflict("volume.data_lost", Standing::refused);
  CHECK(lost.volume().state == VolumeState::data_lost);
  Case noted;
  noted.mount();
  noted.conflict("volume.note", Standing::note);
  CHECK(noted.volume().state == VolumeState::mounted);
  CHECK(noted.volume().notes.size() == 1);
}

TEST_CASE("A released volume says how it comes back") {
  Case at;
  at.record(Stage::made);
  seen::records(at.inventory()).holds.push_back(HoldRecord{"volume:train", "release"});
  CHECK(at.volume().state == VolumeState::released);
  CHECK(at.volume().waits_for.front().remedy.find("nvstripe apply") != std::string::npos);
}

TEST_CASE("A volume that left the spec is shown as unclaimed and harms no exit code") {
  Case at;
  at.mount();
  at.snapshot.spec.spec.volumes.clear();
  const api::Status status = api::status_of(at.snapshot);
  REQUIRE(status.volumes.size() == 1);
  CHECK(status.volumes.front().state == VolumeState::unclaimed);
  CHECK(api::exit_code_of(status) == 0);
}

TEST_CASE("What could not be seen is said, and a rejected spec makes status fail") {
  Case at;
  at.mount();
  at.inventory().lvm = Facet<Lvm>::unavailable("vgs is not installed");
  at.snapshot.spec.problem = "line 3 is wrong";
  const api::Status status = api::status_of(at.snapshot);
  REQUIRE(status.cannot_see.size() == 1);
  CHECK(status.cannot_see.front() == "lvm: vgs is not installed");
  CHECK(api::exit_code_of(status) == 2);
}

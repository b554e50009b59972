// Owns tests of what the shutdown hooks take for ours.
#include "agent/daemon/shutdown.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>

#include "agent/base/fd.hpp"
#include "agent/store/store.hpp"
#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seen.hpp"

using namespace nvstripe;

namespace {

struct Machine {
  test::Folder folder;
  Records records;
  daemon::ShutdownPlaces places{folder.path("sys"), folder.path("proc"), folder.path("state.db")};
  Machine() {
    folder.write("proc/sys/kernel/random/boot_id", "boot-1\n");
    records.identity = IdentityRecord{seen::host_id(), "dmi"};
    VolumeRecord train;
    train.name = "train";
    train.stack = "md";
    train.generation = 7;
    train.mount_path = "/mnt/my train";
    VolumeRecord scratch;
    scratch.name = "s-1";
    scratch.stack = "lvm";
    scratch.mount_path = "/mnt/scratch";
    records.volumes = {train, scratch};
    records.connections = {ConnectionRecord{"s1", "nqn.a", "rdma", "10.9.0.1", "4420", "10.9.0.11", "boot-1"},
                           ConnectionRecord{"s2", "nqn.b", "tcp", "10.9.0.2", "4420", "", "boot-0"}};
  }
  void controller(const std::string& name, const std::string& nqn, const std::string& transport,
                  const std::string& address) {
    const std::string at = "sys/class/nvme/" + name + "/";
    folder.write(at + "subsysnqn", nqn + "\n");
    folder.write(at + "transport", transport + "\n");
    folder.write(at + "address", address + "\n");
    folder.write(at + "state", "connecting\n");
  }
};

}  // namespace

TEST_CASE("A-59 only controllers that the records of this boot name are ours at shutdown") {
  Machine machine;
  machine.controller("nvme0", "nqn.local", "pcie", "0000:00:04.0");
  machine.controller("nvme1", "nqn.a", "rdma", "traddr=10.9.0.1,trsvcid=4420,host_traddr=10.9.0.11");
  machine.controller("nvme2", "nqn.a", "rdma", "traddr=10.9.0.9,trsvcid=4420");
  machine.controller("nvme3", "nqn.b", "tcp", "traddr=10.9.0.2,trsvcid=4420");
  const auto ours = daemon::our_controllers(machine.places, machine.records);
  REQUIRE(ours.size() == 1);
  CHECK(ours.front() == daemon::FabricController{"nvme1", "rdma", "10.9.0.1", "10.9.0.11", "connecting"});
}

TEST_CASE("Only arrays with the identity of a recorded generation are stopped") {
  Machine machine;
  machine.folder.write("sys/block/md127/md/uuid", to_text(derive(seen::host_id(), "array", "train", 7)) + "\n");
  machine.folder.write("sys/block/md126/md/uuid", to_text(derive(seen::host_id(), "array", "train", 6)) + "\n");
  machine.folder.write("sys/block/md125/md/uuid", to_text(derive(seen::other_host_id(), "array", "train", 7)) + "\n");
  machine.folder.write("sys/block/sda/size", "1\n");
  CHECK(daemon::our_arrays(machine.places, machine.records) == std::vector<std::string>{"md127"});
}

TEST_CASE("Volume groups are recognised by the name that device-mapper shows, dashes doubled") {
  Machine machine;
  machine.folder.write("sys/block/dm-0/dm/name", "nvs_s--1_0badcafe-data\n");
  machine.folder.write("sys/block/dm-0/dm/uuid", "LVM-abc\n");
  machine.folder.write("sys/block/dm-1/dm/name", "nvs_s--1_0badcafe-data\n");
  machine.folder.write("sys/block/dm-1/dm/uuid", "CRYPT-abc\n");
  machine.folder.write("sys/block/dm-2/dm/name", "vg0-data\n");
  machine.folder.write("sys/block/dm-2/dm/uuid", "LVM-abc\n");
  CHECK(daemon::our_groups(machine.places, machine.records) == std::vector<std::string>{"nvs_s-1_0badcafe"});
}

TEST_CASE("Mount points with blanks are found, and other file systems on them are left alone") {
  Machine machine;
  machine.folder.write("proc/self/mountinfo",
                       "36 25 9:127 / /mnt/my\\040train rw,noatime shared:1 - xfs /dev/md127 rw\n"
                       "37 25 0:40 / /mnt/scratch rw shared:2 - tmpfs tmpfs rw\n");
  CHECK(daemon::our_mounts(machine.places, machine.records) == std::vector<std::string>{"/mnt/my train"});
}

TEST_CASE("The records are had at shutdown though the daemon does not end and holds the state file") {
  Machine machine;
  machine.folder.write("daemon.lock", "");
  machine.places.lock = machine.folder.path("daemon.lock");
  machine.places.scratch = machine.folder.path("");
  machine.places.daemon_ms = 0;
  const auto store = store::Store::open(machine.places.state);
  REQUIRE(store);
  REQUIRE((*store)->write({*machine.records.identity, machine.records.volumes.front(), machine.records.connections.front()},
                          {}));
  const Fd held(::open(machine.places.lock.c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::flock(held.get(), LOCK_EX | LOCK_NB) == 0);
  const auto records = daemon::records_at_shutdown(machine.places);
  REQUIRE(records);
  CHECK(records->connections == std::vector<ConnectionRecord>{machine.records.connections.front()});
  CHECK(records->volume("train") != nullptr);
  for (const auto& entry : std::filesystem::directory_iterator(machine.folder.path("")))
    CHECK_FALSE(entry.path().filename().string().starts_with("shutdown-"));
}

TEST_CASE("Work that hangs is left behind when the time is over") {
  daemon::Children children;
  children.start("quick", [] { return 0; });
  children.start("failing", [] { return 3; });
  children.start("hanging", [] {
    for (;;) ::pause();
    return 0;
  });
  CHECK(children.wait(300) == std::vector<std::string>{"hanging"});
  CHECK_FALSE(children.failed("quick"));
  CHECK(children.failed("failing"));
  CHECK(children.failed("hanging"));
  children.end();
}

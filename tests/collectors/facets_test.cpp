// The facets beside block devices, on captured machines.
#include <algorithm>

#include "agent/model/guard.hpp"
#include "tests/collectors/host_fixture.hpp"
#include "tests/support/catch.hpp"

namespace nvstripe {
namespace {

using fixture::device;
using fixture::look_at;
using fixture::look_at_text;

std::string without_line(std::string text, const std::string& start) {
  const std::size_t at = text.find("\n" + start);
  REQUIRE(at != std::string::npos);
  return text.erase(at, text.find('\n', at + 1) - at);
}

std::string with(const std::string& tree, const std::string& lines) { return tree + lines + "\n"; }

Sysctl sysctl(const Inventory& seen, const std::string& name) {
  for (const Sysctl& one : seen.sysctls.value()) {
    if (one.name == name) return one;
  }
  return {};
}

Spec mounting(const std::string& path) {
  Spec spec;
  spec.volumes.emplace_back();
  spec.volumes.back().name = "train";
  spec.volumes.back().mount.path = path;
  return spec;
}

}  // namespace

TEST_CASE("A-26 a node left in state clear without members is no array, an inactive one with members is") {
  const Inventory seen = look_at("bare-metal");
  REQUIRE(seen.arrays.is_known());
  REQUIRE(seen.arrays.value().size() == 1);
  const MdArray& array = seen.arrays.value().front();
  CHECK(array.state == "inactive");
  CHECK(array.uuid == "deadbeef-0011-2233-4455-66778899aabb");
  CHECK(array.chunk.count == 131072);
  REQUIRE(array.members.size() == 1);
  CHECK(array.members.front().device == device(seen, "nvme6n1").key);
}

TEST_CASE("A-42 lvm's report is read whatever types its fields have") {
  const Inventory seen = look_at("compute-lvm");
  REQUIRE(seen.lvm.is_known());
  const Lvm& lvm = seen.lvm.value();
  REQUIRE(lvm.physicals.size() == 2);
  CHECK(lvm.physicals.front().device == device(seen, "nvme1n1").key);
  REQUIRE(lvm.groups.size() == 1);
  CHECK(lvm.groups.front().missing_pvs == 0);
  CHECK(lvm.groups.front().pvs == 2);
  CHECK(lvm.groups.front().tags == std::vector<std::string>{"nvstripe.id=00ff", "nvstripe.volume=train"});
  REQUIRE(lvm.volumes.size() == 2);
  CHECK(lvm.volumes[0].tags == std::vector<std::string>{"nvstripe.volume=train"});
  CHECK(lvm.volumes[0].size.count == 8581545984ull);
  CHECK(lvm.volumes[0].stripes == 2);
  CHECK(lvm.volumes[0].active);
  CHECK_FALSE(lvm.volumes[1].active);
}

TEST_CASE("lvm is not asked where no device carries it, and is unavailable where its report is missing or broken") {
  CHECK(look_at("aws-i4i").lvm.is_known());
  CHECK_FALSE(look_at("bare-metal").lvm.is_known());
  std::string tree = fixture::tree_of("compute-lvm");
  const std::size_t at = tree.find("\"report\"");
  REQUIRE(at != std::string::npos);
  tree.replace(at, 8, "\"rubbish\"");
  CHECK_FALSE(look_at_text(tree).lvm.is_known());
}

TEST_CASE("lvm is not asked about devices whose controller is not live") {
  std::string tree = fixture::tree_of("compute-lvm");
  for (const char* name : {"nvme1", "nvme2"}) {
    const std::string state = "file /sys/devices/virtual/nvme-fabrics/ctl/" + std::string(name) + "/state = live";
    const std::size_t at = tree.find(state);
    REQUIRE(at != std::string::npos);
    tree.replace(at, state.size(), state.substr(0, state.size() - 4) + "connecting");
  }
  const Inventory seen = look_at_text(tree);
  CHECK_FALSE(seen.lvm.is_known());
  CHECK(seen.lvm.reason() == "no device that carries LVM answers");
}

TEST_CASE("mount points with blanks are read, and the LV they are on has a key by group and name") {
  const Inventory seen = look_at("compute-lvm");
  CHECK(device(seen, "dm-0").key.text == "lv:nvs_train_8899aabb/data");
  CHECK(device(seen, "dm-0").mount_points == std::vector<std::string>{"/mnt/my train"});
  CHECK(device(seen, "nvme1n1").holders == std::vector<DeviceKey>{device(seen, "dm-0").key});
}

TEST_CASE("A-46 an all-zero product UUID gives an identity from machine-id, the same in every look") {
  const Inventory seen = look_at("compute-lvm");
  CHECK(seen.identity.value().product_uuid.empty());
  CHECK_FALSE(seen.identity.value().computed.is_none());
  CHECK(seen.identity.value().computed == look_at("compute-lvm").identity.value().computed);
  CHECK(to_text(seen.identity.value().computed).find("9f3c2b1a") == std::string::npos);
}

TEST_CASE("A-46 a product UUID that may not be read gives no identity, not another one") {
  CHECK(look_at("unreadable").identity.value().computed.is_none());
}

TEST_CASE("A-60 RoCE v2 addresses are found by type and address, not by row") {
  const Inventory seen = look_at("compute-lvm");
  REQUIRE(seen.rdma.value().size() == 1);
  const RdmaDevice& rxe = seen.rdma.value().front();
  CHECK(rxe.port_state == "ACTIVE");
  CHECK(rxe.netdev == "eth0");
  CHECK(std::count(rxe.roce_v2_addresses.begin(), rxe.roce_v2_addresses.end(), "10.0.0.5") == 1);
}

TEST_CASE("A-77 another setter of a kernel setting is named, and of its pair") {
  const Inventory seen = look_at("compute-lvm");
  CHECK(sysctl(seen, "vm.dirty_ratio").foreign_setter == "/etc/sysctl.d/99-dba.conf");
  CHECK(sysctl(seen, "vm.dirty_bytes").foreign_setter == "/etc/sysctl.d/99-dba.conf");
  CHECK(sysctl(seen, "vm.swappiness").foreign_setter == "tuned profile 'throughput-performance'");
  CHECK(sysctl(seen, "vm.dirty_background_bytes").foreign_setter.empty());
}

TEST_CASE("only files with our mark are ours") {
  const Inventory seen = look_at("compute-lvm");
  REQUIRE(seen.units.value().size() == 1);
  CHECK(seen.units.value().front().name == "mnt-train.mount");
}

TEST_CASE("what nvmet exports is seen, and its drive is in use") {
  const Inventory seen = look_at("storage");
  REQUIRE(seen.exports.is_known());
  const TargetConfiguration& target = seen.exports.value();
  REQUIRE(target.subsystems.size() == 1);
  CHECK(target.subsystems[0].allowed_hosts.size() == 1);
  REQUIRE(target.subsystems[0].namespaces.size() == 2);
  CHECK(target.subsystems[0].namespaces[0].enabled);
  CHECK(target.subsystems[0].namespaces[1].device_path.empty());
  REQUIRE(target.ports.size() == 2);
  CHECK(target.ports[0].trtype == "rdma");
  CHECK(target.ports[0].subsystems.size() == 1);
  CHECK(guard::is_exported(device(seen, "nvme0n1"), target));
  CHECK_FALSE(guard::is_exported(device(seen, "nvme1n1"), target));
}

TEST_CASE("an export whose backing cannot be read makes exports unavailable, not empty") {
  const std::string path = "/sys/kernel/config/nvmet/subsystems/nqn.2026-11.io.nvstripe:pool:0123456789abcdef/namespaces/1/";
  std::string tree = without_line(fixture::tree_of("storage"), "file " + path + "device_path");
  CHECK_FALSE(look_at_text(with(tree, "file " + path + "device_path !EIO")).exports.is_known());
}

TEST_CASE("configfs that is not mounted while nvmet is loaded hides what is exported") {
  CHECK_FALSE(look_at_text(with(fixture::tree_of("aws-i4i"), "folder /sys/module/nvmet")).exports.is_known());
}

TEST_CASE("the mount points of the spec are looked at, and nothing else is") {
  const std::string tree =
      with(fixture::tree_of("aws-i4i"),
           "folder /mnt/ours mode=0000 owner=0:0\nfolder /mnt/empty\nfile /mnt/full/x = y\nfile /mnt/file =");
  const auto kind = [&](const std::string& path) {
    return look_at_text(tree, mounting(path)).mounts.value().path_kinds[path];
  };
  CHECK(kind("/mnt/ours") == "mount_point_of_ours");
  CHECK(kind("/mnt/empty") == "empty");
  CHECK(kind("/mnt/full") == "full");
  CHECK(kind("/mnt/file") == "not_a_folder");
  CHECK(kind("/mnt/nothing") == "absent");
  CHECK(look_at_text(tree).mounts.value().path_kinds.empty());
}

TEST_CASE("units that systemd has not in memory are those it says so of") {
  const std::string tree = with(fixture::tree_of("aws-i4i"), "file /cmd/systemd.not_loaded = mnt-train.mount");
  CHECK(look_at_text(tree, mounting("/mnt/train")).mounts.value().units_not_loaded ==
        std::vector<std::string>{"mnt-train.mount"});
  CHECK(look_at_text(fixture::tree_of("aws-i4i"), mounting("/mnt/train")).mounts.value().units_not_loaded.empty());
}

TEST_CASE("an account is said to be missing only where local files alone name accounts") {
  Spec spec = mounting("/mnt/train");
  spec.volumes.back().mount.owner = "trainer";
  spec.volumes.back().mount.group = "root";
  const auto missing = [&](const std::string& nss) {
    return look_at_text(with(fixture::tree_of("aws-i4i"), nss), spec).mounts.value().no_accounts;
  };
  const std::vector<std::string> trainer{"user trainer"};
  CHECK(missing("file /etc/nsswitch.conf\n| passwd: files systemd\n| group: files # comment") == trainer);
  CHECK(missing("file /etc/nsswitch.conf\n| passwd: files sss\n| group: files").empty());
  CHECK(missing("").empty());
  spec.volumes.back().mount.owner = "1000";
  CHECK(missing("file /etc/nsswitch.conf\n| passwd: files\n| group: files").empty());
}

TEST_CASE("a machine captured without its list of modules lacks none of them") {
  const std::string loaded =
      "nvstripe-tree 1\nfile /proc/sys/kernel/osrelease = 6.1.0-28-amd64\nfolder /sys/module/nvme_core\n";
  const Kernel unseen = look_at_text(loaded).kernel.value();
  CHECK(unseen.modules_loaded == std::vector<std::string>{"nvme_core"});
  CHECK_FALSE(unseen.lacks_module("xfs"));
  const std::string listed = "file /lib/modules/6.1.0-28-amd64/modules.dep = kernel/fs/xfs/xfs.ko: kernel/lib/libcrc32c.ko";
  const Kernel known = look_at_text(with(loaded, listed)).kernel.value();
  CHECK_FALSE(known.lacks_module("xfs"));
  CHECK(known.lacks_module("raid0"));
}

TEST_CASE("a swap file makes the devices below it the system's") {
  std::string tree = fixture::tree_of("compute-lvm");
  const std::size_t at = tree.find("Priority");
  tree.insert(at + 8, "\n| /mnt/my\\\\040train/swap file 1024 0 -2");
  const std::size_t line = tree.rfind('\n', at);
  const std::string head = tree.substr(line + 1, at + 8 - line - 1);
  tree.replace(line + 1, head.size(), "file /proc/swaps\n| Filename Type Size Used Priority");
  const Inventory seen = look_at_text(tree);
  CHECK(device(seen, "dm-0").kind == DeviceKind::system);
  CHECK(device(seen, "nvme2n1").kind == DeviceKind::system);
}

}  // namespace nvstripe

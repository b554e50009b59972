// Which disk is it: the field cases about discovery and identity, on captured machines.
#include "tests/collectors/host_fixture.hpp"
#include "tests/support/catch.hpp"

namespace nvstripe {
namespace {

using fixture::device;
using fixture::look_at;
using fixture::usable;

std::vector<std::string> usable_names(const Inventory& seen) {
  std::vector<std::string> names;
  for (const BlockDevice& one : seen.blocks.value()) {
    if (usable(seen, one.kernel_name) == "yes") names.push_back(one.kernel_name);
  }
  return names;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("A-01 A-03 on an i4i-like machine only the instance storage is local, whatever its number") {
  const Inventory seen = look_at("aws-i4i");
  CHECK(device(seen, "nvme0n1").kind == DeviceKind::network_disk);
  CHECK(device(seen, "nvme1n1").kind == DeviceKind::system);
  CHECK(device(seen, "nvme1n1p1").kind == DeviceKind::system);
  CHECK(usable_names(seen) == std::vector<std::string>{"nvme2n1", "nvme3n1"});
  CHECK(device(seen, "nvme2n1").size.count == 914062500ull * 512);
}

TEST_CASE("A-01 without udev's records nothing is usable") {
  std::string tree = fixture::tree_of("aws-i4i");
  for (std::size_t at = tree.find("/run/udev/data/"); at != std::string::npos; at = tree.find("/run/udev/data/")) {
    tree.replace(at, 15, "/run/udev/none/");
  }
  const Inventory seen = fixture::look_at_text(tree);
  CHECK(device(seen, "nvme2n1").kind == DeviceKind::local_ssd);
  CHECK(device(seen, "nvme2n1").look == Look::unknown);
  CHECK(usable_names(seen).empty());
}

TEST_CASE("A-02 whatever is stacked with the system, up or down, is the system's") {
  const Inventory seen = look_at("bare-metal");
  for (const char* name : {"nvme0n1", "nvme0n1p1", "nvme0n1p2", "nvme0n1p3", "nvme0n1p4", "dm-0", "dm-1"}) {
    CAPTURE(name);
    CHECK(device(seen, name).kind == DeviceKind::system);
  }
  CHECK(device(seen, "dm-1").swap);
  CHECK(device(seen, "dm-0").mount_points == std::vector<std::string>{"/"});
}

TEST_CASE("A-02 a drive stays the system's when only one end of the stack could be read") {
  std::string tree = replaced(fixture::tree_of("bare-metal"), "link /sys/devices/virtual/block/dm-0/slaves/nvme0n1p3",
                              "link /sys/devices/virtual/block/dm-0/gone/nvme0n1p3");
  CHECK(device(fixture::look_at_text(tree), "nvme0n1").kind == DeviceKind::system);
}

TEST_CASE("A-04 A-06 the accelerator's disks are remote for any nsid, and their keys differ although the serial is one") {
  const Inventory seen = look_at("azure-v6");
  CHECK(device(seen, "nvme0n1").kind == DeviceKind::system);
  CHECK(device(seen, "nvme0n2").kind == DeviceKind::network_disk);
  CHECK(device(seen, "nvme0n1").serial == "SN: 000001");
  CHECK(device(seen, "nvme0n1").key != device(seen, "nvme0n2").key);
  CHECK(usable_names(seen) == std::vector<std::string>{"nvme1n1", "nvme2n1", "nvme3n1"});
}

TEST_CASE("A-05 Azure's direct disks are local, its SCSI temporary disk is nobody's") {
  const Inventory seen = look_at("azure-lsv2");
  CHECK(device(seen, "sdb").kind == DeviceKind::other);
  CHECK(usable_names(seen) == std::vector<std::string>{"nvme0n1", "nvme1n1"});
}

TEST_CASE("A-05 an unknown model of Microsoft's is not guessed at") {
  const Inventory seen = fixture::look_at_text(replaced(
      fixture::tree_of("azure-lsv3"), "model = Microsoft NVMe Direct Disk  ", "model = Microsoft NVMe Direct Disk v9"));
  CHECK(device(seen, "nvme0n1").kind == DeviceKind::other);
  CHECK_FALSE(seen.notes.empty());
}

TEST_CASE("A-07 A-08 equal serials are told apart by nsid") {
  const Inventory seen = look_at("gcp-local");
  CHECK(usable_names(seen) == std::vector<std::string>{"nvme1n1", "nvme1n16", "nvme1n2", "nvme1n3"});
  CHECK(device(seen, "nvme1n16").nsid == 16);
}

TEST_CASE("A-07 two devices of one identity are both refused") {
  const Inventory seen = look_at("gcp-one-identity");
  CHECK(device(seen, "nvme0n1").ambiguous_key);
  CHECK(device(seen, "nvme1n1").ambiguous_key);
  CHECK(usable_names(seen).empty());
}

TEST_CASE("A-12 all-zero and all-one identifiers are none") {
  const BlockDevice one = device(look_at("multipath-off"), "nvme2n1");
  CHECK(one.uuid.empty());
  CHECK(one.nguid.empty());
  CHECK(one.wwid.empty());
  CHECK(one.key.text == "name:nvme2n1");
}

TEST_CASE("A-13 the nsid comes from its file, not from the name") {
  const Inventory seen = look_at("multipath-on");
  CHECK(device(seen, "nvme2n1").nsid == 2);
  CHECK(device(seen, "nvme2n2").nsid == 1);
}

TEST_CASE("A-14 A-15 A-16 with multipath on, hidden paths lead to controllers and are no disks") {
  const Inventory seen = look_at("multipath-on");
  const BlockDevice head = device(seen, "nvme2n1");
  CHECK(head.kind == DeviceKind::remote_namespace);
  CHECK(head.controllers == std::vector<std::string>{"nvme0", "nvme1"});
  CHECK(head.paths == std::vector<std::string>{"nvme2c0n1", "nvme2c1n1"});
  CHECK(head.path_queues.size() == 2);
  CHECK(head.path_queues.at(0).nr_requests == 127u);
  CHECK(seen.find_kernel_name("nvme2c0n1") == nullptr);
  CHECK(device(seen, "nvme3n1").controllers == std::vector<std::string>{"nvme3"});
  CHECK(device(seen, "nvme3n1").kind == DeviceKind::local_ssd);
}

TEST_CASE("A-75 the chosen scheduler and all that are offered are read") {
  const BlockQueue queue = device(look_at("aws-i4i"), "nvme2n1").queue;
  CHECK(queue.scheduler == "none");
  CHECK(queue.schedulers == std::vector<std::string>{"none", "mq-deadline"});
  CHECK(queue.read_ahead_kb == 128u);
  CHECK_FALSE(queue.wbt_lat_usec.has_value());
}

TEST_CASE("A-16 with multipath off two paths to one namespace have one identity and are refused") {
  const Inventory seen = look_at("multipath-off");
  CHECK(device(seen, "nvme0n1").ambiguous_key);
  CHECK(device(seen, "nvme0n1").controllers == std::vector<std::string>{"nvme0"});
  CHECK(usable_names(seen).empty());
}

TEST_CASE("A-17 a model that is not UTF-8 is kept as bytes") {
  CHECK(device(look_at("bare-metal"), "nvme5n1").model == "Innova\xff\xfe");
}

TEST_CASE("A-41 two signatures are not none, and neither is a missing record") {
  const Inventory seen = look_at("ambivalent");
  CHECK(device(seen, "nvme0n1").look == Look::ambiguous);
  CHECK(device(seen, "nvme1n1").look == Look::none);
  CHECK(device(seen, "nvme2n1").look == Look::unknown);
  CHECK(usable_names(seen) == std::vector<std::string>{"nvme1n1"});
}

TEST_CASE("A-61 a controller that went away is left out and said, and a dying drive is not usable") {
  const Inventory seen = look_at("unreadable");
  REQUIRE(seen.controllers.is_known());
  CHECK(seen.controllers.value().size() == 4);
  CHECK(usable_names(seen) == std::vector<std::string>{"nvme3n1"});
}

TEST_CASE("OCI's drives are passed through whole and are local, its block volumes are not") {
  const Inventory seen = look_at("oci-dense");
  CHECK(usable_names(seen) == std::vector<std::string>{"nvme0n1", "nvme1n1"});
  CHECK(device(seen, "sda").kind == DeviceKind::system);
}

TEST_CASE("a bare machine's drives need a known maker, and a hypervisor's flag takes the evidence away") {
  const Inventory seen = look_at("bare-metal");
  CHECK(device(seen, "nvme1n1").kind == DeviceKind::local_ssd);
  CHECK(device(seen, "nvme5n1").kind == DeviceKind::other);
  const Inventory guest =
      fixture::look_at_text(replaced(fixture::tree_of("bare-metal"), "sse2 avx2", "sse2 avx2 hypervisor"));
  CHECK(device(guest, "nvme1n1").kind == DeviceKind::other);
}

TEST_CASE("drives, mounts and udev's records alone tell what is usable, and what is presumed is said") {
  std::string lean = "nvstripe-tree 1\n";
  bool kept = false;
  const std::string tree = fixture::tree_of("aws-i4i");
  for (std::size_t at = tree.find('\n') + 1; at < tree.size(); at = tree.find('\n', at) + 1) {
    const std::string line = tree.substr(at, tree.find('\n', at) + 1 - at);
    if (line[0] != '|') {
      kept = false;
      for (const char* path : {" /sys/block/", " /sys/class/", " /sys/devices/", " /proc/self/", " /run/udev/"})
        kept = kept || (line.find(path) != std::string::npos && line.compare(0, 6, "folder") != 0);
    }
    if (kept) lean += line;
  }
  const Inventory seen = fixture::look_at_text(lean);
  CHECK(usable_names(seen) == std::vector<std::string>{"nvme2n1", "nvme3n1"});
  CHECK(seen.notes.size() >= 2);
}

TEST_CASE("a machine captured in part is read as far as it goes and nothing of it is usable") {
  const Inventory seen = look_at("partial");
  REQUIRE(seen.blocks.is_known());
  CHECK(device(seen, "nvme0n1").serial == "AWS2A3B4C5D6E7F80911");
  CHECK(usable_names(seen).empty());
  CHECK_FALSE(seen.mounts.is_known());
  CHECK_FALSE(seen.exports.is_known());
  CHECK_FALSE(seen.notes.empty());
}

}  // namespace nvstripe

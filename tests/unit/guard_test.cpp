// Owns the checks of the guard on devices: each veto, what the facets add, and that what is right passes.
#include "tests/support/catch.hpp"
#include "tests/unit/guarded.hpp"

using namespace nvstripe;
using namespace nvstripe::guarded;

TEST_CASE("a blank local SSD is usable") { CHECK(vetoes_on(drive("nvme:a0")).empty()); }

TEST_CASE("each reason against a device is named") {
  using Change = void (*)(BlockDevice&);
  const std::vector<std::pair<std::string, Change>> cases{
      {"guard.no_evidence", [](BlockDevice& d) { d.kind = DeviceKind::other; }},
      {"guard.network_disk", [](BlockDevice& d) { d.kind = DeviceKind::network_disk; }},
      {"guard.not_a_drive", [](BlockDevice& d) { d.kind = DeviceKind::array; }},
      {"guard.not_a_drive", [](BlockDevice& d) { d.parent = {"nvme:p0"}; }},
      {"guard.unstable_name", [](BlockDevice& d) { d.key = {"name:nvme0n1"}; }},
      {"guard.duplicate_identity", [](BlockDevice& d) { d.ambiguous_key = true; }},
      {"guard.system_device", [](BlockDevice& d) { d.kind = DeviceKind::system; }},
      {"guard.mounted", [](BlockDevice& d) { d.mount_points = {"/data"}; }},
      {"guard.swap", [](BlockDevice& d) { d.swap = true; }},
      {"guard.holder", [](BlockDevice& d) { d.holders = {{"dm:x"}}; }},
      {"guard.partition_table", [](BlockDevice& d) { d.partitions = 2; }},
      {"guard.signature",
       [](BlockDevice& d) {
         d.look = Look::found;
         d.signatures = {{"ext4", "u", "", false}};
       }},
      {"guard.signature", [](BlockDevice& d) { d.look = Look::found; }},
      {"guard.look_ambiguous", [](BlockDevice& d) { d.look = Look::ambiguous; }},
      {"guard.look_unknown", [](BlockDevice& d) { d.look = Look::unknown; }},
      {"guard.content", [](BlockDevice& d) { d.content = Content::data; }},
      {"guard.content_unknown", [](BlockDevice& d) { d.content = Content::unknown; }},
      {"guard.content_unknown", [](BlockDevice& d) { d.content = Content::presumed; }},
      {"guard.read_only", [](BlockDevice& d) { d.read_only = true; }},
      {"guard.not_live", [](BlockDevice& d) { d.kind = DeviceKind::remote_namespace; }},
  };
  for (const auto& [id, change] : cases) {
    BlockDevice device = drive("nvme:a0");
    change(device);
    INFO(id);
    CHECK(vetoes_on(device) == std::set<std::string>{id});
  }
}

TEST_CASE("what the facets say about a device counts too") {
  const BlockDevice device = drive("nvme:a0");
  SECTION("nvmet exports it by its kernel name") {
    Inventory seen = machine({device});
    seen.exports.value().subsystems = {{"nqn.x", "", "", false, {}, {{1, "/dev/" + device.kernel_name, "", "", true}}}};
    CHECK(ids(guard::unusable(device, seen)) == std::set<std::string>{"guard.exported"});
  }
  SECTION("nvmet exports a link that matches nothing") {
    Inventory seen = machine({device});
    seen.exports.value().subsystems = {{"nqn.x", "", "", false, {}, {{1, "/dev/disk/by-id/odd", "", "", true}}}};
    CHECK(ids(guard::unusable(device, seen)) == std::set<std::string>{"guard.exports_unclear"});
  }
  SECTION("an array that udev assembled holds it") {
    Inventory seen = machine({device});
    MdArray array;
    array.uuid = "stale";
    array.members = {{device.key, "0", "in_sync"}};
    seen.arrays.value().push_back(array);
    CHECK(ids(guard::unusable(device, seen)) == std::set<std::string>{"guard.holder"});
  }
  SECTION("A-07 equal identities forbid both") {
    const Inventory seen = machine({device, device});
    CHECK(ids(guard::unusable(device, seen)) == std::set<std::string>{"guard.duplicate_identity"});
  }
  SECTION("the ledger gives it to a consumer") {
    Inventory seen = machine({device});
    ExportRecord record;
    record.drive = device.key;
    seen.records.value().exports.push_back(record);
    CHECK(ids(guard::unusable(device, seen)) == std::set<std::string>{"guard.ledger"});
    CHECK(guard::unusable(device, seen, true).empty());
  }
  SECTION("swap is told by its path as well") {
    Inventory seen = machine({device});
    seen.mounts.value().swaps = {"/dev/" + device.kernel_name};
    CHECK(ids(guard::unusable(device, seen)) == std::set<std::string>{"guard.swap"});
  }
  SECTION("a facet that could not be seen is never taken for empty") {
    Inventory seen = machine({device});
    seen.mounts = Facet<Mounts>::unavailable("no /proc");
    seen.exports = Facet<TargetConfiguration>::unavailable("no configfs");
    CHECK(ids(guard::unusable(device, seen)) == std::set<std::string>{"guard.facet_unknown"});
  }
  SECTION("a captured machine presumes content") {
    BlockDevice presumed = device;
    presumed.content = Content::presumed;
    Inventory seen = machine({presumed});
    seen.captured = true;
    CHECK(guard::unusable(presumed, seen).empty());
  }
}

TEST_CASE("an own export seen through the fabric is a loop") {
  BlockDevice device = drive("nvme:uuid.u1/1");
  device.kind = DeviceKind::remote_namespace;
  device.wwid = "uuid.u1";
  device.controllers = {"nvme4"};
  Inventory seen = machine({device});
  NvmeController controller;
  controller.kernel_name = "nvme4";
  controller.state = "live";
  seen.controllers.value().push_back(controller);
  CHECK(guard::unusable(device, seen).empty());
  seen.exports.value().subsystems = {{"nqn.own", "", "", false, {}, {{1, "/dev/nvme9n1", "u1", "", true}}}};
  CHECK(ids(guard::unusable(device, seen)) == std::set<std::string>{"guard.loop"});
}

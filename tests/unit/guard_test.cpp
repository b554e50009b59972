// Owns the checks of the guard: each veto on a device and on an action, and that what is right passes.
#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "agent/model/guard.hpp"
#include "agent/model/guard_ours.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;

namespace {

const Uuid kHost = *parse_uuid("11111111-2222-3333-4444-555555555555");
constexpr std::uint64_t kGeneration = 0x0123456789abcdefull;

BlockDevice drive(const std::string& key) {
  BlockDevice device;
  device.key = {key};
  device.kernel_name = "nvme" + std::to_string(key.back() - '0' + 1) + "n1";
  device.device_number = "259:" + std::to_string(key.back() - '0');
  device.diskseq = 7;
  device.kind = DeviceKind::local_ssd;
  device.evidence = "model 'Test SSD'";
  device.size = {1000000000};
  device.logical_block = 512;
  device.transport = "pcie";
  device.look = Look::none;
  device.content = Content::zero;
  return device;
}

Inventory machine(std::vector<BlockDevice> devices) {
  Inventory seen;
  seen.blocks = Facet<std::vector<BlockDevice>>::known(std::move(devices));
  seen.controllers = Facet<std::vector<NvmeController>>::known({});
  seen.exports = Facet<TargetConfiguration>::known({});
  seen.arrays = Facet<std::vector<MdArray>>::known({});
  seen.lvm = Facet<Lvm>::known({});
  seen.mounts = Facet<Mounts>::known({});
  HostIdentity identity;
  identity.computed = kHost;
  identity.boot_id = "boot-1";
  seen.identity = Facet<HostIdentity>::known(identity);
  Records records;
  records.fresh_generation = kGeneration;
  seen.records = Facet<Records>::known(records);
  return seen;
}

Spec spec_of_train() {
  Spec spec;
  VolumeSpec volume;
  volume.name = "train";
  volume.mount.path = "/mnt/train";
  spec.volumes.push_back(volume);
  return spec;
}

Action create_array(const std::vector<std::string>& keys) {
  const Uuid uuid = derive(kHost, "array", "train", kGeneration);
  Action action;
  action.id = "md.create:train";
  action.object = "volume:train";
  action.risk = Risk::writes_blank;
  Run run;
  run.argv = {std::string("mdadm"), std::string("--create"), std::string("/dev/md/nvs-train"), "--uuid=" + to_mdadm(uuid)};
  for (const std::string& key : keys) {
    action.writes.push_back({key});
    RequireContent look;
    look.device = {key};
    action.steps.emplace_back(look);
    run.argv.emplace_back(DeviceRef{{key}});
  }
  action.steps.emplace_back(run);
  return action;
}

std::set<std::string> ids(const std::vector<guard::Veto>& vetoes) {
  std::set<std::string> out;
  for (const guard::Veto& veto : vetoes) out.insert(veto.id);
  return out;
}

std::set<std::string> vetoes_on(const BlockDevice& device) { return ids(guard::unusable(device, machine({device}))); }

}  // namespace

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

TEST_CASE("creating an array on blank drives is right") {
  const Inventory seen = machine({drive("nvme:a0"), drive("nvme:a1")});
  CHECK(guard::judge(create_array({"nvme:a0", "nvme:a1"}), spec_of_train(), seen) == guard::Veto{});
}

TEST_CASE("a draft that would harm is vetoed") {
  const Spec spec = spec_of_train();
  Inventory seen = machine({drive("nvme:a0"), drive("nvme:a1")});
  Action action = create_array({"nvme:a0", "nvme:a1"});
  SECTION("no last look") {
    action.steps.erase(action.steps.begin());
    CHECK(guard::judge(action, spec, seen).id == "guard.no_last_look");
  }
  SECTION("last look after the program") {
    std::swap(action.steps.front(), action.steps.back());
    CHECK(guard::judge(action, spec, seen).id == "guard.no_last_look");
  }
  SECTION("a device that is not declared") {
    action.writes.pop_back();
    CHECK(guard::judge(action, spec, seen).id == "guard.undeclared_write");
  }
  SECTION("a device that is not seen") {
    seen.blocks.value().pop_back();
    CHECK(guard::judge(action, spec, seen).id == "guard.unseen_device");
  }
  SECTION("foreign content") {
    BlockDevice& device = seen.blocks.value().front();
    device.look = Look::found;
    device.signatures = {{"ext4", "u", "", false}};
    CHECK(guard::judge(action, spec, seen).id == "guard.signature");
  }
  SECTION("risk understated") {
    action.risk = Risk::reversible;
    CHECK(guard::judge(action, spec, seen).id == "guard.risk_understated");
  }
  SECTION("a kernel name") {
    std::get<Run>(action.steps.back()).argv.emplace_back(std::string("/dev/nvme0n1"));
    CHECK(guard::judge(action, spec, seen).id == "guard.kernel_name");
  }
  SECTION("an array that is not ours") {
    std::get<Run>(action.steps.back()).argv[3] = std::string("--uuid=deadbeef:00112233:44556677:8899aabb");
    CHECK(guard::judge(action, spec, seen).id == "guard.foreign_array");
  }
  SECTION("a last look that expects more than was judged") {
    std::get<RequireContent>(action.steps.front()).expected = {{"ext4", "u", "", false}};
    CHECK(guard::judge(action, spec, seen).id == "guard.last_look_differs");
  }
  SECTION("a last look that allows anything") {
    std::get<RequireContent>(action.steps.front()).any_content = true;
    CHECK(guard::judge(action, spec, seen).id == "guard.last_look_differs");
  }
}

TEST_CASE("redo needs a record that says unfinished, and exactly our own identity") {
  const Spec spec = spec_of_train();
  Inventory seen = machine({drive("nvme:a0"), drive("nvme:a1")});
  BlockDevice& half = seen.blocks.value().front();
  half.look = Look::found;
  half.content = Content::data;
  half.signatures = {{"linux_raid_member", to_text(derive(kHost, "array", "train", kGeneration)), "nvs-train", false}};
  Action action = create_array({"nvme:a0", "nvme:a1"});
  std::get<RequireContent>(action.steps.front()).expected = half.signatures;
  VolumeRecord record{"train", "md", kGeneration, {{"nvme:a0"}, {"nvme:a1"}}, Stage::intended, "", "", ""};
  CHECK(guard::judge(action, spec, seen).id == "guard.signature");
  seen.records.value().volumes = {record};
  CHECK(guard::judge(action, spec, seen) == guard::Veto{});
  seen.records.value().volumes.front().stage = Stage::made_array;
  CHECK(guard::judge(action, spec, seen).id == "guard.signature");
  seen.records.value().volumes = {record};
  seen.records.value().volumes.front().generation ^= 1;
  CHECK(guard::judge(action, spec, seen).id == "guard.signature");
  seen.records.value().volumes = {record};
  half.signatures.push_back({"ext4", "u", "", false});
  CHECK(guard::judge(action, spec, seen).id == "guard.signature");
}

TEST_CASE("destroying takes consent, the risk said, and the content listed") {
  Spec spec = spec_of_train();
  Inventory seen = machine({drive("nvme:a0"), drive("nvme:a1")});
  BlockDevice& full = seen.blocks.value().front();
  full.look = Look::found;
  full.content = Content::data;
  full.signatures = {{"ext4", "u", "", false}};
  Action action = create_array({"nvme:a0", "nvme:a1"});
  std::get<RequireContent>(action.steps.front()).expected = full.signatures;
  action.risk = Risk::destroys_data;
  action.destroys = {"nvme:a0 1000000000 ext4:u"};
  CHECK(guard::judge(action, spec, seen).id == "guard.signature");
  spec.volumes.front().wipe_foreign_data = true;
  CHECK(guard::judge(action, spec, seen) == guard::Veto{});
  action.destroys = {"nvme:a1 1000000000 ext4:u"};
  CHECK(guard::judge(action, spec, seen).id == "guard.signature");
  full.mount_points = {"/data"};
  action.destroys = {"nvme:a0 1000000000 ext4:u"};
  CHECK(guard::judge(action, spec, seen).id == "guard.mounted");
}

TEST_CASE("only what is ours is disconnected, stopped, unmounted or changed") {
  const Spec spec = spec_of_train();
  Inventory seen = machine({drive("nvme:a0")});
  Action action;
  action.id = "x";
  action.risk = Risk::disruptive;
  const auto judged = [&](const Step& step) {
    action.steps = {step};
    return guard::judge(action, spec, seen).id;
  };
  const auto run = [](std::vector<Arg> argv) { return Run{std::move(argv), std::chrono::seconds(1), {0}, {}}; };
  const auto s = [](const char* text) { return std::string(text); };
  Disconnect end{"nqn.t", "tcp", "10.0.0.1", "4420", std::chrono::seconds(1)};
  CHECK(judged(end) == "guard.foreign_connection");
  seen.records.value().connections = {{"s1", "nqn.t", "tcp", "10.0.0.1", "4420", "", "boot-0"}};
  CHECK(judged(end) == "guard.foreign_connection");
  seen.records.value().connections.front().boot_id = "boot-1";
  CHECK(judged(end) == "");
  CHECK(judged(run({s("mdadm"), s("--stop"), s("/dev/md/other")})) == "guard.foreign_array");
  CHECK(judged(run({s("mdadm"), s("--stop"), DeviceRef{{"md:deadbeef-0011-2233-4455-66778899aabb"}}})) ==
        "guard.foreign_array");
  CHECK(judged(run({s("mdadm"), s("--stop"), DeviceRef{{"md:" + to_text(derive(kHost, "array", "train", 5))}}})) == "");
  CHECK(judged(run({s("systemctl"), s("stop"), s("home.mount")})) == "guard.foreign_unit");
  CHECK(judged(run({s("systemctl"), s("stop"), s("mnt-train.mount")})) == "");
  CHECK(judged(run({s("systemctl"), s("daemon-reload")})) == "");
  CHECK(judged(run({s("vgchange"), s("-ay"), s("rootvg")})) == "guard.foreign_group");
  CHECK(judged(run({s("vgchange"), s("-ay"), s("nvs_train_0123abcd")})) == "");
  CHECK(judged(run({s("vgchange"), s("-ay"), s("nvs_other_0123abcd")})) == "guard.foreign_group");
  CHECK(judged(WriteAttribute{{}, "/sys/kernel/config/nvmet/subsystems/nqn.foreign/attr_allow_any_host", "1"}) ==
        "guard.foreign_export");
  CHECK(judged(PutFile{"/etc/fstab", "", 0644}) == "guard.foreign_path");
  CHECK(judged(PutFile{"/etc/nvstripe/../fstab", "", 0644}) == "guard.foreign_path");
  CHECK(judged(PutFile{"/run/systemd/system/mnt-train.mount", "", 0644}) == "");
  CHECK(judged(Remove{"/run/systemd/system/home.mount"}) == "guard.foreign_path");
  CHECK(judged(SetOwner{"/home", "x", "", ""}) == "guard.foreign_path");
  CHECK(judged(WriteAttribute{DeviceKey{"nvme:a0"}, "queue/scheduler", "none"}) == "");
  CHECK(judged(WriteAttribute{DeviceKey{"nvme:a0"}, "device/delete_controller", "1"}) == "guard.foreign_path");
  seen.blocks.value().front().kind = DeviceKind::system;
  CHECK(judged(WriteAttribute{DeviceKey{"nvme:a0"}, "queue/scheduler", "none"}) == "guard.foreign_setting");
}

TEST_CASE("what nvmet is to serve is judged like what is written to") {
  Inventory seen = machine({drive("nvme:a0")});
  Action action;
  WriteAttribute path;
  path.path = "/sys/kernel/config/nvmet/subsystems/nqn.2026-11.io.nvstripe:pool:1/namespaces/1/device_path";
  path.value = "/dev/disk/by-id/x";
  action.steps = {path};
  CHECK(guard::judge(action, Spec{}, seen).id == "guard.undeclared_write");
  path.value_device = DeviceKey{"nvme:a0"};
  action.steps = {path};
  CHECK(guard::judge(action, Spec{}, seen).id == "guard.no_last_look");
  RequireContent look;
  look.device = {"nvme:a0"};
  action.steps = {look, path};
  CHECK(guard::judge(action, Spec{}, seen) == guard::Veto{});
  seen.blocks.value().front().mount_points = {"/data"};
  CHECK(guard::judge(action, Spec{}, seen).id == "guard.mounted");
  seen.blocks.value().front().mount_points.clear();
  seen.blocks.value().front().signatures = {{"linux_raid_member", "u", "", false}};
  CHECK(guard::judge(action, Spec{}, seen).id == "guard.signature");
  ExportRecord record;
  record.drive = {"nvme:a0"};
  seen.records.value().exports = {record};
  action.steps = {path};
  CHECK(guard::judge(action, Spec{}, seen) == guard::Veto{});
}

TEST_CASE("a group of our name without our tag is foreign") {
  Inventory seen = machine({});
  LvmGroup group;
  group.name = "nvs_train_0123abcd";
  seen.lvm.value().groups = {group};
  CHECK_FALSE(guard::is_our_group(group.name, spec_of_train(), seen));
  seen.lvm.value().groups.front().tags = {"nvstripe.id=" + to_hex(derive(kHost, "vg", "train", 5))};
  CHECK(guard::is_our_group(group.name, spec_of_train(), seen));
}

TEST_CASE("connecting takes this host's identity and no controller that is there already") {
  const Spec spec = spec_of_train();
  Inventory seen = machine({});
  Connect connect;
  connect.nqn = "nqn.t";
  connect.transport = "tcp";
  connect.traddr = "10.0.0.1";
  connect.trsvcid = "4420";
  connect.hostid = to_text(kHost);
  connect.hostnqn = "nqn.2014-08.org.nvmexpress:uuid:" + connect.hostid;
  Action action;
  action.steps = {connect};
  CHECK(guard::judge(action, spec, seen) == guard::Veto{});
  NvmeController controller;
  controller.subsystem_nqn = "nqn.t";
  controller.transport = "tcp";
  controller.traddr = "10.0.0.1";
  controller.trsvcid = "4420";
  controller.state = "connecting";
  seen.controllers.value().push_back(controller);
  CHECK(guard::judge(action, spec, seen).id == "guard.connected_already");
  seen.controllers.value().clear();
  connect.hostid = "other";
  action.steps = {connect};
  CHECK(guard::judge(action, spec, seen).id == "guard.foreign_host_identity");
}

TEST_CASE("a namespace id is never given to another drive") {
  Inventory seen = machine({});
  ExportRecord old;
  old.drive = {"nvme:a0"};
  old.subsystem_nqn = "nqn.2026-11.io.nvstripe:pool:1";
  old.nsid = 3;
  old.generation = 1;
  old.retired = true;
  seen.records.value().exports = {old};
  ExportRecord fresh = old;
  fresh.drive = {"nvme:a1"};
  fresh.retired = false;
  Action action;
  action.before = {fresh};
  CHECK(guard::judge(action, Spec{}, seen).id == "guard.namespace_reused");
  fresh.nsid = 4;
  action.before = {fresh};
  CHECK(guard::judge(action, Spec{}, seen) == guard::Veto{});
}

TEST_CASE("mount units are named as systemd names them") {
  CHECK(guard::mount_unit_name("/mnt/train") == "mnt-train.mount");
  CHECK(guard::mount_unit_name("/mnt/a-b") == "mnt-a\\x2db.mount");
  CHECK(guard::mount_unit_name("/mnt//x y/") == "mnt-x\\x20y.mount");
  CHECK(guard::mount_unit_name("/") == "-.mount");
}

TEST_CASE("ids in the table of vetoes are unique and each has a remedy") {
  std::set<std::string_view> seen;
  for (const guard::Rule& rule : guard::rules()) {
    CHECK(seen.insert(rule.id).second);
    CHECK_FALSE(rule.remedy.empty());
    CHECK_FALSE(rule.summary.empty());
    CHECK((rule.law >= 1 && rule.law <= 12));
  }
}

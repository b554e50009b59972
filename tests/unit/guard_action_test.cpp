// Owns the checks of the guard on actions: what they may write to, stop, disconnect, change and serve.
#include "agent/model/guard_ours.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/guarded.hpp"

using namespace nvstripe;
using namespace nvstripe::guarded;

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
  action.destroys = {"nvme:a0 1000000000 ext4:u"};
  const auto with = [&](const Signature& signature) {
    full.signatures = {signature};
    std::get<RequireContent>(action.steps.front()).expected = full.signatures;
    return guard::judge(action, spec, seen).id;
  };
  CHECK(with({"linux_raid_member", "u", "storage7:backup", false}) == "");
  CHECK(with({"linux_raid_member", "u", "any:nvs-train", false}) == "guard.signature");  // another host's volume
  CHECK(with({"LVM2_member", "u", "", false}) == "");
  seen.lvm.value().physicals = {{full.key, "u", "nvs_train_00112233", false}};
  CHECK(with({"LVM2_member", "u", "", false}) == "guard.signature");
  seen.lvm = Facet<Lvm>::unavailable("lvm2 is not installed");
  CHECK(with({"LVM2_member", "u", "", false}) == "guard.signature");
  CHECK(with({"ext4", "u", "", false}) == "");
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

TEST_CASE("what somebody mounted in a volume's place is not unmounted") {
  const Spec spec = spec_of_train();
  Inventory seen = machine({});
  Action action;
  action.id = "volume.release:train";
  action.object = "volume:train";
  action.risk = Risk::disruptive;
  for (const std::vector<Arg>& argv :
       {std::vector<Arg>{std::string("systemctl"), std::string("stop"), std::string("mnt-train.mount")},
        std::vector<Arg>{std::string("umount"), std::string("/mnt/train")}}) {
    action.steps = {Run{argv}};
    BlockDevice array;
    array.key = {"md:" + to_text(derive(kHost, "array", "train", kGeneration))};
    array.device_number = "9:127";
    array.kind = DeviceKind::array;
    seen.blocks.value() = {array};
    seen.mounts.value().mounts = {{"/mnt/train", "/dev/md127", "xfs", "rw", "9:127", "", "", ""}};
    CHECK(guard::judge(action, spec, seen).id == "");
    seen.mounts.value().mounts.push_back({"/mnt/train", "10.1.1.1:/spare", "nfs4", "rw", "0:51", "", "", ""});
    CHECK(guard::judge(action, spec, seen).id == "guard.foreign_mount");
    seen.blocks.value().front().key = {"md:" + to_text(derive(kHost, "array", "other", kGeneration))};
    seen.mounts.value().mounts.pop_back();
    CHECK(guard::judge(action, spec, seen).id == "guard.foreign_mount");
  }
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
  record.subsystem_nqn = "nqn.2026-11.io.nvstripe:pool:1";
  record.generation = 5;
  seen.records.value().exports = {record};
  action.steps = {path};
  CHECK(guard::judge(action, Spec{}, seen).id == "guard.signature");  // intended and never served: still a stranger's data
  seen.records.value().exports.front().served = true;
  CHECK(guard::judge(action, Spec{}, seen) == guard::Veto{});
}

TEST_CASE("a drive that is served again was served in that subsystem, and is no member of a volume") {
  const Spec spec = spec_of_train();
  Inventory seen = machine({drive("nvme:a0")});
  BlockDevice& device = seen.blocks.value().front();
  device.look = Look::found;
  device.content = Content::data;
  device.signatures = {{"LVM2_member", "abcdef-1111-2222-3333-4444-5555-666666", "", false}};
  Action action;
  action.id = "export.serve:pool";
  action.object = "export:pool";
  WriteAttribute path;
  path.path = "/sys/kernel/config/nvmet/subsystems/nqn.2026-11.io.nvstripe:pool:1/namespaces/1/device_path";
  path.value_device = device.key;
  action.steps = {path};
  ExportRecord record;
  record.drive = device.key;
  record.subsystem_nqn = "nqn.2026-11.io.nvstripe:pool:1";
  record.nsid = 1;
  record.generation = 5;
  record.served = true;
  seen.records.value().exports = {record};
  CHECK(guard::judge(action, spec, seen).id == "");
  SECTION("served to another host before") {
    seen.records.value().exports.front().subsystem_nqn = "nqn.2026-11.io.nvstripe:pool:2";
    CHECK(guard::judge(action, spec, seen).id == "guard.signature");
  }
  SECTION("spent, since it was given to another host meanwhile") {
    seen.records.value().exports.front().generation = 0;
    CHECK(guard::judge(action, spec, seen).id == "guard.signature");
  }
  SECTION("a member now") {
    VolumeRecord train;
    train.name = "train";
    train.members = {device.key};
    seen.records.value().volumes = {train};
    CHECK(guard::judge(action, spec, seen).id == "guard.member");
  }
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

// Tests the JSON that programs see: stable names, valid text whatever devices say, records that read back equal.
#include "agent/model/json.hpp"

#include <boost/json.hpp>

#include "tests/support/catch.hpp"

namespace nvstripe {
namespace {

std::vector<Record> sample_records() {
  const Uuid host = *parse_uuid("deadbeef-0011-2233-4455-66778899aabb");
  return {IdentityRecord{.host = host, .source = "dmi"},
          VolumeRecord{.name = "train",
                       .stack = "md",
                       .generation = 0xfedcba9876543210u,
                       .members = {{"nvme:uuid.1/1"}, {"lv:vg/s1"}},
                       .stage = Stage::made_array,
                       .vg_uuid = "v",
                       .lv_uuid = "l",
                       .mount_path = "/mnt/train"},
          ExportRecord{.drive = {"nvme:eui.1/2"},
                       .slice = 3,
                       .export_name = "pool",
                       .host_nqn = "nqn.h",
                       .subsystem_nqn = "nqn.s",
                       .nsid = 7,
                       .generation = 9,
                       .lv_uuid = "x",
                       .served = true,
                       .consumer_data_seen = true,
                       .retired = true},
          ConnectionRecord{.connection = "s1",
                           .nqn = "n",
                           .transport = "rdma",
                           .traddr = "10.9.0.1",
                           .trsvcid = "4420",
                           .host_traddr = "10.9.0.2",
                           .boot_id = "b"},
          TuningRecord{.object = "sysctl",
                       .attribute = "vm.dirty_bytes",
                       .old_value = "0",
                       .set_value = "1",
                       .foreign_changes = 2,
                       .instance = "b"},
          HoldRecord{.object = "volume:train", .why = "release"},
          IntentRecord{.action_id = "md.create:train", .digest = "d"},
          JobRecord{.id = "j1",
                    .name = "train",
                    .source = JobSource::slurm,
                    .uid = 1000,
                    .unit = "u.service",
                    .invocation_id = "i",
                    .boot_id = "b",
                    .started = 1'767'225'600'123u,
                    .last_seen = 1'767'225'600'456u,
                    .ended = 1'767'225'601'000u,
                    .result = JobResult::oom,
                    .reason = "r",
                    .exit_status = 137,
                    .signal = "KILL",
                    .accelerator_utilization = 0.875,
                    .accelerator_source = "proxy",
                    .counts_at_start = {{"train", 7, 1, 0xffffffffffffffffu}},
                    .volumes = {{"train", 7, 3, 4}},
                    .memory_peak_bytes = 1u << 30},
          JobRecord{.id = "j2"}};
}

}  // namespace

TEST_CASE("every kind of record reads back equal") {
  for (const Record& record : sample_records()) {
    const std::string text = json::record_text(record);
    CAPTURE(text);
    const auto back = json::parse_record(record_kind(record), text);
    REQUIRE(back.has_value());
    CHECK(*back == record);
  }
}

TEST_CASE("a record with any field missing or of another type is an error") {
  for (const Record& record : sample_records()) {
    const boost::json::object whole = json::to_json(record);
    for (const auto& field : whole) {
      boost::json::object without = whole, wrong = whole;
      without.erase(field.key());
      wrong[field.key()] = boost::json::object();
      CAPTURE(std::string(field.key()));
      CHECK_FALSE(json::parse_record(record_kind(record), json::text(without)).has_value());
      CHECK_FALSE(json::parse_record(record_kind(record), json::text(wrong)).has_value());
    }
  }
  CHECK_FALSE(json::parse_record("volume", "{").has_value());
  CHECK_FALSE(json::parse_record("volume", "[]").has_value());
  CHECK_FALSE(json::parse_record("nonsense", "{}").has_value());
  CHECK_FALSE(json::parse_record("volume", std::string(100'000, '[')).has_value());
}

TEST_CASE("generations are text, so that readers with 53-bit numbers keep them whole") {
  const auto object = json::to_json(Record(VolumeRecord{.name = "train", .generation = ~0ull}));
  CHECK(object.at("generation").as_string() == "ffffffffffffffff");
}

TEST_CASE("A-17 A-90 a device listing is valid JSON whatever the model says") {
  BlockDevice device;
  device.key = {"nvme:nvme.1/1"};
  device.kernel_name = "nvme0n1";
  device.kind = DeviceKind::local_ssd;
  device.model = "Innova\xff\xfe";
  device.serial =
      "a\x01"
      "b";
  device.size = Bytes{1'000'000};
  device.logical_block = 512;
  device.look = Look::found;
  device.signatures = {{.type = "xfs"}, {.type = "linux_raid_member"}};
  Inventory seen;
  seen.blocks = Facet<std::vector<BlockDevice>>::known({device});
  const auto document = json::devices_document(seen, {{&seen.blocks.value()[0], {"guard.signature"}, {"it carries 'xfs'"}}});
  const auto back = json::parse(json::pretty_text(document));
  REQUIRE(back.has_value());
  CHECK(*back == boost::json::value(document));
  const auto& item = document.at("devices").as_array().at(0).as_object();
  CHECK(document.at("api_version").as_int64() == 1);
  CHECK(item.at("model").as_string() == "Innova\\xff\\xfe");
  CHECK(item.at("serial").as_string() ==
        "a\\x01"
        "b");
  CHECK(item.at("kind").as_string() == "local_ssd");
  CHECK(item.at("size").as_uint64() == 1'000'000);
  CHECK(item.at("logical_block_size").as_uint64() == 512);
  CHECK(item.at("nsid").is_null());
  CHECK(item.at("usable").as_bool() == false);
  CHECK(item.at("reasons").as_array().size() == 1);
  CHECK(item.at("signature").as_string() == "xfs,linux_raid_member");
}

TEST_CASE("a signature that could not be looked for is never shown as none") {
  BlockDevice device;
  Inventory seen;
  const auto word = [&] {
    const auto document = json::devices_document(seen, {{&device, {}, {}}});
    return std::string(document.at("devices").as_array().at(0).at("signature").as_string());
  };
  CHECK(word() == "unknown");
  device.look = Look::ambiguous;
  CHECK(word() == "ambiguous");
  device.look = Look::none;
  CHECK(word() == "none");
}

TEST_CASE("an unknown facet says why and is never an empty list") {
  Inventory seen;
  seen.arrays = Facet<std::vector<MdArray>>::unavailable("cannot read '/sys/block'");
  seen.controllers = Facet<std::vector<NvmeController>>::known({});
  const auto document = json::inventory_document(seen);
  CHECK(document.at("arrays").at("unavailable").as_string() == "cannot read '/sys/block'");
  CHECK(document.at("blocks").at("unavailable").as_string() == "not looked at");
  CHECK(document.at("controllers").as_array().empty());
}

TEST_CASE("a plan shows each step as a sentence and as fields") {
  const DeviceKey drive{"nvme:uuid.1/1"};
  const std::vector<Step> steps{
      Run{.argv = {std::string("/sbin/mdadm"), std::string("--name=a b"), DeviceRef{drive}}, .udev_lock = {drive}},
      WriteAttribute{.device = drive, .path = "queue/scheduler", .value = "none\n"},
      PutFile{.path = "/run/x", .text = "a\n"},
      MakeDir{.path = "/a"},
      MakeMountPoint{.path = "/mnt/train"},
      Link{.target = "/a", .path = "/b"},
      Remove{.path = "/c"},
      SetOwner{.path = "/mnt/train", .owner = "trainer", .mode = "2775"},
      Connect{.nqn = "nqn.s",
              .transport = "rdma",
              .traddr = "10.9.0.1",
              .trsvcid = "4420",
              .nr_io_queues = 4,
              .queue_size = 128},
      Disconnect{.nqn = "nqn.s", .transport = "tcp", .traddr = "10.9.0.1", .trsvcid = "4420"},
      RequireContent{.device = drive, .diskseq = 3},
      RequireContent{.device = drive, .expected = {{.type = "ext4", .uuid = "u"}}},
      Await{.fact = "array:u"}};
  const Plan plan{
      .actions = {Action{
          .id = "md.create:train", .object = "volume:train", .risk = Risk::writes_blank, .writes = {drive}, .steps = steps}},
      .conflicts = {Conflict{.subject = "volume 'x'", .standing = Standing::waiting, .id = "volume.waits"}}};
  const auto document = json::plan_document(plan);
  CHECK(document.at("digest").is_null());
  const auto& action = document.at("actions").at(0).as_object();
  CHECK(action.at("risk").as_string() == "writes_blank");
  CHECK(action.at("writes").at(0).as_string() == "nvme:uuid.1/1");
  const auto& list = action.at("steps").as_array();
  REQUIRE(list.size() == steps.size());
  CHECK(list.at(0).at("kind").as_string() == "run");
  CHECK(list.at(0).at("sentence").as_string() == "run /sbin/mdadm '--name=a b' <nvme:uuid.1/1>");
  CHECK(list.at(0).at("argv").at(2).at("device").as_string() == "nvme:uuid.1/1");
  CHECK(list.at(1).at("sentence").as_string() == "write 'none' into 'queue/scheduler' of device 'nvme:uuid.1/1'");
  CHECK(list.at(2).at("mode").as_string() == "0644");
  CHECK(list.at(10).at("sentence").as_string() == "require that 'nvme:uuid.1/1' is blank and unused");
  CHECK(list.at(11).at("sentence").as_string() == "require that 'nvme:uuid.1/1' is unused and carries exactly ext4 u");
  CHECK(document.at("conflicts").at(0).at("standing").as_string() == "waiting");
}

TEST_CASE("an event carries its data as an object, and odd data as text") {
  Event event{
      .epoch = 1, .sequence = 2, .id = "1-2", .type = std::string(event::kVolumeMounted), .data = R"({"path":"/mnt"})"};
  CHECK(json::to_json(event).at("data").at("path").as_string() == "/mnt");
  event.data = "{";
  CHECK(json::to_json(event).at("data").as_string() == "{");
  CHECK(json::events_document({event}).at("events").as_array().size() == 1);
}

TEST_CASE(
    "YAML output quotes every text, and keys that read as something else, so that no reader takes it for something else") {
  const boost::json::value value = {{"a", {{"b", "no"}, {"on", {1, "010"}}}}, {"a-b", boost::json::array()}};
  CHECK(json::yaml_text(value) == "a:\n  b: \"no\"\n  \"on\":\n    - 1\n    - \"010\"\n\"a-b\": []\n");
}

}  // namespace nvstripe

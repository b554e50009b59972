// Tests keys, replacement and forgetting of records.
#include "agent/model/record.hpp"

#include "tests/support/catch.hpp"

namespace nvstripe {

TEST_CASE("a record replaces the one with its key and leaves others alone") {
  Records records;
  records.put(VolumeRecord{.name = "train", .stack = "md", .generation = 1});
  records.put(VolumeRecord{.name = "eval", .stack = "lvm", .generation = 2});
  records.put(VolumeRecord{.name = "train", .stack = "md", .generation = 1, .stage = Stage::made});
  REQUIRE(records.volumes.size() == 2);
  CHECK(records.volume("train")->stage == Stage::made);
  CHECK(records.volume("eval")->generation == 2);
  CHECK(records.volume("other") == nullptr);
}

TEST_CASE("slices of one drive are different ledger entries") {
  Records records;
  records.put(ExportRecord{.drive = {"nvme:uuid.1/1"}, .slice = 1, .subsystem_nqn = "nqn.a", .nsid = 1});
  records.put(ExportRecord{.drive = {"nvme:uuid.1/1"}, .slice = 2, .subsystem_nqn = "nqn.a", .nsid = 2});
  CHECK(records.exports.size() == 2);
  CHECK(record_key(records.exports[1]) == "nvme:uuid.1/1#2@nqn.a");
}

TEST_CASE("every kind of record can be put and forgotten by its kind and key") {
  const std::vector<Record> all{
      IdentityRecord{.source = "dmi"},
      VolumeRecord{.name = "train"},
      ExportRecord{.drive = {"d"}},
      ConnectionRecord{.connection = "s1", .nqn = "n", .transport = "tcp", .traddr = "1", .trsvcid = "2"},
      TuningRecord{.object = "sysctl", .attribute = "vm.dirty_bytes"},
      HoldRecord{.object = "volume:train", .why = "hold"},
      IntentRecord{.action_id = "md.create:train"},
      JobRecord{.id = "j1"}};
  Records records;
  for (const Record& record : all) records.put(record);
  CHECK(records.connections.size() == 1);
  CHECK(records.tunings.size() == 1);
  CHECK(records.intents.size() == 1);
  CHECK(records.jobs.size() == 1);
  for (const Record& record : all) records.put(Forget{record_kind(record), record_key(record)});
  CHECK(records == Records{});
}

TEST_CASE("a hold on all holds everything") {
  Records records;
  records.put(HoldRecord{.object = "volume:train"});
  CHECK(records.held("volume:train"));
  CHECK_FALSE(records.held("volume:eval"));
  records.put(HoldRecord{.object = "all"});
  CHECK(records.held("volume:eval"));
}

}  // namespace nvstripe

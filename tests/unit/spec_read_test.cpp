// Tests that specs are read strictly: every error is found, has its place and a remedy, and nothing is read as something
// else.
#include "agent/model/spec_read.hpp"

#include <boost/json.hpp>

#include "agent/model/json.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/spec_samples.hpp"

namespace nvstripe {

using samples::first_error;
using samples::kFull;
using samples::kSmall;
using samples::load;

TEST_CASE("a small spec is read with the defaults of everything it leaves out") {
  const SpecReading reading = load(kSmall);
  REQUIRE(reading.errors.empty());
  Spec wanted;
  wanted.connections.push_back({.name = "s1", .address = "10.9.0.1"});
  wanted.volumes.push_back({.name = "train", .members = {.from = {"s1"}, .count = 4}, .mount = {.path = "/mnt/train"}});
  CHECK(reading.spec == wanted);
  CHECK(reading.spec.volumes[0].place.line == 5);
  CHECK(reading.spec.volumes[0].place.file == "nvstripe.yaml");
}

TEST_CASE("every field of a full spec arrives") {
  const SpecReading reading = load(kFull);
  for (const SpecError& error : reading.errors) UNSCOPED_INFO(to_text(error));
  REQUIRE(reading.errors.empty());
  const Spec& spec = reading.spec;
  CHECK(to_text(*spec.node.host_id) == "deadbeef-0011-2233-4455-66778899aabb");
  CHECK(spec.node.failure_domain == "rack-7");
  REQUIRE(spec.exports.size() == 2);
  CHECK(spec.exports[0].devices == DeviceSelector{.kind = "local_ssd",
                                                  .min_size = Bytes{100'000'000'000},
                                                  .max_size = Bytes{4'000'000'000'000},
                                                  .model = "INTEL *",
                                                  .serials = {"A1", "002"},
                                                  .count = 2});
  CHECK(spec.exports[0].listen == Listen{.network = "10.9.0.0/24", .port = 4421});
  CHECK(spec.exports[0].transports == std::vector<std::string>{"tcp"});
  CHECK(spec.exports[0].allow[1].slices == 1u);
  CHECK(spec.exports[1].listen.interface == "eth1");
  CHECK_FALSE(spec.exports[1].allow[0].slices.has_value());
  CHECK(spec.connections[0].subsystem == "nqn.2026-11.io.nvstripe:pool:1");
  CHECK(spec.connections[1].transport == Transport::rdma);
  const VolumeSpec& volume = spec.volumes[0];
  CHECK(volume.members == MemberSpec{{"s1", "s2"}, 8, 2, "trim"});
  CHECK(volume.stack == Stack::lvm);
  CHECK(volume.workload == Workload::checkpoint);
  CHECK(volume.chunk == Bytes{65536});
  CHECK(volume.want_read == BytesPerSecond{900'000'000});
  CHECK(volume.mount == MountSpec{"/mnt/train", "trainer", "1000", "2775"});
  CHECK(volume.wipe_foreign_data);
  CHECK(spec.tuning.profile == "off");
  CHECK(spec.telemetry == TelemetrySpec{"127.0.0.1:9766",
                                        "/etc/nvstripe/web.yml",
                                        "https://collector:8443/events",
                                        {"https://collector:4318", std::chrono::seconds(30)},
                                        {"http://127.0.0.1:9090/api/v1/write", std::chrono::minutes(1)}});
}

TEST_CASE("a spec shown as JSON or YAML reads back equal") {
  for (const std::string& text : {kSmall, kFull, std::string("version: 1\n")}) {
    const SpecReading reading = load(text);
    REQUIRE(reading.errors.empty());
    for (const std::string& shown :
         {json::text(json::to_json(reading.spec)), json::yaml_text(json::to_json(reading.spec))}) {
      CAPTURE(shown);
      const SpecReading again = load(shown);
      for (const SpecError& error : again.errors) UNSCOPED_INFO(to_text(error));
      REQUIRE(again.errors.empty());
      CHECK(again.spec == reading.spec);
    }
  }
}

TEST_CASE("a text that is wrong is refused with its place and what to write instead") {
  struct Row {
    const char *text, *error;
  };
  const std::vector<Row> rows{
      {"version: 1\nvolume: []\n", "nvstripe.yaml:2:1: unknown key 'volume'; did you mean 'volumes'?"},
      {"version: 1\nzzzzzzzzzz: []\n",
       "nvstripe.yaml:2:1: unknown key 'zzzzzzzzzz'; known keys there: version, node, exports, connections, volumes, "
       "tuning, "
       "telemetry, jobs"},
      {"version: 1\nversion: 1\n", "nvstripe.yaml:2:1: key 'version' is given twice, first in line 1; remove one of them"},
      {"version: 2\n", "nvstripe.yaml:1:10: version: '2' is out of range; write 1"},
      {"version: 01\n", "nvstripe.yaml:1:10: version: '01' is not a whole number; write 1"},
      {"version: \"1\"\n", "nvstripe.yaml:1:10: 'version' is text in quotes, not a number; remove the quotes"},
      {"volumes: []\n", "nvstripe.yaml:1:1: 'version' is missing; add 'version:' with 1"},
      {"version: 1\nvolumes:\n  - name: train\n    members:\n    mount: {path: /mnt/train}\n",
       "nvstripe.yaml:4:5: 'volumes[].members' has no value; write a map"},
      {"version: 1\nvolumes:\n",
       "nvstripe.yaml:2:1: 'volumes' has no value; write a list of maps, each with a name of its own, or "
       "remove the key"},
      {"version: 1\nvolumes: {}\n",
       "nvstripe.yaml:2:10: 'volumes' is a map; write a list of maps, each with a name of its own"},
      {"version: 1\nvolumes: [train]\n",
       "nvstripe.yaml:2:11: 'volumes' holds a single value; write a map, '- key: value', for each"},
      {"version: 1\nvolumes:\n  - {name: t, members: {from: s1, count: 2}, mount: {path: /mnt/t}}\n",
       "nvstripe.yaml:3:31: 'volumes[].members.from' is a single value; write from: [s1]"},
      {"version: 1\ntuning: on\n", "nvstripe.yaml:2:9: 'tuning' is a single value; write a map"},
      {"version: 1\ntuning: {profile: yes}\n",
       "nvstripe.yaml:2:19: tuning.profile: 'yes' is not one of auto, off; write auto or off"},
      {"version: 1\ntuning: {<<: {profile: off}}\n",
       "nvstripe.yaml:2:10: unknown key '<<' in 'tuning'; YAML merge keys are not offered: write the values out"},
      {"version: 1\nnode: &n {host_id: auto}\n",
       "nvstripe.yaml:2:7: a YAML anchor ('&name') is not offered; write the value out wherever it is meant"},
      {"version: 1\ntuning: {profile: &p off}\n",
       "nvstripe.yaml:2:19: a YAML anchor ('&name') is not offered; write the value out wherever it is meant"},
      {"version: !!int 1\n",
       "nvstripe.yaml:1:10: the YAML tag 'tag:yaml.org,2002:int' is not offered; write the value without a tag"},
      {"version: 1\n---\nversion: 1\n",
       "nvstripe.yaml:2:1: a second YAML document begins; keep one document a file; use conf.d for more"},
      {"version: 1\n[a]: b\n", "nvstripe.yaml:2:1: a key is not a word; write 'key: value'"},
      {"- version\n", "nvstripe.yaml:1:1: the file is a list, not a map; begin it with 'version: 1'"},
      {"hello\n", "nvstripe.yaml:1:1: the file is a single value, not a map; begin it with 'version: 1'"},
      {"version: 1\njobs: {watch: x}\n", "nvstripe.yaml:2:1: 'jobs' is not offered by this version; remove it"},
      {"version: 1\ntelemetry: {listen: localhost}\n",
       "nvstripe.yaml:2:21: telemetry.listen: 'localhost' has no port; write an address and a port, such as [::]:9766 or "
       "10.9.0.7:9766"},
      {"version: 1\njobs: {}\n", "nvstripe.yaml:2:1: 'jobs' is not offered by this version; remove it"},
      {"version: 1\nnode: {host_id: 00000000-0000-0000-0000-000000000000}\n",
       "nvstripe.yaml:2:17: node.host_id: '00000000-0000-0000-0000-000000000000' is a firmware placeholder that many "
       "machines "
       "share; write auto, or a UUID made by `uuidgen`"},
      {"version: 1\nnode: {host_id: mine}\n",
       "nvstripe.yaml:2:17: node.host_id: 'mine' is not a UUID; write 32 hex digits, such as "
       "deadbeef-0011-2233-4455-66778899aabb"},
      {"version: 1\nnode: \"\xff\"\n", "nvstripe.yaml:2:8: byte '\\xff' is not text; save the file as UTF-8 text"},
      {"version: 1\nnode: \x01\n", "nvstripe.yaml:2:7: byte '\\x01' is not text; save the file as UTF-8 text"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(first_error(row.text) == row.error);
  }
}

TEST_CASE("all errors of all files are told, each with its own place") {
  const SpecReading reading =
      load_spec({{"a.yaml", "version: 1\nvolume: []\nnode: {host: x, failure_domain: a b}\n"}, {"b.yaml", "version: 3\n"}});
  REQUIRE(reading.errors.size() == 4);
  CHECK(to_text(reading.errors[0]).starts_with("a.yaml:2:1: "));
  CHECK(to_text(reading.errors[1]).starts_with("a.yaml:3:8: "));
  CHECK(to_text(reading.errors[2]).starts_with("a.yaml:3:33: "));
  CHECK(to_text(reading.errors[3]).starts_with("b.yaml:1:10: "));
  CHECK(reading.spec == Spec{});
  const auto as_result = load_spec_or_error({{"a.yaml", "version: 1\nvolume: []\nconnection: []\n"}});
  REQUIRE_FALSE(as_result.has_value());
  CHECK(std::count(as_result.error().what.begin(), as_result.error().what.end(), '\n') == 1);
}

TEST_CASE("broken YAML is one error with a place, however deep or odd") {
  for (const std::string& text :
       {std::string(100'000, '['), std::string(100'000, '{'), std::string("version: 1\nnode: {"), std::string("a: b: c"),
        std::string("version: [1\n"), std::string("\"abc"), std::string("%YAML 9.9\n---\na"), std::string("&"),
        std::string("*"), std::string("? ? ?"), std::string("- - - - - - - - - - - - - - - - - - - - x"),
        std::string("\xef\xbb\xbf[", 4), std::string(300 * 1024, 'a')}) {
    const SpecReading reading = load(text);
    REQUIRE_FALSE(reading.errors.empty());
    CHECK(reading.errors.front().place.line >= 1);
    CHECK_FALSE(reading.errors.front().remedy.empty());
    CHECK(reading.spec == Spec{});
  }
}

TEST_CASE("a file without content wants nothing and is no error") {
  for (const char* text : {"", "\n\n", "# nothing yet\n", "---\n", "version: 1\n", "version: 1\nvolumes: []\n"}) {
    CAPTURE(text);
    const SpecReading reading = load(text);
    CHECK(reading.errors.empty());
    CHECK(reading.spec.wants_nothing());
  }
  CHECK_FALSE(load(kSmall).spec.wants_nothing());
}

TEST_CASE("named items of a later file replace earlier ones whole, other fields one by one") {
  const std::string later = R"(version: 1
node: {failure_domain: rack-9}
volumes:
  - name: train
    members: {from: [s1], count: 2}
    mount: {path: /mnt/other}
  - name: eval
    members: {from: [local_ssd], count: 1}
    mount: {path: /mnt/eval}
)";
  const SpecReading reading = load_spec({{"nvstripe.yaml", kFull}, {"conf.d/10.yaml", later}});
  REQUIRE(reading.errors.empty());
  REQUIRE(reading.spec.volumes.size() == 2);
  CHECK(reading.spec.volumes[0].members == MemberSpec{{"s1"}, 2, {}, {}});
  CHECK(reading.spec.volumes[0].stack == Stack::md);
  CHECK(reading.spec.volumes[0].place.file == "conf.d/10.yaml");
  CHECK(reading.spec.volumes[1].name == "eval");
  CHECK(reading.spec.node.failure_domain == "rack-9");
  CHECK(reading.spec.node.host_id.has_value());
  CHECK(reading.spec.tuning.profile == "off");
  CHECK(reading.spec.connections.size() == 2);
  CHECK(load_spec({}).spec.wants_nothing());
}

TEST_CASE("two items of one name in one file are an error") {
  CHECK(first_error("version: 1\nconnections:\n  - {name: s1, address: a}\n  - {name: s1, address: b}\n") ==
        "nvstripe.yaml:4:12: 'connections' has two items named 's1', the first in line 3; rename or remove one of them");
}

}  // namespace nvstripe

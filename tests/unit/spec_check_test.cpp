// Tests contradictions between fields, each as a change of one good spec.
#include "agent/model/spec_check.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/spec_samples.hpp"

namespace nvstripe {
namespace {

Spec good() {
  const SpecReading reading = samples::load(samples::kFull);
  REQUIRE(reading.errors.empty());
  return reading.spec;
}

struct Row {
  const char* error;  // part of the first error
  void (*change)(Spec&);
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      {"listen names no network", [](Spec& s) { s.exports[0].listen.network.reset(); }},
      {"listen names a network and an interface", [](Spec& s) { s.exports[0].listen.interface = "eth1"; }},
      {"min_size is larger", [](Spec& s) { s.exports[0].devices.min_size = Bytes{~0ull}; }},
      {"devices.count is 9", [](Spec& s) { s.exports[0].devices.count = 9; }},
      {"hosts are given 5 slices of 3", [](Spec& s) { s.exports[0].allow[0].slices = 4; }},
      {"one host takes all slices", [](Spec& s) { s.exports[0].allow[0].slices.reset(); }},
      {"is allowed twice", [](Spec& s) { s.exports[0].allow[1].host = s.exports[0].allow[0].host; }},
      {"word for this VM's own drives", [](Spec& s) { s.connections[1].name = "local_ssd"; }},
      {"same target as connection 's1'",
       [](Spec& s) {
         s.connections[1].address = s.connections[0].address;
         s.connections[1].port = s.connections[0].port;
       }},
      {"redundancy 'mirror' is not offered by this version", [](Spec& s) { s.volumes[0].redundancy = "mirror"; }},
      {"is not a power of two", [](Spec& s) { s.volumes[0].chunk = Bytes{96 * 1024}; }},
      {"members.from names 's9'", [](Spec& s) { s.volumes[0].members.from[1] = "s9"; }},
      {"mixes local_ssd with connections", [](Spec& s) { s.volumes[0].members.from[1] = "local_ssd"; }},
      {"1 members cannot lie in 2", [](Spec& s) { s.volumes[0].members.count = 1; }},
      {"reaches 2 failure domain(s), and 3 are asked for", [](Spec& s) { s.volumes[0].members.min_failure_domains = 3; }},
      {"reaches 1 failure domain(s), and 2 are asked for", [](Spec& s) { s.connections[1].failure_domain = "rack-1"; }},
      {"belongs to the system", [](Spec& s) { s.volumes[0].mount.path = "/usr"; }},
      {"belongs to the system", [](Spec& s) { s.volumes[0].mount.path = "/"; }},
      {"belongs to the system", [](Spec& s) { s.volumes[0].mount.path = "/etc/train"; }},
      {"belongs to the system", [](Spec& s) { s.volumes[0].mount.path = "/home"; }},
      {"belongs to the system", [](Spec& s) { s.volumes[0].mount.path = "/var/lib"; }},
      {"belongs to the system", [](Spec& s) { s.volumes[0].mount.path = "/var/lib/nvstripe/x"; }},
      {"is that of volume 'train'",
       [](Spec& s) {
         s.volumes.push_back({.name = "b", .members = {{"s1"}, 1, {}, {}}, .mount = {.path = "/mnt/train"}});
       }},
      {"is nested with that of volume 'train'",
       [](Spec& s) {
         s.volumes.push_back({.name = "b", .members = {{"s1"}, 1, {}, {}}, .mount = {.path = "/mnt/train/in"}});
       }},
      {"is nested with that of volume 'train'",
       [](Spec& s) {
         s.volumes.push_back({.name = "b", .members = {{"s1"}, 1, {}, {}}, .mount = {.path = "/mnt"}});
       }},
  };
  return table;
}

}  // namespace

TEST_CASE("hosts that share whole drives are told to raise slices") {
  Spec spec = good();
  spec.exports[0].slices = 1;
  for (AllowedHost& host : spec.exports[0].allow) host.slices.reset();
  REQUIRE_FALSE(check_spec(spec).empty());
  CHECK_THAT(check_spec(spec).front().remedy, Catch::Matchers::Contains("raise slices to 2 or more"));
}

TEST_CASE("every contradiction is refused with its item, place and remedy") {
  for (const Row& row : rows()) {
    Spec spec = good();
    row.change(spec);
    const auto errors = check_spec(spec);
    CAPTURE(row.error);
    REQUIRE_FALSE(errors.empty());
    CHECK_THAT(errors.front().what, Catch::Matchers::Contains(row.error));
    CHECK_FALSE(errors.front().remedy.empty());
  }
}

TEST_CASE("what is merely unusual is allowed") {
  const std::vector<void (*)(Spec&)> changes{
      [](Spec& s) { s.volumes[0].mount.path = "/home/train"; },
      [](Spec& s) { s.volumes[0].mount.path = "/var/lib/train"; },
      [](Spec& s) { s.volumes[0].mount.path = "/mnt"; },
      [](Spec& s) { s.volumes[0].mount.path = "/mnt/trainer"; },
      [](Spec& s) { s.exports[0].allow.pop_back(); },
      [](Spec& s) { s.exports[0].allow.clear(); },
      [](Spec& s) {
        s.connections[1].address = s.connections[0].address;
        s.connections[1].port = s.connections[0].port;
        s.connections[1].subsystem = "nqn.2026-11.io.nvstripe:pool:2";
      },
      [](Spec& s) {
        s.volumes[0].members.from = {"local_ssd"};
        s.volumes[0].members.min_failure_domains.reset();
      },
  };
  for (const auto& change : changes) {
    Spec spec = good();
    change(spec);
    for (const SpecError& error : check_spec(spec)) UNSCOPED_INFO(to_text(error));
    CHECK(check_spec(spec).empty());
  }
}

TEST_CASE("a near connection name is suggested") {
  Spec spec = good();
  spec.connections[0].name = "storage-one";
  spec.volumes[0].members = {{"storage-on"}, 2, {}, {}};
  const auto errors = check_spec(spec);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].remedy == "did you mean 'storage-one'?");
}

TEST_CASE("a contradiction between files is told at the item that lies in one of them") {
  const auto reading = load_spec({{"a.yaml", samples::kSmall},
                                  {"b.yaml",
                                   "version: 1\nvolumes:\n  - name: eval\n    members: {from: [s2], count: 1}\n"
                                   "    mount: {path: /mnt/eval}\n"}});
  REQUIRE(reading.errors.size() == 1);
  CHECK(to_text(reading.errors[0]) ==
        "b.yaml:3:5: volume 'eval': members.from names 's2', and there is no such connection; did you mean 's1'?");
  CHECK(reading.spec == Spec{});
}

}  // namespace nvstripe

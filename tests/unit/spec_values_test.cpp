// Tests what a scalar of each field may look like, and above all what it may not.
#include "agent/model/spec_fields.hpp"
#include "tests/support/catch.hpp"

namespace nvstripe {
namespace {

struct Row {
  const char* field;
  std::vector<const char*> good, bad;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table{
      {"volumes[].name",
       {"a", "train", "T-1_x", "abcdefghijklmnopqrstuvwx"},
       {"", "abcdefghijklmnopqrstuvwxy", "a b", "a/b", "a:b", "a.b", "grün", "../x"}},
      {"volumes[].members.count",
       {"1", "8", "128"},
       {"0", "129", "08", "010", "0x8", "8.0", "1e1", "-1", "+1", "eight", " 8", ""}},
      {"volumes[].chunk",
       {"4KiB", "128KiB", "256KiB", "131072B"},
       {"128", "128K", "128 KiB", "2KiB", "512KiB", "0B", "128kib", "1.5KiB"}},
      {"volumes[].want.read", {"900MB/s", "1GiB/s"}, {"900", "900MB", "0MB/s", "fast", "7Gbit/s"}},
      {"volumes[].mount.path",
       {"/mnt/train", "/data", "/srv/a.b-c_d@e+f"},
       {"", "/", "mnt", "./mnt", "/mnt/", "/mnt//a", "/mnt/../etc", "/mnt/.", "/mnt/a b", "/mnt/%i", "/mnt/$x", "/mnt/a\nb",
        "/mnt/\"a"}},
      {"volumes[].mount.mode", {"2775", "755", "0700"}, {"", "7", "0999", "02775", "rwx", "u+w", "0o755", "75a"}},
      {"volumes[].mount.owner",
       {"root", "trainer", "1000", "0", "svc.train_1", "host$"},
       {"", "a b", "a:b", "-a", ".a", "4294967295", "a\nb", "abcdefghijklmnopqrstuvwxyzabcdefg"}},
      {"volumes[].stack", {"md", "lvm"}, {"", "MD", "zfs", "md "}},
      {"connections[].address",
       {"10.9.0.1", "fd00:9::1", "fe80::1%eth1", "storage-1", "s1.example.com", "::1"},
       {"", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "10.9.0", "10.9.0.256", "1234", "[fd00::1]", "10.9.0.1:4420", "-x",
        ".x", "a,b", "a b", "10.9.0.1%eth1", "fe80::1%"}},
      {"exports[].listen.network",
       {"10.9.0.0/24", "10.9.0.1/32", "fd00:9::/64"},
       {"", "10.9.0.0", "10.9.0.1/24", "0.0.0.0/0", "::/0", "10.9.0.0/33", "fd00::/129", "10.9.0.0/24/1", "10.9.0.0/x",
        "eth1"}},
      {"exports[].listen.interface",
       {"eth1", "ens5f0np0", "bond0.100"},
       {"", ".", "..", "a/b", "abcdefghijklmnop", "eth 1"}},
      {"telemetry.upstream.metrics.every", {"5s", "15s", "1h", "7500ms"}, {"", "15", "4s", "2h", "1d"}},
      {"telemetry.upstream.events.url",
       {"https://collector:8443/events", "http://127.0.0.1:8080"},
       {"", "collector", "ftp://x"}},
      {"exports[].listen.port", {"1", "4420", "65535"}, {"0", "65536", "nvme"}},
      {"exports[].allow[].host",
       {"nqn.2014-08.org.nvmexpress:uuid:deadbeef-0011-2233-4455-66778899aabb", "nqn.2026-11.io.nvstripe:pool:1"},
       {"", "nqn", "nqn.", "nqn.2014-8.org", "nqn.2014-08", "iqn.2014-08.org.x", "nqn.2014-08.org.x,hostid=1",
        "nqn.2014-08.org/x", "nqn.2014-08.org x", "nqn.2014-08.org\nx"}},
      {"exports[].allow[].slices", {"all", "1", "32"}, {"0", "33", "none", "01", ""}},
      {"exports[].devices.min_size", {"100GB", "1B"}, {"0B", "100", "100G"}},
      {"exports[].devices.model", {"INTEL *", "Amazon EC2 NVMe Instance Storage"}, {"", " x", "x ", "a\x01", "a\xff"}},
      {"node.host_id",
       {"auto", "deadbeef-0011-2233-4455-66778899aabb"},
       {"", "Auto", "deadbeef", "ffffffff-ffff-ffff-ffff-ffffffffffff", "03000200-0400-0500-0006-000700080009"}},
      {"node.failure_domain", {"auto", "rack-1", "eu-west-1a", "10"}, {"", "a b", "a/b"}},
  };
  return table;
}

}  // namespace

TEST_CASE("every field takes what it documents and refuses the rest with a remedy") {
  for (const Row& row : rows()) {
    const SpecField* field = find_spec_field(row.field);
    REQUIRE(field != nullptr);
    CAPTURE(row.field);
    for (const char* text : row.good) {
      CAPTURE(text);
      CHECK(check_value(*field, field->type, text).has_value());
    }
    for (const char* text : row.bad) {
      CAPTURE(text);
      const auto checked = check_value(*field, field->type, text);
      REQUIRE_FALSE(checked.has_value());
      CHECK_FALSE(checked.error().remedy.empty());
    }
  }
}

TEST_CASE("a network with host bits is answered with the network that was meant") {
  const SpecField* field = find_spec_field("exports[].listen.network");
  CHECK(check_value(*field, field->type, "10.9.0.77/22").error().remedy == "write 10.9.0.0/22");
  CHECK(check_value(*field, field->type, "fd00:9::5/64").error().remedy == "write fd00:9::/64");
}

TEST_CASE("the nearest known word is found, and none is made up") {
  const std::vector<std::string_view> known{"members", "mount", "name"};
  CHECK(nearest("member", known) == "members");
  CHECK(nearest("moutn", known) == "mount");
  CHECK(nearest("zzzzzz", known).empty());
  CHECK(nearest("x", {"ab"}).empty());
  CHECK(nearest("", known).empty());
  CHECK(nearest(std::string(100'000, 'm'), known).empty());
}

}  // namespace nvstripe

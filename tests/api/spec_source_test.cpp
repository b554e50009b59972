// Owns tests of which spec is in force (law 9).
#include <sys/stat.h>

#include "agent/daemon/spec_source.hpp"
#include "tests/api/temporary.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using daemon::SpecSource;

namespace {

const std::string kGood = R"(version: 1
connections:
  - {name: s1, address: 10.9.0.1}
volumes:
  - name: train
    members: {from: [s1], count: 2}
    mount: {path: /mnt/train}
)";

daemon::SpecPlaces places(const test::Folder& folder) {
  return daemon::SpecPlaces{{folder.path("usr"), folder.path("etc"), folder.path("run")}, folder.path("spec.last")};
}

SpecSource source(const test::Folder& folder) {
  SpecSource specs(places(folder), load_spec_or_error, [] { return std::string("2026-01-01T00:00:00Z"); });
  specs.restore();
  return specs;
}

}  // namespace

TEST_CASE("No spec at all is neither an error nor an empty wish") {
  const test::Folder folder;
  SpecSource specs = source(folder);
  CHECK(specs.refresh(false) == SpecSource::Outcome::unchanged);
  CHECK(specs.state().loaded.empty());
  CHECK(specs.state().problem.empty());
}

TEST_CASE("Folders are merged in order, conf.d by name, and read once") {
  const test::Folder folder;
  folder.write("etc/nvstripe.yaml", kGood);
  folder.write("etc/conf.d/20-b.yaml", "version: 1\nconnections: [{name: s1, address: 10.9.0.22}]\n");
  folder.write("etc/conf.d/10-a.yaml", "version: 1\nconnections: [{name: s1, address: 10.9.0.11}]\n");
  folder.write("etc/conf.d/notes.txt", "not a spec");
  SpecSource specs = source(folder);
  REQUIRE(specs.refresh(false) == SpecSource::Outcome::loaded);
  CHECK(specs.state().files.size() == 3);
  CHECK(specs.state().spec.connection("s1")->address == "10.9.0.22");
  CHECK(specs.refresh(false) == SpecSource::Outcome::unchanged);
}

TEST_CASE("A half-written spec changes nothing and is told, and a mended one is taken") {
  const test::Folder folder;
  folder.write("etc/nvstripe.yaml", kGood);
  SpecSource specs = source(folder);
  REQUIRE(specs.refresh(false) == SpecSource::Outcome::loaded);
  folder.write("etc/nvstripe.yaml", kGood.substr(0, kGood.size() - 20));
  CHECK(specs.refresh(false) == SpecSource::Outcome::rejected);
  CHECK(specs.state().last_good);
  CHECK_FALSE(specs.state().problem.empty());
  CHECK(specs.state().spec.volume("train") != nullptr);
  CHECK(specs.refresh(false) == SpecSource::Outcome::unchanged);
  folder.write("etc/nvstripe.yaml", kGood);
  CHECK(specs.refresh(false) == SpecSource::Outcome::loaded);
  CHECK(specs.state().problem.empty());
}

TEST_CASE("An emptied or removed spec changes nothing until an operator confirms it") {
  const test::Folder folder;
  folder.write("etc/nvstripe.yaml", kGood);
  SpecSource specs = source(folder);
  REQUIRE(specs.refresh(false) == SpecSource::Outcome::loaded);
  for (const char* text : {"", "\n\n", "version: 1\n"}) {
    folder.write("etc/nvstripe.yaml", text);
    CHECK(specs.refresh(false) == SpecSource::Outcome::rejected);
    CHECK(specs.state().spec.volume("train") != nullptr);
  }
  std::filesystem::remove(folder.path("etc/nvstripe.yaml"));
  CHECK(specs.refresh(false) == SpecSource::Outcome::rejected);
  CHECK(specs.state().spec.volume("train") != nullptr);
  CHECK(specs.refresh(true) == SpecSource::Outcome::loaded);
  CHECK(specs.state().spec.wants_nothing());
  CHECK(specs.state().problem.empty());
}

TEST_CASE("The last good spec survives a restart while the folders hold something invalid") {
  const test::Folder folder;
  folder.write("etc/nvstripe.yaml", kGood);
  {
    SpecSource specs = source(folder);
    REQUIRE(specs.refresh(false) == SpecSource::Outcome::loaded);
  }
  folder.write("etc/nvstripe.yaml", "version: [");
  SpecSource specs = source(folder);
  CHECK(specs.refresh(false) == SpecSource::Outcome::rejected);
  CHECK(specs.state().last_good);
  REQUIRE(specs.state().spec.volume("train") != nullptr);
}

TEST_CASE("A spec folder with a FIFO in it is an error and no hang") {
  const test::Folder folder;
  folder.write("etc/nvstripe.yaml", kGood);
  SpecSource specs = source(folder);
  REQUIRE(specs.refresh(false) == SpecSource::Outcome::loaded);
  std::filesystem::create_directories(folder.path("etc/conf.d"));
  REQUIRE(::mkfifo(folder.path("etc/conf.d/x.yaml").c_str(), 0600) == 0);
  CHECK(specs.refresh(false) == SpecSource::Outcome::rejected);
  CHECK(specs.state().problem.find("not a regular file") != std::string::npos);
  CHECK(specs.refresh(false) == SpecSource::Outcome::unchanged);
}

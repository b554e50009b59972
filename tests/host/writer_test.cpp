// Tests of file changes, in a temporary folder.
#include "agent/host/writer.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/host/folder.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::host;
using namespace nvstripe::test;

namespace {
unsigned mode_of(const std::string& path) {
  struct stat found {};
  REQUIRE(::lstat(path.c_str(), &found) == 0);
  return found.st_mode & 07777u;
}
}  // namespace

TEST_CASE("an attribute is written where it exists and never created") {
  const Folder folder;
  put(folder / "scheduler", "none");
  CHECK(write_attribute(folder / "scheduler", "mq-deadline").has_value());
  CHECK(get(folder / "scheduler") == "mq-deadline");
  const auto missing = write_attribute(folder / "absent", "1");
  REQUIRE_FALSE(missing.has_value());
  CHECK(is_errno(missing.error(), ENOENT));
  CHECK_FALSE(missing.error().remedy.empty());
  CHECK_FALSE(std::filesystem::exists(folder / "absent"));
}

TEST_CASE("a refused attribute write says what was tried and what the kernel answered") {
  const auto refused = write_attribute("/dev/full", "x");
  REQUIRE_FALSE(refused.has_value());
  CHECK(is_errno(refused.error(), ENOSPC));
  CHECK(refused.error().what.find("cannot write 'x' into '/dev/full'") != std::string::npos);
}

TEST_CASE("a file is put whole, with its mode, over an old one, and leaves nothing beside it") {
  const Folder folder;
  const auto path = folder / "deep/er/unit.mount";
  REQUIRE(put_file(path, "one", 0644).has_value());
  REQUIRE(put_file(path, "two", 0600).has_value());
  CHECK(get(path) == "two");
  CHECK(mode_of(path) == 0600);
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "deep/er"), {}) == 1);
}

TEST_CASE("a file is not written through a link that was put in its place") {
  const Folder folder;
  put(folder / "victim", "kept");
  REQUIRE(::symlink((folder / "victim").c_str(), (folder / "rules").c_str()) == 0);
  REQUIRE(put_file(folder / "rules", "new", 0644).has_value());
  CHECK(get(folder / "victim") == "kept");
  CHECK(get(folder / "rules") == "new");
}

TEST_CASE("A-70 a mount point is empty, mode 000 and made again without complaint") {
  const Folder folder;
  const auto path = folder / "mnt/train";
  REQUIRE(make_mount_point(path).has_value());
  CHECK(mode_of(path) == 0);
  CHECK(make_mount_point(path).has_value());
  CHECK(remove_path(path).has_value());
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a folder that holds something, or a link, does not become a mount point") {
  const Folder folder;
  REQUIRE(make_dir(folder / "full/child").has_value());
  const auto full = make_mount_point(folder / "full");
  REQUIRE_FALSE(full.has_value());
  CHECK(full.error().what.find("not empty") != std::string::npos);
  REQUIRE(make_dir(folder / "real").has_value());
  REQUIRE(::symlink((folder / "real").c_str(), (folder / "link").c_str()) == 0);
  CHECK_FALSE(make_mount_point(folder / "link").has_value());
  CHECK(mode_of(folder / "real") == 0755);
}

TEST_CASE("folders and links are made once and are fine when they are there already") {
  const Folder folder;
  CHECK(make_dir(folder / "a/b").has_value());
  CHECK(make_dir(folder / "a/b").has_value());
  put(folder / "file", "");
  CHECK_FALSE(make_dir(folder / "file").has_value());
  CHECK(make_link(folder / "a", folder / "link").has_value());
  CHECK(make_link(folder / "a", folder / "link").has_value());
  CHECK_FALSE(make_link(folder / "file", folder / "link").has_value());
}

TEST_CASE("removing takes files, links and empty folders; what is absent is fine, what is full is not") {
  const Folder folder;
  REQUIRE(make_dir(folder / "full/child").has_value());
  put(folder / "file", "x");
  REQUIRE(::symlink("nowhere", (folder / "link").c_str()) == 0);
  CHECK(remove_path(folder / "file").has_value());
  CHECK(remove_path(folder / "link").has_value());
  CHECK(remove_path(folder / "absent").has_value());
  CHECK_FALSE(remove_path(folder / "full").has_value());
  CHECK(std::filesystem::exists(folder / "full/child"));
}

TEST_CASE("owner and mode are set together, and an unknown user is named") {
  const Folder folder;
  REQUIRE(make_dir(folder / "root").has_value());
  CHECK(set_owner(folder / "root", std::to_string(::getuid()), std::to_string(::getgid()), "2775").has_value());
  CHECK(mode_of(folder / "root") == 02775);
  const auto unknown = set_owner(folder / "root", "no-such-user", "", "");
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().what.find("'no-such-user'") != std::string::npos);
  CHECK_FALSE(set_owner(folder / "root", "", "", "9").has_value());
}

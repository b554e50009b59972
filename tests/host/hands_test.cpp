// Tests of the hands: changes made by a child of the test program, answers, and what happens when there is none in time.
#include "agent/host/hands.hpp"

#include <sys/stat.h>

#include "tests/host/folder.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::host;
using namespace nvstripe::test;
using namespace std::chrono_literals;

TEST_CASE("the hands do one change after another and tell errors whole") {
  const Folder folder;
  Hands hands;
  CHECK(hands.put_file({folder / "unit", "a\nb \"c\"\n", 0640}).has_value());
  CHECK(get(folder / "unit") == "a\nb \"c\"\n");
  CHECK(hands.write_attribute(folder / "unit", "x").has_value());
  CHECK(hands.make_dir(folder / "d").has_value());
  CHECK(hands.make_link(folder / "d", folder / "l").has_value());
  CHECK(hands.remove_path(folder / "l").has_value());
  CHECK(hands.make_mount_point(folder / "m").has_value());
  const auto failed = hands.write_attribute(folder / "absent", "1");
  REQUIRE_FALSE(failed.has_value());
  CHECK(is_errno(failed.error(), ENOENT));
  CHECK(failed.error().what.find("cannot open attribute") == 0);
  CHECK_FALSE(failed.error().remedy.empty());
}

TEST_CASE("hands that were let go of are taken up again") {
  const Folder folder;
  Hands hands;
  CHECK(hands.make_dir(folder / "a").has_value());
  hands.let_go();
  CHECK(hands.make_dir(folder / "b").has_value());
  CHECK(std::filesystem::is_directory(folder / "b"));
}

TEST_CASE("a write that never returns is given up at its deadline, and the next one works") {
  const Folder folder;
  // Opening a FIFO for writing sleeps until somebody reads it, as some attributes do.
  REQUIRE(::mkfifo((folder / "nvme9").c_str(), 0600) == 0);
  Hands hands;
  DeleteController step{folder / "nowhere", "nqn", "tcp", "127.0.0.1", "4420"};
  CHECK(hands.delete_controller(step, 5s).has_value());  // absent: gone already
  const auto stuck = hands.write_attribute(folder / "nvme9", "1", 100ms);
  REQUIRE_FALSE(stuck.has_value());
  CHECK(is_errno(stuck.error(), ETIMEDOUT));
  CHECK(hands.make_dir(folder / "b").has_value());
}

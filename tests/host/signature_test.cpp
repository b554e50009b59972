// Tests of looks at devices, made on regular files through the same functions.
#include "agent/host/signature.hpp"

#include <unistd.h>

#include "tests/host/folder.hpp"
#include "tests/support/catch.hpp"

using namespace nvstripe;
using namespace nvstripe::host;
using namespace nvstripe::test;

namespace {

constexpr std::uint64_t kMiB = 1u << 20;

// A sparse file with bytes at places.
std::string image(const Folder& folder, std::uint64_t size,
                  const std::vector<std::pair<std::uint64_t, std::string>>& bytes = {}) {
  const auto path = folder / "image";
  put(path, "");
  REQUIRE(::truncate(path.c_str(), static_cast<off_t>(size)) == 0);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  for (const auto& [offset, text] : bytes) {
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  return path;
}

LookAnswer look(const std::string& path) { return look_at(path, "", Depth::both, Admit::files); }

std::string little(std::uint64_t value, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

std::string md_header(std::uint64_t super_sector) {
  std::string text = little(0xa92b4efc, 4) + little(1, 4) + little(0, 8);
  for (int i = 0; i < 16; ++i) text += static_cast<char>(i + 1);
  std::string name = "any:nvs-train";
  name.resize(32, '\0');
  text += name;
  text.resize(144, '\0');
  text += little(super_sector, 8);
  text.resize(4096, '\0');
  return text;
}

bool has(const LookAnswer& answer, const std::string& type) {
  for (const auto& signature : answer.signatures) {
    if (signature.type == type) return true;
  }
  return false;
}

std::string big(std::uint64_t value, std::size_t count) {
  std::string text;
  for (std::size_t i = count; i > 0; --i) text += static_cast<char>(value >> 8 * (i - 1) & 0xff);
  return text;
}

// A version 4 superblock (no checksum) that libblkid accepts: 4 groups of 25600 blocks of 4 KiB.
std::string xfs_header(bool in_progress) {
  std::string text(512, '\0');
  const auto set = [&](std::size_t offset, const std::string& bytes) { text.replace(offset, bytes.size(), bytes); };
  set(0, "XFSB" + big(4096, 4) + big(102400, 8));
  set(32, "\x6f\x0e\x2c\x1d\x11\x11\x42\x22\x83\x33\x44\x44\x55\x55\x66\x66");
  set(80,
      big(1, 4) + big(25600, 4) + big(4, 4) + big(0, 4) + big(2560, 4) + big(4, 2) + big(512, 2) + big(256, 2) + big(16, 2));
  set(108, "train");
  set(120, std::string("\x0c\x09\x08\x04\x0f\x00", 6) + (in_progress ? "\x01" : std::string(1, '\0')) + "\x19");
  return text;
}

}  // namespace

TEST_CASE("a device of zeros carries nothing and its samples read zero") {
  const Folder folder;
  const auto answer = look(image(folder, 64 * kMiB));
  CHECK(answer.look == Look::none);
  CHECK(answer.content == Content::zero);
  CHECK(answer.signatures.empty());
}

TEST_CASE("bytes without a signature are data, at the start, at the end and where a partition used to begin") {
  const Folder folder;
  for (const std::uint64_t offset : {std::uint64_t{5000}, 64 * kMiB - 1, 1 * kMiB + 100, 32 * kMiB}) {
    INFO(offset);
    const auto answer = look(image(folder, 64 * kMiB, {{offset, "x"}}));
    CHECK(answer.look == Look::none);
    CHECK(answer.content == Content::data);
  }
}

TEST_CASE("a device smaller than both edges, and one that ends within a 4 KiB block, are read to their last byte") {
  const Folder folder;
  CHECK(look(image(folder, 3 * 512)).content == Content::zero);
  CHECK(look(image(folder, 1 * kMiB + 512)).content == Content::zero);
  CHECK(look(image(folder, 1 * kMiB + 512, {{kMiB + 511, "x"}})).content == Content::data);
  CHECK(look(image(folder, 8 * kMiB + 512, {{8 * kMiB + 511, "x"}})).content == Content::data);
}

TEST_CASE("md superblocks are found at the places of 0.90, 1.0, 1.1 and 1.2") {
  const Folder folder;
  const std::uint64_t size = 64 * kMiB;
  for (const std::uint64_t place : {std::uint64_t{0}, std::uint64_t{4096}, (size / 512 - 16) / 8 * 8 * 512}) {
    INFO(place);
    const auto answer = look(image(folder, size, {{place, md_header(place / 512)}}));
    REQUIRE(answer.look == Look::found);
    REQUIRE(answer.signatures.size() == 1);
    CHECK(answer.signatures[0].type == "linux_raid_member");
    CHECK(answer.signatures[0].uuid == "01020304-0506-0708-090a-0b0c0d0e0f10");
    CHECK(answer.signatures[0].label == "any:nvs-train");
  }
  CHECK(has(look(image(folder, size, {{size - 65536, little(0xa92b4efc, 4)}})), "linux_raid_member"));
}

TEST_CASE("a signature that libblkid does not accept is found by the own look all the same") {
  const Folder folder;
  // A wrong checksum or half-written header: libblkid says nothing, we do.
  CHECK(has(look(image(folder, 64 * kMiB, {{0, "XFSB"}})), "xfs"));
  CHECK(has(look(image(folder, 64 * kMiB, {{512, "LABELONE"}})), "LVM_label"));
  CHECK(has(look(image(folder, 64 * kMiB, {{65536 + 64, "_BHRfS_M"}})), "btrfs"));
  CHECK(has(look(image(folder, 64 * kMiB, {{0, "LUKS\xba\xbe"}})), "crypto_LUKS"));
  CHECK(has(look(image(folder, 64 * kMiB, {{64 * kMiB - 512, "EFI PART"}})), "gpt"));
  CHECK(has(look(image(folder, 64 * kMiB, {{510, "\x55\xaa"}})), "dos"));
  CHECK(has(look(image(folder, 64 * kMiB, {{64 * kMiB - 256 * 1024 + 128 * 1024, little(0x00bab10c, 8)}})), "zfs_member"));
  CHECK(has(look(image(folder, 64 * kMiB, {{4096 - 10, "SWAPSPACE2"}})), "swap"));
  CHECK(look(image(folder, 64 * kMiB, {{0, "XFSB"}})).look == Look::found);
}

TEST_CASE("an XFS whose mkfs did not end is told from a finished one") {
  const Folder folder;
  auto answer = look(image(folder, 400 * kMiB, {{0, xfs_header(false)}}));
  REQUIRE(answer.look == Look::found);
  REQUIRE(answer.signatures.size() == 1);
  CHECK(answer.signatures[0] == Signature{"xfs", "6f0e2c1d-1111-4222-8333-444455556666", "train", false});
  CHECK(answer.content == Content::data);
  answer = look(image(folder, 400 * kMiB, {{0, xfs_header(true)}}));
  REQUIRE(answer.signatures.size() == 1);
  CHECK(answer.signatures[0].in_progress);
}

TEST_CASE("A-41 an XFS with an ISO 9660 magic in its data is ambiguous, never none, and its UUID is still told") {
  const Folder folder;
  const std::string volume = std::string("\x01", 1) + "CD001" + std::string("\x01", 1);
  const auto answer = look(image(folder, 400 * kMiB, {{0, xfs_header(false)}, {32768, volume}}));
  CHECK(answer.look == Look::ambiguous);
  CHECK_FALSE(answer.reason.empty());
  REQUIRE(has(answer, "xfs"));
  CHECK(answer.signatures[0].uuid == "6f0e2c1d-1111-4222-8333-444455556666");
}

TEST_CASE("ext4 inside a member is told beside the array's signature") {
  const Folder folder;
  std::string ext(1024, '\0');
  ext.replace(56, 2, "\x53\xef");
  ext.replace(96, 4, little(0x40, 4));
  const auto answer = look(image(folder, 64 * kMiB, {{1024, ext}, {4096, md_header(8)}}));
  CHECK(answer.look == Look::found);
  CHECK(has(answer, "linux_raid_member"));
  CHECK(has(answer, "ext4"));
}

TEST_CASE("what is no block device, absent or empty is unknown, never none") {
  const Folder folder;
  CHECK(look_at(image(folder, kMiB), "").look == Look::unknown);
  CHECK(look(folder / "absent").look == Look::unknown);
  put(folder / "empty", "");
  CHECK(look(folder / "empty").look == Look::unknown);
  CHECK_FALSE(look(folder / "absent").reason.empty());
}

TEST_CASE("a failed or ambivalent libblkid never lets two silent looks become none") {
  CHECK(merge_looks({.failed = true, .reason = "broken"}, {}).look == Look::unknown);
  CHECK(merge_looks({.ambivalent = true}, {}).look == Look::ambiguous);
  CHECK(merge_looks({}, {}).look == Look::none);
  CHECK(merge_looks({}, {{"dos", "", ""}}).look == Look::found);
  CHECK(merge_looks({.signatures = {{"vfat", "1", ""}}}, {{"dos", "", ""}}).signatures.size() == 1);
}

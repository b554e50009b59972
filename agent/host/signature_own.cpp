// Owns our own look for signatures: magics at their places, without libblkid, so that one defect never decides alone.
// Layouts are those of the kernel's headers (md_p.h, xfs_format.h, ext4.h, btrfs_tree.h) and of the formats' documents.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string_view>

#include "agent/base/text.hpp"
#include "agent/host/signature.hpp"

namespace nvstripe::host {
namespace {

using namespace std::string_view_literals;

class Seen {
 public:
  Seen(const Window& start, const Window& end, std::uint64_t size) : start_(start), end_(end), size_(size) {}
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Empty where the range lies outside both windows.
  [[nodiscard]] std::span<const std::uint8_t> at(std::uint64_t offset, std::size_t count) const {
    for (const Window* window : {&start_, &end_}) {
      if (offset < window->offset || offset - window->offset > window->bytes.size()) continue;
      const auto begin = static_cast<std::size_t>(offset - window->offset);
      if (window->bytes.size() - begin >= count) return window->bytes.subspan(begin, count);
    }
    return {};
  }
  [[nodiscard]] bool has(std::uint64_t offset, std::string_view magic) const {
    const auto found = at(offset, magic.size());
    return !found.empty() && std::memcmp(found.data(), magic.data(), magic.size()) == 0;
  }
  [[nodiscard]] std::uint64_t little(std::uint64_t offset, std::size_t count) const {
    std::uint64_t value = 0;
    const auto found = at(offset, count);
    for (std::size_t i = found.size(); i > 0; --i) value = value << 8u | found[i - 1];
    return value;
  }
  [[nodiscard]] std::string text(std::uint64_t offset, std::size_t count) const {
    const auto found = at(offset, count);
    const std::string_view all(reinterpret_cast<const char*>(found.data()), found.size());
    return printable(trim(all.substr(0, all.find('\0'))));
  }
  [[nodiscard]] std::string uuid(std::uint64_t offset) const {
    const auto found = at(offset, 16);
    if (found.empty()) return {};
    std::string digits = hex(found.data(), found.size());
    for (const std::size_t dash : {20u, 16u, 12u, 8u}) digits.insert(dash, "-");
    return digits;
  }

 private:
  Window start_, end_;
  std::uint64_t size_;
};

constexpr std::uint32_t kMdMagic = 0xa92b4efc;

void look_md(const Seen& device, std::vector<Signature>& found) {
  const std::uint64_t sectors = device.size() / 512;
  // 1.1 at the start, 1.2 at 4 KiB, 1.0 at least 8 KiB before the end at a multiple of 4 KiB.
  std::vector<std::uint64_t> places = {0, 4096};
  if (sectors > 32) places.push_back((sectors - 16) / 8 * 8 * 512);
  for (const auto place : places) {
    if (device.little(place, 4) != kMdMagic || device.little(place + 4, 4) != 1) continue;
    found.push_back({"linux_raid_member", device.uuid(place + 16), device.text(place + 32, 32)});
  }
  // 0.90: 64 KiB aligned, at least 64 KiB before the end, in the byte order of the machine that made it.
  if (device.size() < 128 * 1024) return;
  const std::uint64_t old = device.size() / 65536 * 65536 - 65536;
  const auto magic = static_cast<std::uint32_t>(device.little(old, 4));
  if (magic == kMdMagic || __builtin_bswap32(magic) == kMdMagic) found.push_back({"linux_raid_member", "", ""});
}

void look_lvm(const Seen& device, std::vector<Signature>& found) {
  for (std::uint64_t sector = 0; sector < 4; ++sector) {
    const std::uint64_t label = sector * 512;
    if (!device.has(label, "LABELONE"sv)) continue;
    const std::string id = device.text(label + std::min<std::uint64_t>(device.little(label + 20, 4), 480), 32);
    std::string dashed;
    constexpr std::array kGroups = {6u, 4u, 4u, 4u, 4u, 4u, 6u};
    std::size_t begin = 0;
    for (const auto group : kGroups) {
      if (id.size() != 32) break;
      dashed += (begin == 0 ? "" : "-") + id.substr(begin, group);
      begin += group;
    }
    found.push_back({device.has(label + 24, "LVM2 001"sv) ? "LVM2_member" : "LVM_label", dashed, ""});
    return;
  }
}

void look_xfs(const Seen& device, std::vector<Signature>& found) {
  if (!device.has(0, "XFSB"sv)) return;
  found.push_back({"xfs", device.uuid(32), device.text(108, 12), device.little(126, 1) != 0});
}

void look_ext(const Seen& device, std::vector<Signature>& found) {
  if (!device.has(1024 + 56, "\x53\xef"sv)) return;
  const auto compatible = device.little(1024 + 92, 4);
  const auto incompatible = device.little(1024 + 96, 4);
  constexpr std::uint64_t kHasJournal = 0x4, kExtentsOr64bitOrFlexGroups = 0x40 | 0x80 | 0x200;
  const char* type = (incompatible & kExtentsOr64bitOrFlexGroups) != 0 ? "ext4"
                     : (compatible & kHasJournal) != 0                 ? "ext3"
                                                                       : "ext2";
  found.push_back({type, device.uuid(1024 + 104), device.text(1024 + 120, 16)});
}

void look_swap(const Seen& device, std::vector<Signature>& found) {
  for (const std::uint64_t page : {4096u, 8192u, 16384u, 32768u, 65536u}) {
    if (!device.has(page - 10, "SWAPSPACE2"sv) && !device.has(page - 10, "SWAP-SPACE"sv)) continue;
    found.push_back({"swap", device.uuid(1024 + 12), device.text(1024 + 28, 16)});
    return;
  }
}

void look_tables(const Seen& device, std::vector<Signature>& found) {
  bool gpt = false;
  for (const std::uint64_t block : {512u, 4096u}) {
    gpt =
        gpt || device.has(block, "EFI PART"sv) || (device.size() > block && device.has(device.size() - block, "EFI PART"sv));
  }
  if (gpt) found.push_back({"gpt", "", ""});
  if (!gpt && device.has(510, "\x55\xaa"sv)) found.push_back({"dos", "", ""});
}

void look_zfs(const Seen& device, std::vector<Signature>& found) {
  constexpr std::uint64_t kLabel = 256 * 1024, kRing = 128 * 1024, kMagic = 0x00bab10c;
  std::vector<std::uint64_t> labels = {0, kLabel};
  const std::uint64_t aligned = device.size() / kLabel * kLabel;
  if (aligned >= 4 * kLabel) labels.insert(labels.end(), {aligned - 2 * kLabel, aligned - kLabel});
  for (const auto label : labels) {
    for (std::uint64_t slot = label + kRing; slot < label + kLabel; slot += 1024) {
      const auto magic = device.little(slot, 8);
      if (magic != kMagic && __builtin_bswap64(magic) != kMagic) continue;
      found.push_back({"zfs_member", "", ""});
      return;
    }
  }
}

struct Magic {
  std::uint64_t offset;
  std::string_view bytes;
  const char* type;
};
// What is told apart by one magic at one place.
constexpr std::array kMagics = {
    Magic{0, "LUKS\xba\xbe"sv, "crypto_LUKS"},
    Magic{16384, "SKUL\xba\xbe"sv, "crypto_LUKS"},
    Magic{32768, "SKUL\xba\xbe"sv, "crypto_LUKS"},
    Magic{32769, "CD001"sv, "iso9660"},
    Magic{3, "NTFS    "sv, "ntfs"},
    Magic{3, "-FVE-FS-"sv, "BitLocker"},
    Magic{54, "FAT1"sv, "vfat"},
    Magic{82, "FAT32"sv, "vfat"},
    Magic{3, "EXFAT   "sv, "exfat"},
    Magic{1024, "\x10\x20\xf5\xf2"sv, "f2fs"},
    Magic{0, "integrt\0"sv, "DM_integrity"},
    Magic{0, "dmvdo001"sv, "vdo"},
    Magic{0, "bluestore block device"sv, "ceph_bluestore"},
    Magic{516, "!Stra0tis\x86\xff\x02^\x41rh"sv, "stratis"},
    Magic{0, "verity\0\0"sv, "DM_verity_hash"},
    Magic{4120, "\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81"sv, "bcache"},
    Magic{0, "SnAp"sv, "DM_snapshot_cow"},
    Magic{0, "hsqs"sv, "squashfs"},
};

void look_magics(const Seen& device, std::vector<Signature>& found) {
  for (const auto& magic : kMagics) {
    if (device.has(magic.offset, magic.bytes)) found.push_back({magic.type, "", ""});
  }
  if (device.has(65536 + 64, "_BHRfS_M"sv))
    found.push_back({"btrfs", device.uuid(65536 + 32), device.text(65536 + 299, 64)});
}

}  // namespace

std::vector<Signature> own_look(const Window& start, const Window& end, std::uint64_t size) {
  const Seen device(start, end, size);
  std::vector<Signature> found;
  look_md(device, found);
  look_lvm(device, found);
  look_xfs(device, found);
  look_ext(device, found);
  look_swap(device, found);
  look_tables(device, found);
  look_zfs(device, found);
  look_magics(device, found);
  // A copy of the same header (LUKS2, 1.0 and 1.2 of one array) is one signature.
  std::vector<Signature> once;
  for (auto& signature : found) {
    const bool known = std::any_of(once.begin(), once.end(), [&](const Signature& other) {
      return other.type == signature.type && (other.uuid == signature.uuid || signature.uuid.empty());
    });
    if (!known) once.push_back(std::move(signature));
  }
  return once;
}

}  // namespace nvstripe::host

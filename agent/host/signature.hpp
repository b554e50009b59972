// Owns the look at what a block device carries: libblkid's and our own, and whether sampled ranges read zero. Both must
// find nothing for "none"; what is ambiguous or unreadable is never none (law 2, A-41). It opens read-only and never writes.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agent/model/inventory.hpp"

namespace nvstripe::host {

struct LookAnswer {
  Look look = Look::unknown;
  std::string reason;  // why unknown or ambiguous
  Content content = Content::unknown;
  std::vector<Signature> signatures;
  bool operator==(const LookAnswer&) const = default;
};

enum class Admit { block_devices, files };  // files: tests only

// held: the device is in use by an array or volume, so that nobody may take it whatever it carries. Where libblkid finds
// something that is enough then; where it finds nothing, both looks are made all the same.
enum class Depth { both, held };

// May sleep in the kernel for as long as the device does: only children of ourselves call it (child.hpp).
// device_number "259:3": what the node must be; empty: not compared.
[[nodiscard]] LookAnswer look_at(const std::string& path, const std::string& device_number, Depth depth = Depth::both,
                                 Admit admit = Admit::block_devices);

// A range of a device that was read.
struct Window {
  std::uint64_t offset = 0;
  std::span<const std::uint8_t> bytes;
};
// Our own look, over the first kStartBytes and the last kEndBytes of a device of that size.
[[nodiscard]] std::vector<Signature> own_look(const Window& start, const Window& end, std::uint64_t size);

// Every signature we know lies in these; more would be read over the fabric for each look. ZFS' last label ends up to
// 256 KiB before the end, and its ring takes the second half of the 256 KiB before that.
inline constexpr std::uint64_t kStartBytes = 256 * 1024, kEndBytes = 512 * 1024;

// Both looks as one answer; content is left unknown.
struct BlkidAnswer {
  bool failed = false, ambivalent = false;
  std::string reason;
  std::vector<Signature> signatures;
};
[[nodiscard]] BlkidAnswer blkid_look(int fd, std::uint64_t size);
[[nodiscard]] LookAnswer merge_looks(const BlkidAnswer& blkid, const std::vector<Signature>& own);

}  // namespace nvstripe::host

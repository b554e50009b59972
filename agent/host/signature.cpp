// Owns reading a device for the look: sampled ranges, libblkid, and the two looks made one. The only user of libblkid.
#include "agent/host/signature.hpp"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "agent/base/fd.hpp"
#include "agent/base/text.hpp"

namespace nvstripe::host {
namespace {

constexpr std::size_t kAlign = 4096;
constexpr std::size_t kSample = 4096;
// Samples between the edges: at powers of two, where partitions of an erased table begin, and spread evenly.
constexpr std::uint64_t kSpread = 32;

struct Release {
  void operator()(std::uint8_t* bytes) const { std::free(bytes); }
};
struct Buffer {
  std::unique_ptr<std::uint8_t, Release> bytes;
  std::size_t size = 0;
  [[nodiscard]] std::span<const std::uint8_t> span() const { return {bytes.get(), size}; }
};

Result<Buffer> read_range(int fd, std::uint64_t offset, std::size_t count) {
  Buffer buffer;
  const std::size_t room = (count + kAlign - 1) / kAlign * kAlign;
  buffer.bytes.reset(static_cast<std::uint8_t*>(std::aligned_alloc(kAlign, std::max(room, kAlign))));
  if (!buffer.bytes) return fail_errno("no memory to read into", ENOMEM);
  while (buffer.size < count) {
    const auto got =
        ::pread(fd, buffer.bytes.get() + buffer.size, count - buffer.size, static_cast<off_t>(offset + buffer.size));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno("cannot read at byte " + std::to_string(offset));
    if (got == 0) return fail("the device ends before its size says");
    buffer.size += static_cast<std::size_t>(got);
  }
  return buffer;
}

bool all_zero(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

struct Opened {
  Fd fd;
  std::uint64_t size = 0;
};

Result<Opened> open_device(const std::string& path, const std::string& device_number, Admit admit) {
  Opened device;
  device.fd = Fd(::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC | O_NONBLOCK));
  // tmpfs has no O_DIRECT; tests may lie there.
  if (!device.fd && errno == EINVAL && admit == Admit::files) device.fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!device.fd) return fail_errno("cannot open '" + path + "'");
  struct stat found {};
  if (::fstat(device.fd.get(), &found) != 0) return fail_errno("cannot look at '" + path + "'");
  if (S_ISREG(found.st_mode) && admit == Admit::files) {
    device.size = static_cast<std::uint64_t>(found.st_size);
    return device;
  }
  if (!S_ISBLK(found.st_mode)) return fail("'" + path + "' is not a block device");
  const std::string number = std::to_string(major(found.st_rdev)) + ":" + std::to_string(minor(found.st_rdev));
  if (!device_number.empty() && number != device_number) return fail("'" + path + "' is another device now");
  if (::ioctl(device.fd.get(), BLKGETSIZE64, &device.size) != 0) return fail_errno("cannot read the size of '" + path + "'");
  return device;
}

// libblkid reads through the page cache into buffers of its own, which O_DIRECT would refuse.
Result<Fd> open_plain(const std::string& path, const Opened& direct) {
  Fd plain(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat direct_node {
  }, plain_node{};
  if (!plain || ::fstat(direct.fd.get(), &direct_node) != 0 || ::fstat(plain.get(), &plain_node) != 0 ||
      direct_node.st_rdev != plain_node.st_rdev)
    return fail("the node changed while it was looked at");
  return plain;
}

std::string value_of(blkid_probe probe, const char* name) {
  const char* text = nullptr;
  std::size_t length = 0;
  if (blkid_probe_lookup_value(probe, name, &text, &length) != 0 || text == nullptr) return {};
  const std::string_view all(text, length);
  return printable(trim(all.substr(0, all.find('\0'))));
}

std::vector<std::uint64_t> sample_offsets(std::uint64_t size) {
  std::vector<std::uint64_t> offsets;
  for (std::uint64_t offset = 256u << 10; offset + kSample < size && offset != 0; offset *= 2) offsets.push_back(offset);
  const std::uint64_t step = size / (kSpread + 1) / kAlign * kAlign;
  for (std::uint64_t i = 1; step > 0 && i <= kSpread; ++i) offsets.push_back(i * step);
  std::erase_if(offsets, [&](std::uint64_t offset) { return offset < kStartBytes || offset + kSample + kEndBytes > size; });
  return offsets;
}

Result<Content> sample(const Opened& device, const Buffer& start, const Buffer& end) {
  if (!all_zero(start.span()) || !all_zero(end.span())) return Content::data;
  for (const auto offset : sample_offsets(device.size)) {
    TRY(const Buffer piece, read_range(device.fd.get(), offset, kSample));
    if (!all_zero(piece.span())) return Content::data;
  }
  return Content::zero;
}

LookAnswer unknown(std::string reason) { return {.look = Look::unknown, .reason = std::move(reason)}; }

}  // namespace

BlkidAnswer blkid_look(int fd, std::uint64_t size) {
  BlkidAnswer answer;
  const std::unique_ptr<std::remove_pointer_t<blkid_probe>, void (*)(blkid_probe)> probe(blkid_new_probe(),
                                                                                         blkid_free_probe);
  // Without this each of the scattered small reads would draw read-ahead over the fabric.
  (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
  if (!probe || blkid_probe_set_device(probe.get(), fd, 0, static_cast<blkid_loff_t>(size)) != 0) {
    answer.failed = true;
    answer.reason = "libblkid cannot read it";
    return answer;
  }
  blkid_probe_enable_superblocks(probe.get(), 1);
  blkid_probe_set_superblocks_flags(probe.get(), BLKID_SUBLKS_TYPE | BLKID_SUBLKS_UUID | BLKID_SUBLKS_LABEL |
                                                     BLKID_SUBLKS_USAGE | BLKID_SUBLKS_VERSION | BLKID_SUBLKS_MAGIC |
                                                     BLKID_SUBLKS_BADCSUM);
  // Its look for ZFS reads a megabyte, as much as all else together; the own look sees each of the labels' rings.
  std::array<char, 11> zfs = {"zfs_member"};
  std::array<char*, 2> left_out = {zfs.data(), nullptr};
  blkid_probe_filter_superblocks_type(probe.get(), BLKID_FLTR_NOTIN, left_out.data());
  blkid_probe_enable_partitions(probe.get(), 1);
  blkid_probe_set_partitions_flags(probe.get(), BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT);
  const int code = blkid_do_safeprobe(probe.get());
  if (code == -2) {
    answer.ambivalent = true;
    answer.reason = "libblkid finds several signatures that exclude each other";
  } else if (code < 0) {
    answer.failed = true;
    answer.reason = "libblkid failed to read it";
  } else if (code == 0) {
    if (auto type = value_of(probe.get(), "TYPE"); !type.empty()) {
      answer.signatures.push_back({std::move(type), value_of(probe.get(), "UUID"), value_of(probe.get(), "LABEL")});
    }
    if (auto table = value_of(probe.get(), "PTTYPE"); !table.empty()) {
      answer.signatures.push_back({std::move(table), value_of(probe.get(), "PTUUID"), ""});
    }
    if (answer.signatures.empty()) {
      answer.ambivalent = true;
      answer.reason = "libblkid finds something that it cannot name";
    }
  }
  return answer;
}

LookAnswer merge_looks(const BlkidAnswer& blkid, const std::vector<Signature>& own) {
  if (blkid.failed) return unknown(blkid.reason);
  LookAnswer answer;
  answer.signatures = blkid.signatures;
  const bool blkid_found = !blkid.signatures.empty();
  for (const auto& signature : own) {
    // 0x55aa alone is also how boot sectors of file systems end: libblkid's word counts where it has one.
    if (signature.type == "dos" && blkid_found) continue;
    const auto same = std::find_if(answer.signatures.begin(), answer.signatures.end(), [&](const Signature& known) {
      return known.type == signature.type && (signature.uuid.empty() || known.uuid.empty() || known.uuid == signature.uuid);
    });
    if (same == answer.signatures.end()) {
      answer.signatures.push_back(signature);
    } else {
      same->in_progress = same->in_progress || signature.in_progress;
    }
  }
  answer.look = blkid.ambivalent ? Look::ambiguous : answer.signatures.empty() ? Look::none : Look::found;
  answer.reason = blkid.reason;
  return answer;
}

LookAnswer look_at(const std::string& path, const std::string& device_number, Depth depth, Admit admit) {
  const auto device = open_device(path, device_number, admit);
  if (!device) return unknown(device.error().what);
  if (device->size == 0) return unknown("it has no size");
  const auto plain = open_plain(path, *device);
  if (!plain) return unknown(plain.error().what);
  const BlkidAnswer libblkids = blkid_look(plain->get(), device->size);
  if (auto answer = merge_looks(libblkids, {}); depth == Depth::held && answer.look == Look::found) {
    answer.content = Content::data;
    return answer;
  }
  const auto start_size = static_cast<std::size_t>(std::min(kStartBytes, device->size));
  // The last edge begins at a multiple of 4 KiB; it ends with the device, whose size is a multiple of its own block size.
  const std::uint64_t end_offset = (device->size - std::min(kEndBytes, device->size) + kAlign - 1) / kAlign * kAlign;
  const auto start = read_range(device->fd.get(), 0, start_size);
  if (!start) return unknown(start.error().what);
  const auto end =
      read_range(device->fd.get(), end_offset, static_cast<std::size_t>(device->size - std::min(end_offset, device->size)));
  if (!end) return unknown(end.error().what);
  auto answer = merge_looks(libblkids, own_look({0, start->span()}, {end_offset, end->span()}, device->size));
  if (answer.look != Look::none) {
    answer.content = answer.look == Look::unknown ? Content::unknown : Content::data;
    return answer;
  }
  const auto content = sample(*device, *start, *end);
  if (!content) return unknown(content.error().what);
  answer.content = *content;
  return answer;
}

}  // namespace nvstripe::host

// Owns opening of block devices' nodes; read-only always.
#include "agent/host/block_node.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <fstream>

#include <algorithm>

namespace nvstripe::host {
namespace {

#ifndef BLKGETDISKSEQ
constexpr unsigned long kGetDiskSequence = _IOR(0x12, 128, std::uint64_t);
#else
constexpr unsigned long kGetDiskSequence = BLKGETDISKSEQ;
#endif

std::string number_of(const struct stat& found) {
  return std::to_string(major(found.st_rdev)) + ":" + std::to_string(minor(found.st_rdev));
}

Result<> is_meant(const struct stat& found, const std::string& path, const std::string& device_number) {
  if (!S_ISBLK(found.st_mode))
    return fail("'" + path + "' is not a block device", "remove what was written there by mistake");
  if (number_of(found) != device_number) {
    return fail("'" + path + "' is device " + number_of(found) + " and not " + device_number,
                "look again: names were given anew");
  }
  return {};
}

}  // namespace

Result<> check_node(const std::string& path, const std::string& device_number) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0)
    return fail_errno("cannot look at '" + path + "'", errno, "udev has not made the node yet; it is tried again");
  return is_meant(found, path, device_number);
}

Result<Fd> open_node(const std::string& path, const std::string& device_number, std::uint64_t diskseq) {
  CHECKED(check_node(path, device_number));
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0) return fail_errno("cannot open '" + path + "'");
  CHECKED(is_meant(found, path, device_number));
  std::uint64_t now = 0;
  if (diskseq != 0 && ::ioctl(fd.get(), kGetDiskSequence, &now) == 0 && now != diskseq) {
    return fail("'" + path + "' is another disk than the one planned for", "plan again");
  }
  return fd;
}

Result<> check_exclusive(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_EXCL | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return fail_errno("cannot have '" + path + "' alone", errno, "see 'nvstripe devices' for what uses it");
  return {};
}

bool leads_to(const std::vector<std::string>& paths, const std::string& device_number) {
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 && S_ISBLK(found.st_mode) && number_of(found) == device_number;
  });
}

Result<Fd> lock_node(const std::string& path, std::chrono::steady_clock::time_point due) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) return fail_errno("cannot open '" + path + "' to lock it");
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return fail_errno("cannot lock '" + path + "'");
    if (std::chrono::steady_clock::now() >= due) {
      return fail_errno("'" + path + "' stays locked by somebody else", ETIMEDOUT, "look which program holds it: 'lslocks'");
    }
    // flock has no deadline of its own; udev holds its lock for the length of one event.
    (void)::poll(nullptr, 0, 10);
  }
  return fd;
}

// Fields: reads, merged, sectors, ms, then the same of writes (Documentation/block/stat.rst).
std::uint64_t sectors_written(const std::string& stat_file) {
  constexpr int kField = 7;
  std::ifstream in(stat_file);
  std::uint64_t value = 0;
  for (int field = 0; field < kField; ++field) {
    if (!(in >> value)) return 0;
  }
  return value;
}

}  // namespace nvstripe::host

// Owns the file changes of writer.hpp. Every path is absolute; nothing here follows a link at the end of a path, except
// attributes, whose sysfs paths are links by nature.
#include "agent/host/writer.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <pwd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <memory>
#include <optional>
#include <vector>

#include "agent/base/fd.hpp"
#include "agent/base/text.hpp"

namespace nvstripe::host {
namespace {

constexpr std::string_view kConfigfs = "/sys/kernel/config/";

std::string quoted(const std::string& text) { return "'" + printable(text) + "'"; }

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? std::string("/") : path.substr(0, slash);
}

std::string value_now(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return {};
  std::array<char, 200> text{};
  const auto got = ::read(fd.get(), text.data(), text.size());
  return got > 0 ? std::string(trim(std::string_view(text.data(), static_cast<std::size_t>(got)))) : std::string();
}

std::string remedy_of(int code) {
  switch (code) {
    case ENOENT:
      return "the kernel does not offer it: check the kernel version and its modules";
    case EACCES:
    case EPERM:
      return "run as root, and check for a lockdown or security module";
    case EBUSY:
      return "something still uses it";
    case EADDRNOTAVAIL:
      return "the address is not on this machine yet; it is tried again";
    case ENODEV:
      return "the device is not there yet; it is tried again";
    case EADDRINUSE:
      return "another listener has this address and port";
    case EINVAL:
      return "the kernel does not accept this value";
    case ENOSPC:
      return "make room on the file system";
    case EROFS:
      return "the file system is read-only";
    default:
      return "see the kernel log";
  }
}

Result<> refused(const std::string& what, int code = errno) { return fail_errno(what, code, remedy_of(code)); }

Result<> write_all(int fd, std::string_view text, const std::string& what) {
  while (!text.empty()) {
    const auto put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return refused(what);
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<> sync_folder(const std::string& folder) {
  const Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd || ::fsync(fd.get()) != 0) return refused("cannot sync folder " + quoted(folder));
  return {};
}

// The immutable flag exists on ext4, XFS, btrfs and newer tmpfs; elsewhere mode 000 alone must do.
bool set_immutable(int fd, bool on) {
  int flags = 0;
  if (::ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0) return false;
  const int wanted = on ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
  return wanted == flags || ::ioctl(fd, FS_IOC_SETFLAGS, &wanted) == 0;
}

Result<bool> is_empty_folder(int fd) {
  const int again = ::openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return fail_errno("cannot open the folder");
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(again), ::closedir);
  if (!folder) return fail_errno("cannot list the folder");
  errno = 0;
  while (const auto* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return false;
  }
  if (errno != 0) return fail_errno("cannot list the folder");
  return true;
}

Result<std::uint32_t> id_of(const std::string& text, bool group) {
  if (const auto number = parse_number(text); number && *number < UINT32_MAX) return static_cast<std::uint32_t>(*number);
  errno = 0;
  if (group) {
    if (const auto* found = ::getgrnam(text.c_str())) return found->gr_gid;
  } else if (const auto* found = ::getpwnam(text.c_str())) {
    return found->pw_uid;
  }
  const std::string kind = group ? "group" : "user";
  return fail(kind + " " + quoted(text) + " does not exist on this machine",
              "create it, or name another one in mount of the volume");
}

}  // namespace

Result<> write_attribute(const std::string& path, const std::string& value) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!fd) return refused("cannot open attribute " + quoted(path));
  // Attributes take one write each: a second one would be another value.
  const auto put = ::write(fd.get(), value.data(), value.size());
  const int code = errno;
  if (put == static_cast<ssize_t>(value.size())) return {};
  const std::string now = value_now(path);
  const std::string what = "cannot write " + quoted(std::string(trim(value))) + " into " + quoted(path) +
                           (now.empty() ? std::string() : ", which reads " + quoted(now));
  if (put < 0) return refused(what, code);
  return fail(what + ": only a part was taken", "the kernel does not accept this value");
}

Result<> put_file(const std::string& path, const std::string& text, unsigned mode) {
  const std::string folder = parent_of(path);
  CHECKED(make_dir(folder));
  const std::string temporary = path + ".nvstripe-new";
  if (::unlink(temporary.c_str()) != 0 && errno != ENOENT) return refused("cannot remove " + quoted(temporary));
  const Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd) return refused("cannot create " + quoted(temporary));
  const std::string what = "cannot write " + quoted(path);
  auto written = write_all(fd.get(), text, what);
  if (written && ::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) written = refused(what);
  if (written && ::fsync(fd.get()) != 0) written = refused(what);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) written = refused(what);
  if (!written) {
    (void)::unlink(temporary.c_str());  // a leftover is overwritten next time
    return written;
  }
  return sync_folder(folder);
}

Result<> make_dir(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0) return {};
  if (errno == EEXIST) {
    struct stat found {};
    if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return {};
    return fail("cannot make folder " + quoted(path) + ": something else is there", "remove it or choose another path");
  }
  // In configfs a folder is an object: parents are made by steps of their own.
  if (errno != ENOENT || path.starts_with(kConfigfs) || path == "/") return refused("cannot make folder " + quoted(path));
  CHECKED(make_dir(parent_of(path)));
  if (::mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) return refused("cannot make folder " + quoted(path));
  return {};
}

Result<> make_mount_point(const std::string& path) {
  const std::string what = "cannot prepare mount point " + quoted(path);
  if (path.size() < 2) return fail(what + ": it is no folder below '/'", "choose another mount path");
  CHECKED(make_dir(parent_of(path)));
  if (::mkdir(path.c_str(), 0) != 0 && errno != EEXIST) return refused(what);
  // As root mode 000 does not hinder the open.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return refused(what);
  struct stat own {
  }, parent{};
  if (::fstat(fd.get(), &own) != 0 || ::stat(parent_of(path).c_str(), &parent) != 0) return refused(what);
  if (own.st_dev != parent.st_dev) return fail(what + ": something is mounted on it", "unmount it or choose another path");
  TRY(const bool empty, is_empty_folder(fd.get()));
  if (!empty) return fail(what + ": the folder is not empty", "move its content away or choose another path");
  if ((own.st_mode & 07777) != 0) {
    (void)set_immutable(fd.get(), false);  // the mode of an immutable folder cannot be changed; set again below
    if (::fchmod(fd.get(), 0) != 0) return refused(what);
  }
  (void)set_immutable(fd.get(), true);  // where it cannot be had, mode 000 keeps everybody but root out
  return {};
}

Result<> make_link(const std::string& target, const std::string& path) {
  if (::symlink(target.c_str(), path.c_str()) == 0) return {};
  const int code = errno;
  if (code == EEXIST) {
    std::array<char, PATH_MAX> text{};
    const auto got = ::readlink(path.c_str(), text.data(), text.size());
    if (got >= 0 && std::string_view(text.data(), static_cast<std::size_t>(got)) == target) return {};
    // configfs answers with the path from the root, "../../" in front of it; the object decides.
    struct stat wanted {
    }, found{};
    if (got >= 0 && ::stat(path.c_str(), &found) == 0 && ::stat(target.c_str(), &wanted) == 0 &&
        found.st_ino == wanted.st_ino && found.st_dev == wanted.st_dev) {
      return {};
    }
  }
  return refused("cannot link " + quoted(path) + " to " + quoted(target), code);
}

Result<> remove_path(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    return refused("cannot remove " + quoted(path));
  }
  if (!S_ISDIR(found.st_mode)) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return refused("cannot remove " + quoted(path));
    return {};
  }
  if (!path.starts_with("/sys/")) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (fd) (void)set_immutable(fd.get(), false);  // rmdir below says why if it could not be had
  }
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT) return refused("cannot remove folder " + quoted(path));
  return {};
}

Result<> set_owner(const std::string& path, const std::string& owner, const std::string& group, const std::string& mode) {
  auto uid = static_cast<uid_t>(-1);
  auto gid = static_cast<gid_t>(-1);
  if (!owner.empty()) {
    TRY(uid, id_of(owner, false));
  }
  if (!group.empty()) {
    TRY(gid, id_of(group, true));
  }
  const auto bits = parse_number(mode, 8);
  if (!mode.empty() && (!bits || *bits > 07777))
    return fail("mode " + quoted(mode) + " is not octal up to 7777", "write it like '2775'");
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return refused("cannot open folder " + quoted(path));
  // chown clears the set-group bit, so the mode comes second.
  if ((!owner.empty() || !group.empty()) && ::fchown(fd.get(), uid, gid) != 0)
    return refused("cannot set the owner of " + quoted(path));
  if (!mode.empty() && ::fchmod(fd.get(), static_cast<mode_t>(*bits)) != 0)
    return refused("cannot set the mode of " + quoted(path));
  return {};
}

}  // namespace nvstripe::host

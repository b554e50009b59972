// Owns reading below a root folder. Captured folders are resolved by openat2(RESOLVE_IN_ROOT, Linux 5.6): absolute links
// and ".." stay inside. Only regular files are read, and never blocking: a FIFO in a captured folder must not hang us.
#include "agent/host/reader_root.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace nvstripe::host {
namespace {

constexpr std::string_view kFabricsNode = "/dev/nvme-fabrics";  // lists the connect options when read; the only device read

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

std::string quoted(std::string_view verb, std::string_view path) {
  return "cannot " + std::string(verb) + " '" + std::string(path) + "'";
}

Entry kind_of(mode_t mode) {
  if (S_ISREG(mode)) return Entry::file;
  if (S_ISDIR(mode)) return Entry::folder;
  if (S_ISLNK(mode)) return Entry::link;
  return Entry::other;
}

Result<std::string> read_all(int descriptor, std::string_view path) {
  std::string text;
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(quoted("read", path));
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > kMaxFileBytes) return fail(quoted("read", path) + ": it is larger than 4 MiB", "report this file");
  }
}

Result<std::string> descriptor_path(int descriptor, std::string_view path) {
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  std::array<char, 4096> target;
  const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
  if (length < 0) return fail_errno(quoted("resolve", path));
  return std::string(target.data(), static_cast<std::size_t>(length));
}

class RootReader final : public Reader {
 public:
  RootReader(Descriptor root, std::string prefix, RunProgram run, bool is_captured)
      : root_(std::move(root)), prefix_(std::move(prefix)), run_(std::move(run)), captured_(is_captured) {}

  Result<std::string> file(std::string_view path) const override {
    TRY(const Descriptor found, open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, "read"));
    struct stat status {};
    if (::fstat(found.number(), &status) != 0) return fail_errno(quoted("read", path));
    if (S_ISDIR(status.st_mode)) return fail_errno(quoted("read", path), EISDIR);
    if (!S_ISREG(status.st_mode) && (captured_ || path != kFabricsNode)) {
      return fail_errno(quoted("read", path) + ": not a file", EINVAL);
    }
    return read_all(found.number(), path);
  }

  Result<std::string> link(std::string_view path) const override {
    TRY(const Descriptor found, open(path, O_PATH | O_NOFOLLOW, "read the link"));
    std::array<char, 4096> target;
    const ssize_t length = ::readlinkat(found.number(), "", target.data(), target.size());
    // readlinkat of an O_PATH descriptor that is no link says ENOENT, which would read as "absent".
    if (length < 0) return fail_errno(quoted("read the link", path), errno == ENOENT ? EINVAL : errno);
    return std::string(target.data(), static_cast<std::size_t>(length));
  }

  Result<std::vector<std::string>> list(std::string_view folder) const override {
    TRY(Descriptor found, open(folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK, "list"));
    DIR* stream = ::fdopendir(found.number());
    if (stream == nullptr) return fail_errno(quoted("list", folder));
    (void)found.release();  // the stream owns it now
    std::vector<std::string> names;
    errno = 0;
    while (const dirent* item = ::readdir(stream)) {
      const std::string_view name = item->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
      if (names.size() > kMaxFolderEntries) break;
      errno = 0;
    }
    const int code = errno;
    ::closedir(stream);
    if (names.size() > kMaxFolderEntries) return fail(quoted("list", folder) + ": it has over 65536 entries");
    if (code != 0) return fail_errno(quoted("list", folder), code);
    std::sort(names.begin(), names.end());
    return names;
  }

  Result<std::string> canonical(std::string_view path) const override {
    TRY(const Descriptor found, open(path, O_PATH, "resolve"));
    TRY(std::string full, descriptor_path(found.number(), path));
    if (full.compare(0, prefix_.size(), prefix_) != 0) {
      return fail(quoted("resolve", path) + ": it leads out of '" + prefix_ + "'", "capture the machine anew");
    }
    full.erase(0, prefix_.size());
    return full.empty() ? std::string("/") : full;
  }

  Entry entry(std::string_view path) const override {
    const Result<Status> found = status(path);
    return found ? found->kind : Entry::absent;
  }

  Result<Status> status(std::string_view path) const override {
    TRY(const Descriptor found, open(path, O_PATH | O_NOFOLLOW, "look at"));
    struct stat seen {};
    if (::fstat(found.number(), &seen) != 0) return fail_errno(quoted("look at", path));
    return Status{kind_of(seen.st_mode), static_cast<unsigned>(seen.st_mode) & 07777u, seen.st_uid, seen.st_gid};
  }

  Result<std::string> output(std::string_view command, const std::vector<std::string>& devices) const override {
    if (captured_) return file("/cmd/" + std::string(command));
    if (command == "ip.addr") return live_addresses();
    if (command == "systemd.not_loaded") return live_units_not_loaded(devices);
    if (!run_) return fail_errno("cannot run '" + std::string(command) + "'", ENOENT);
    return run_(command, devices);
  }

  bool captured() const override { return captured_; }

 private:
  Result<Descriptor> open(std::string_view path, int flags, std::string_view verb) const {
    const std::string text(path);
    int number = -1;
    do {
      if (captured_) {
        open_how how{};
        how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
        how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
        number = static_cast<int>(::syscall(SYS_openat2, root_.number(), text.c_str(), &how, sizeof how));
      } else {
        number = ::open(text.c_str(), flags | O_CLOEXEC);
      }
    } while (number < 0 && (errno == EINTR || errno == EAGAIN));
    if (number < 0) return fail_errno(quoted(verb, path));
    return Descriptor(number);
  }

  Descriptor root_;
  std::string prefix_;  // of what the kernel says a descriptor is called; empty for "/"
  RunProgram run_;
  bool captured_;
};

}  // namespace

Result<std::unique_ptr<Reader>> root_reader(const std::string& folder, RunProgram run, bool captured) {
  Descriptor root(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (root.number() < 0) return fail_errno(quoted("open", folder));
  TRY(std::string prefix, descriptor_path(root.number(), folder));
  if (prefix == "/") prefix.clear();
  return std::make_unique<RootReader>(std::move(root), std::move(prefix), std::move(run), captured);
}

std::unique_ptr<Reader> live_reader(RunProgram run) {
  return std::make_unique<RootReader>(Descriptor(-1), std::string(), std::move(run), false);
}

}  // namespace nvstripe::host

// Owns inotify and poll on proc files. mountinfo and mdstat answer POLLERR|POLLPRI after each change, once per open file
// and read (6.1: proc_pid_mounts, md's mdstat_poll).
#include "agent/daemon/watches.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "agent/host/block_node.hpp"

namespace nvstripe::daemon {

Result<> FolderWatch::open() {
  inotify_ = Fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (inotify_.get() < 0) return fail_errno("cannot watch the spec folders");
  return {};
}

void FolderWatch::watch(const std::vector<std::string>& folders) {
  constexpr std::uint32_t kEvents =
      IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_DELETE_SELF | IN_ONLYDIR;
  for (const std::string& folder : folders) (void)::inotify_add_watch(inotify_.get(), folder.c_str(), kEvents);
}

PolledFile::PolledFile(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

ChangeSource PolledFile::source() {
  const int fd = file_.get();
  return ChangeSource{fd, POLLPRI, [fd] {
                        char buffer[4096];
                        (void)::lseek(fd, 0, SEEK_SET);
                        while (::read(fd, buffer, sizeof buffer) > 0) {
                        }
                        return true;
                      }};
}

namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

void add_controllers(const fs::path& root, std::vector<std::string>& lines) {
  std::error_code code;
  for (fs::directory_iterator at(root / "sys/class/nvme", code); !code && at != fs::directory_iterator(); at.increment(code))
    lines.push_back(at->path().filename().string() + "=" + first_line(at->path() / "state"));
}

void add_served(const fs::path& root, std::vector<std::string>& lines) {
  std::error_code code;
  const fs::path subsystems = root / "sys/kernel/config/nvmet/subsystems";
  for (fs::directory_iterator at(subsystems, code); !code && at != fs::directory_iterator(); at.increment(code)) {
    std::error_code none;
    for (fs::directory_iterator ns(at->path() / "namespaces", none); !none && ns != fs::directory_iterator();
         ns.increment(none)) {
      const std::string path = first_line(ns->path() / "device_path");
      if (!path.starts_with("/dev/")) continue;
      lines.push_back(at->path().filename().string() + " serves " + path);
      std::error_code missing;
      const fs::path device = fs::canonical(root / path.substr(1), missing);
      const fs::path stat = root / "sys/class/block" / device.filename() / "stat";
      if (!missing && host::sectors_written(stat) > 0) lines.push_back(path + " is written to");
    }
  }
}

}  // namespace

std::string nvme_pulse(const std::string& root) {
  std::vector<std::string> lines;
  add_controllers(root, lines);
  add_served(root, lines);
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace nvstripe::daemon

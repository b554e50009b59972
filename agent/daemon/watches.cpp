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

std::string controller_pulse(const std::string& sys) {
  namespace fs = std::filesystem;
  std::vector<std::string> lines;
  std::error_code code;
  for (fs::directory_iterator at(sys + "/class/nvme", code); !code && at != fs::directory_iterator(); at.increment(code)) {
    std::ifstream file(at->path() / "state");
    std::string state;
    std::getline(file, state);
    lines.push_back(at->path().filename().string() + "=" + state);
  }
  std::sort(lines.begin(), lines.end());
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

}  // namespace nvstripe::daemon

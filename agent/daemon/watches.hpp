// Owns the descriptors that tell of changes: spec folders, mounts, md arrays; and the pulse, a cheap look at what tells
// nobody. Reads only.
#pragma once
#include <string>
#include <vector>

#include "agent/base/fd.hpp"
#include "agent/daemon/engine.hpp"

namespace nvstripe::daemon {

// Watches folders for files written, moved or removed. Missing folders are left out and looked for again by watch().
class FolderWatch {
 public:
  [[nodiscard]] Result<> open();
  void watch(const std::vector<std::string>& folders);  // as often as wished; the kernel knows what is watched already
  [[nodiscard]] int fd() const { return inotify_.get(); }

 private:
  Fd inotify_;
};

// A file whose change the kernel tells by POLLPRI: /proc/self/mountinfo, /proc/mdstat.
class PolledFile {
 public:
  explicit PolledFile(const std::string& path);
  [[nodiscard]] ChangeSource source();

 private:
  Fd file_;
};

// In one text: the states of all NVMe controllers, what nvmet serves, which configfs tells of by no event, and whether it
// was written to since boot. The first write to a drive that was blank matters: the ledger must know that it carries data
// before it can be swapped.
[[nodiscard]] std::string nvme_pulse(const std::string& root);

}  // namespace nvstripe::daemon

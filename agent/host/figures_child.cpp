// Owns the child's half: the calls that may hang. SMART comes by libnvme.
#include <fcntl.h>
#include <libnvme.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>

#include <boost/json.hpp>
#include <fstream>

#include "agent/base/fd.hpp"
#include "agent/base/text.hpp"
#include "agent/host/child.hpp"
#include "agent/host/child_verbs.hpp"
#include "agent/host/figures.hpp"

namespace nvstripe::host {
namespace {

using boost::json::object;

// Of the file system that is mounted there now; which one that is, the descriptor says.
object space_at(const std::string& path) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat found {};
  struct statvfs space {};
  if (!fd || ::fstat(fd.get(), &found) != 0 || ::fstatvfs(fd.get(), &space) != 0) return {};
  return {{"device", std::to_string(major(found.st_dev)) + ":" + std::to_string(minor(found.st_dev))},
          {"size", space.f_blocks * space.f_frsize},
          {"available", space.f_bavail * space.f_frsize},
          {"inodes_free", space.f_favail}};
}

object health_of(const std::string& controller) {
  const Fd fd(::open(("/dev/" + controller).c_str(), O_RDONLY | O_CLOEXEC));
  nvme_smart_log log{};
  static_assert(sizeof log == kSmartLogBytes);
  // `true`: reading does not count as having seen its events (RAE), which other tools may wait for.
  if (!fd || nvme_get_log_smart(fd.get(), NVME_NSID_ALL, true, &log) != 0) return {};
  std::string serial;
  std::ifstream file("/sys/class/nvme/" + controller + "/serial");
  std::getline(file, serial);
  return {{"serial", to_utf8(trim(serial))}, {"log", hex(reinterpret_cast<const std::uint8_t*>(&log), sizeof log)}};
}

}  // namespace

int figures_verb(const std::vector<std::string>& arguments) {
  return answer_each(arguments, [](const std::string& argument) {
    const auto equals = argument.find('=');
    const std::string what = argument.substr(0, equals);
    const std::string of = equals == std::string::npos ? std::string() : argument.substr(equals + 1);
    object answer = what == "space" ? space_at(of) : what == "health" ? health_of(of) : object();
    answer["asked"] = argument;
    return boost::json::serialize(answer);
  });
}

}  // namespace nvstripe::host

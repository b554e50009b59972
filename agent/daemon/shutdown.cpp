// Owns the two sequences, as measured on Debian 12: a shutdown with a dead target never ended by itself (over 240 s); with
// dead controllers deleted before the unmounts, and the link set down where a delete sits behind a connection attempt in
// flight (93 s for RDMA), it took 35 s.
#include "agent/daemon/shutdown.hpp"

#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <set>

#include <fmt/core.h>

#include "agent/base/fd.hpp"
#include "agent/base/text.hpp"
#include "agent/host/command.hpp"
#include "agent/store/store.hpp"

namespace nvstripe::daemon {
namespace {

constexpr int kSyncMs = 15'000;   // a controller counts as live for up to 13 s after its target died: longer than that
constexpr int kDeleteMs = 6'000;  // a delete that is not stuck returned within 3 s
constexpr int kUnmountMs = 10'000;
constexpr int kLinkDownMs = 20'000;  // deletes returned 3-6 s after the link went down
constexpr int kStopMs = 20'000;
constexpr int kDisconnectMs = 20'000;
constexpr int kStepMs = 50;

bool system_is_stopping() {
  const auto asked = host::run_command({.argv = {"systemctl", "is-system-running"}, .deadline = std::chrono::seconds(5)});
  return asked && trim(asked->out) == "stopping";
}

// The daemon is told to end at the same time as the hooks; what it is at may still become a record. False: it lives on.
bool daemon_ended(const ShutdownPlaces& places) {
  const Fd lock(::open(places.lock.c_str(), O_RDWR | O_CLOEXEC));
  if (!lock) return true;
  for (int waited = 0;; waited += kStepMs) {
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return true;
    if (waited >= places.daemon_ms) return false;
    ::poll(nullptr, 0, kStepMs);
  }
}

Result<Records> read_store(const std::string& path) {
  TRY(const auto store, store::Store::open(path));
  return store->records();
}

// What is committed lies in the file and its log; each page and frame of theirs is whole or not counted.
Result<Records> read_copy(const ShutdownPlaces& places) {
  namespace fs = std::filesystem;
  const std::string copy = places.scratch + "/shutdown-" + std::to_string(::getpid()) + ".db";
  std::error_code code;
  fs::copy_file(places.state, copy, fs::copy_options::overwrite_existing, code);
  if (code) return fail("cannot copy '" + places.state + "': " + code.message(), "", code);
  std::error_code none;  // without a log everything is in the file
  fs::copy_file(places.state + "-wal", copy + "-wal", fs::copy_options::overwrite_existing, none);
  auto records = read_store(copy);
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(copy + suffix, none);
  if (records && !records->identity) return fail("the copy of '" + places.state + "' tells nothing");
  return records;
}

int sync_mount(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 || ::syncfs(fd) != 0 ? 1 : 0;
}

int delete_controller(const std::string& sys, const std::string& name) {
  const std::string path = sys + "/class/nvme/" + name + "/delete_controller";
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? 0 : 1;
  return ::write(fd, "1", 1) == 1 || errno == ENODEV ? 0 : 1;
}

std::string link_of(const std::string& ip) {
  ifaddrs* list = nullptr;
  if (ip.empty() || ::getifaddrs(&list) != 0) return {};
  std::string name;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if (at->ifa_addr == nullptr) continue;
    const int family = at->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    char text[NI_MAXHOST];
    const socklen_t size = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    if (::getnameinfo(at->ifa_addr, size, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0) continue;
    if (ip == text) name = at->ifa_name;
  }
  ::freeifaddrs(list);
  return name == "lo" ? std::string() : name;
}

bool set_link_down(const std::string& name) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  ifreq request{};
  std::strncpy(request.ifr_name, name.c_str(), sizeof request.ifr_name - 1);
  bool done = ::ioctl(fd, SIOCGIFFLAGS, &request) == 0;
  request.ifr_flags = static_cast<short>(request.ifr_flags & ~IFF_UP);
  done = done && ::ioctl(fd, SIOCSIFFLAGS, &request) == 0;
  ::close(fd);
  return done;
}

// Links towards the dead go down only after what still lives behind them has been synced once more and unmounted.
void cut_links(const std::vector<FabricController>& dead, const std::vector<FabricController>& live,
               const std::vector<std::string>& mounts) {
  std::set<std::string> links;
  for (const FabricController& controller : dead)
    if (const std::string link = link_of(controller.host_traddr); !link.empty()) links.insert(link);
  const bool shared = std::any_of(live.begin(), live.end(), [&](const FabricController& controller) {
    return links.contains(link_of(controller.host_traddr));
  });
  if (shared) {
    Children unmounts;
    for (const std::string& path : mounts)
      unmounts.start(path, [&path] { return sync_mount(path) == 0 && ::umount2(path.c_str(), 0) == 0 ? 0 : 1; });
    for (const std::string& path : unmounts.wait(kUnmountMs)) fmt::print(stderr, "'{}' was not unmounted in time\n", path);
  }
  for (const std::string& link : links)
    fmt::print(stderr, "link '{}' towards a dead target set down: {}\n", link, set_link_down(link) ? "done" : "failed");
}

}  // namespace

Result<Records> records_at_shutdown(const ShutdownPlaces& places) {
  if (!daemon_ended(places)) return read_copy(places);
  auto records = read_store(places.state);
  if (records) return records;
  auto copied = read_copy(places);
  return copied ? std::move(copied) : std::move(records);
}

void Children::start(std::string what, const std::function<int()>& work) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(work());
  children_.push_back(Child{std::move(what), pid, pid < 0, 1});
}

std::vector<std::string> Children::wait(int milliseconds) {
  std::vector<std::string> left;
  for (int waited = 0;; waited += kStepMs) {
    left.clear();
    for (Child& child : children_) {
      int status = 0;
      if (!child.done && ::waitpid(child.pid, &status, WNOHANG) == child.pid) {
        child.done = true;
        child.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      }
      if (!child.done) left.push_back(child.what);
    }
    if (left.empty() || waited >= milliseconds) return left;
    ::poll(nullptr, 0, kStepMs);
  }
}

void Children::end() {
  for (const Child& child : children_)
    if (!child.done) (void)::kill(child.pid, SIGKILL);
}

bool Children::failed(const std::string& what) const {
  return std::any_of(children_.begin(), children_.end(),
                     [&](const Child& child) { return child.what == what && (!child.done || child.status != 0); });
}

int drain(const ShutdownPlaces& places) {
  if (!system_is_stopping()) return 0;
  const auto records = records_at_shutdown(places);
  if (!records) {
    fmt::print(stderr, "{}\n", records.error().what);
    return 1;
  }
  const auto mounts = our_mounts(places, *records);
  Children syncs;
  for (const std::string& path : mounts) syncs.start(path, [&path] { return sync_mount(path); });
  for (const std::string& path : syncs.wait(kSyncMs)) fmt::print(stderr, "'{}' could not be synced in time\n", path);
  std::vector<FabricController> dead, live;
  for (const FabricController& controller : our_controllers(places, *records))
    (controller.state == "live" ? live : dead).push_back(controller);
  if (dead.empty()) return 0;
  Children deletes;
  for (const FabricController& controller : dead) {
    fmt::print(stderr, "target '{}' is {}: its controller is deleted so that unmounting can end\n", controller.traddr,
               controller.state);
    deletes.start(controller.kernel_name, [&] { return delete_controller(places.sys, controller.kernel_name); });
  }
  if (deletes.wait(kDeleteMs).empty()) return 0;
  cut_links(dead, live, mounts);
  for (const std::string& name : deletes.wait(kLinkDownMs))
    fmt::print(stderr, "controller '{}' is still being deleted\n", name);
  return 0;
}

int fabric_stop(const ShutdownPlaces& places) {
  if (!system_is_stopping()) return 0;
  const auto records = records_at_shutdown(places);
  if (!records) {
    fmt::print(stderr, "{}\n", records.error().what);
    return 1;
  }
  bool stopped = true;
  const auto run = [&](std::vector<std::string> argv) {
    const auto done = host::run_command({.argv = std::move(argv), .deadline = std::chrono::milliseconds(kStopMs)});
    const bool fine = done && done->exit_status == 0;
    if (!fine) fmt::print(stderr, "{}\n", done ? trim(done->err) : std::string_view(done.error().what));
    stopped = stopped && fine;
  };
  for (const std::string& name : our_arrays(places, *records)) run({"mdadm", "--stop", "/dev/" + name});
  for (const std::string& group : our_groups(places, *records)) run({"vgchange", "-an", group});
  Children deletes;
  for (const FabricController& controller : our_controllers(places, *records))
    if (stopped || controller.state != "live")  // what is still in use keeps its connection to the end
      deletes.start(controller.kernel_name, [&] { return delete_controller(places.sys, controller.kernel_name); });
  for (const std::string& name : deletes.wait(kDisconnectMs))
    fmt::print(stderr, "'{}' was not disconnected in time\n", name);
  return 0;
}

}  // namespace nvstripe::daemon

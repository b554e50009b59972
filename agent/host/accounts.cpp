// Owns the calls into the name service.
#include "agent/host/accounts.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace nvstripe::host {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::minutes kRemembered{1};
constexpr std::size_t kMaxRemembered = 1024;
constexpr std::size_t kEntryBytes = 64 * 1024;  // a group of some thousand members
constexpr std::size_t kMaxGroups = 65'536;      // NGROUPS_MAX

std::optional<gid_t> gid_of_jobs_group() {
  std::vector<char> buffer(kEntryBytes);
  group entry{};
  group* found = nullptr;
  if (::getgrnam_r(kJobsGroup, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  return found->gr_gid;
}

std::vector<gid_t> groups_of(const char* name, gid_t primary) {
  std::vector<gid_t> groups(64);
  auto count = static_cast<int>(groups.size());
  while (::getgrouplist(name, primary, groups.data(), &count) < 0) {
    // It says how many there are, but may say fewer than it needs when the database changes meanwhile.
    const std::size_t wanted = std::max(groups.size() * 2, static_cast<std::size_t>(std::max(count, 0)));
    if (wanted > kMaxGroups) return {};
    groups.resize(wanted);
    count = static_cast<int>(groups.size());
  }
  groups.resize(static_cast<std::size_t>(count));
  return groups;
}

std::optional<Account> look_up(std::uint32_t uid) {
  std::vector<char> buffer(kEntryBytes);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr) return {};
  Account account{found->pw_gid, false};
  if (const auto jobs = gid_of_jobs_group()) {
    const auto groups = groups_of(found->pw_name, found->pw_gid);
    account.may_declare = std::find(groups.begin(), groups.end(), *jobs) != groups.end();
  }
  return account;
}

struct Remembered {
  std::optional<Account> account;
  Clock::time_point until;
};

struct Memory {
  std::mutex mutex;
  std::map<std::uint32_t, Remembered> known;
};

}  // namespace

Accounts live_accounts() {
  return [memory = std::make_shared<Memory>()](std::uint32_t uid) {
    const std::lock_guard lock(memory->mutex);
    const auto now = Clock::now();
    if (const auto found = memory->known.find(uid); found != memory->known.end() && now < found->second.until)
      return found->second.account;
    if (memory->known.size() >= kMaxRemembered) memory->known.clear();
    const auto account = look_up(uid);
    memory->known[uid] = {account, now + kRemembered};
    return account;
  };
}

}  // namespace nvstripe::host

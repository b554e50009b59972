// Owns reading the files and setting bad ones aside.
#include "agent/daemon/job_reports.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "agent/base/fd.hpp"
#include "agent/base/text.hpp"
#include "agent/jobs/wire.hpp"

namespace nvstripe::daemon {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMaxAtOnce = 1000;  // the rest is taken the next time
constexpr std::size_t kMaxBad = 100;      // more are removed: somebody writes them again and again

Result<std::string> read_report(const std::string& path, std::uint32_t owner) {
  // Neither a link nor a pipe may lead or stop us elsewhere.
  const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return fail_errno("it cannot be opened");
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return fail_errno("it cannot be looked at");
  if (!S_ISREG(about.st_mode)) return fail("it is no plain file");
  if (about.st_uid != owner) return fail("it belongs to user " + std::to_string(about.st_uid));
  std::string text(jobs::kMaxReportBytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0) return fail_errno("it cannot be read");
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > jobs::kMaxReportBytes) return fail("it is larger than " + std::to_string(jobs::kMaxReportBytes) + " bytes");
  text.resize(size);
  return text;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    std::string name = entry->path().filename().string();
    if (!name.starts_with('.') && name != "bad") names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  if (names.size() > kMaxAtOnce) names.resize(kMaxAtOnce);
  return names;
}

void set_aside(const std::string& folder, const std::string& name, const std::string& why) {
  std::fprintf(stderr, "report '%s' of a job is not taken: %s\n", printable(name).c_str(), why.c_str());
  const std::string bad = folder + "/bad";
  (void)::mkdir(bad.c_str(), 0700);
  const std::string from = folder + "/" + name;
  const bool full = names_in(bad).size() >= kMaxBad;
  if (full || ::rename(from.c_str(), (bad + "/" + name).c_str()) != 0) (void)::unlink(from.c_str());
}

}  // namespace

Result<> make_reports_folder(const std::string& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno("cannot make '" + folder + "'");
  return {};
}

void take_reports(const ReportsPlace& place, jobs::Ledger& ledger, const std::string& boot_id, std::uint64_t now_ms) {
  for (const std::string& name : names_in(place.folder)) {
    const std::string path = place.folder + "/" + name;
    const auto text = read_report(path, place.owner);
    if (!text && is_errno(text.error(), ENOENT)) continue;
    const auto end = text ? jobs::parse_end(*text, jobs::Teller{0}, JobSource::marker)
                          : Result<jobs::JobEnd>(tl::unexpected(text.error()));
    if (!end) {
      set_aside(place.folder, name, end.error().what);
      continue;
    }
    // What volumes count now is of later than the end, so it is not compared.
    const auto kept = ledger.end(*end, boot_id, {}, now_ms);
    if (kept) {
      (void)::unlink(path.c_str());  // if it stays it is the same end once more
    } else {
      std::fprintf(stderr, "cannot record the end of a job: %s\n", kept.error().what.c_str());
    }
  }
}

}  // namespace nvstripe::daemon

// Owns the file of an end, and what systemd's and Slurm's environments say of a job.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "agent/base/fd.hpp"
#include "agent/base/text.hpp"
#include "agent/cli/job.hpp"
#include "agent/jobs/wire.hpp"

namespace nvstripe::cli {
namespace {

template <class Choice, class Choices>
Result<Choice> choose(const std::string& given, const Choices& choices, const std::string& what) {
  std::string known;
  for (const Choice one : choices) {
    if (to_text(one) == given) return one;
    known.append(known.empty() ? "" : ", ").append(to_text(one));
  }
  return fail("'" + printable(given) + "' is no " + what, "it is one of " + known);
}

// A unit's cgroup outlives its processes until what stops it has run, and with it the peak.
std::optional<std::uint64_t> memory_peak() {
  std::string line, path;
  std::ifstream groups("/proc/self/cgroup");
  while (std::getline(groups, line))
    if (line.starts_with("0::")) path = line.substr(3);
  if (path.empty()) return {};
  std::ifstream peak("/sys/fs/cgroup" + path + "/memory.peak");
  return std::getline(peak, line) ? parse_number(trim(line)) : std::nullopt;
}

// The unit that this process belongs to, by its cgroup: systemd tells an ExecStopPost= no name.
std::string own_unit() {
  std::string line, unit;
  std::ifstream groups("/proc/self/cgroup");
  while (std::getline(groups, line)) {
    if (!line.starts_with("0::")) continue;
    for (const std::string_view part : split(line, '/'))
      if (part.ends_with(".service")) unit = part;  // the innermost: a user's services lie below user@UID.service
  }
  return unit;
}

std::string slurm_id(const jobs::Environment& environment) {
  const auto id = environment("SLURM_JOB_ID");
  if (!id || !parse_number(*id)) return {};
  const std::string restarts = environment("SLURM_JOB_RESTART_COUNT").value_or("0");
  const bool again = parse_number(restarts).value_or(0) > 0;  // a requeued job keeps its number
  return "slurm-" + *id + (again ? ".r" + restarts : "");
}

std::uint32_t slurm_uid(const jobs::Environment& environment) {
  const auto uid = parse_number(environment("SLURM_JOB_UID").value_or(""));
  return uid && *uid <= 0xffffffffu ? static_cast<std::uint32_t>(*uid) : 0;
}

Result<> tell_slurm(const jobs::Environment& environment, jobs::JobEnd& end) {
  end.source = JobSource::slurm;
  end.how = jobs::slurm_ending(environment);
  if (end.id.empty()) end.id = slurm_id(environment);
  if (end.id.empty()) return fail("SLURM_JOB_ID is not set", "call this from Slurm's epilog, or give --id");
  if (end.name.empty()) end.name = printable(environment("SLURM_JOB_NAME").value_or(""));
  if (end.name.size() > jobs::kMaxName) end.name.clear();
  end.uid = slurm_uid(environment);
  end.started = jobs::epoch_ms(environment("SLURM_JOB_START_TIME").value_or("")).value_or(0);
  return {};
}

Result<std::string> invocation_of(const jobs::Environment& environment) {
  const auto invocation = environment("INVOCATION_ID");
  if (invocation && jobs::valid_id(*invocation)) return *invocation;
  return fail("INVOCATION_ID is not set", "call this from a unit's ExecStartPre= or ExecStopPost=");
}

Result<> tell_unit(const jobs::Environment& environment, jobs::JobEnd& end) {
  end.source = JobSource::unit;
  end.how = jobs::unit_ending(environment);
  const auto invocation = invocation_of(environment);
  if (!invocation && end.id.empty()) return tl::unexpected(invocation.error());
  end.invocation_id = invocation.value_or("");
  end.unit = own_unit();
  if (end.name.empty()) end.name = end.unit.substr(0, end.unit.rfind(".service"));
  if (end.name.size() > jobs::kMaxName) end.name.clear();
  end.memory_peak_bytes = memory_peak();
  return {};
}

Result<> tell_options(const JobWords& given, jobs::JobEnd& end) {
  if (given.exit_status) end.how = jobs::exit_ending(*given.exit_status);
  if (!given.signal.empty()) {
    end.how.result = JobResult::signalled;
    end.how.signal = given.signal;
  }
  if (!given.result.empty()) {
    TRY(end.how.result, choose<JobResult>(given.result, kJobResults, "result of a job"));
  }
  return {};
}

Result<> write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const auto put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno("cannot write the report");
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return ::fsync(fd) == 0 ? Result<>{} : Result<>(fail_errno("cannot bring the report to disk"));
}

}  // namespace

Result<jobs::JobEnd> end_of(const JobWords& given, const jobs::Environment& environment) {
  jobs::JobEnd end;
  end.id = given.id;
  end.name = given.name;
  if (given.from_unit) {
    CHECKED(tell_unit(environment, end));
  } else if (given.from_slurm) {
    CHECKED(tell_slurm(environment, end));
  } else {
    CHECKED(tell_options(given, end));
    if (end.id.empty()) return fail("no job is named", "give --id, --from-unit or --from-slurm");
  }
  if (!given.source.empty()) {
    TRY(end.source, choose<JobSource>(given.source, kJobSources, "source of a job"));
  }
  return end;
}

Result<jobs::JobStart> start_of(const JobWords& given, const jobs::Environment& environment) {
  jobs::JobStart start;
  start.id = given.id;
  start.name = given.name;
  if (given.from_unit) {
    start.source = JobSource::unit;
    TRY(start.invocation_id, invocation_of(environment));
    start.unit = own_unit();
    if (start.name.empty()) start.name = start.unit.substr(0, start.unit.rfind(".service"));
    if (start.name.size() > jobs::kMaxName) start.name.clear();
  } else if (given.from_slurm) {
    start.source = JobSource::slurm;
    if (start.id.empty()) start.id = slurm_id(environment);
    start.uid = slurm_uid(environment);
    if (start.name.empty()) start.name = printable(environment("SLURM_JOB_NAME").value_or(""));
    if (start.name.size() > jobs::kMaxName) start.name.clear();
  }
  if (start.id.empty() && start.invocation_id.empty())
    return fail("no job is named", "give --id, --from-unit or --from-slurm");
  return start;
}

Result<> leave_report(const std::string& folder, const jobs::JobEnd& end) {
  jobs::JobEnd dated = end;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  if (dated.ended == 0)
    dated.ended = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
  (void)::mkdir(folder.substr(0, folder.rfind('/')).c_str(), 0700);  // where the agent has never run
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return fail_errno("cannot make '" + folder + "'");
  const std::string name = std::to_string(dated.ended) + "-" + std::to_string(::getpid()) + ".json";
  const std::string draft = folder + "/." + name, final = folder + "/" + name;
  const Fd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file) return fail_errno("cannot make '" + draft + "'");
  auto written = write_whole(file.get(), jobs::end_text(dated));
  if (written && ::rename(draft.c_str(), final.c_str()) != 0) written = fail_errno("cannot name '" + final + "'");
  if (!written) {
    (void)::unlink(draft.c_str());
    return written;
  }
  const Fd place(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!place || ::fsync(place.get()) != 0) return fail_errno("cannot bring '" + folder + "' to disk");
  return {};
}

}  // namespace nvstripe::cli

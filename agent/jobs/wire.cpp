// Owns the fields of each text, and their bounds.
#include "agent/jobs/wire.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <boost/json.hpp>

#include "agent/base/text.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::jobs {
namespace {

constexpr std::size_t kMaxWord = 256;
constexpr std::uint64_t kLatestMs = 100'000'000'000'000;

// Takes fields out of an object; what was not taken, or is not as it should be, is in the error.
class Reading {
 public:
  explicit Reading(std::string_view text) {
    auto parsed = json::parse(trim(text).empty() ? std::string_view("{}") : text);
    if (!parsed) {
      error_ = parsed.error().what;
    } else if (!parsed->is_object()) {
      error_ = "it is no JSON object";
    } else {
      object_ = std::move(parsed->as_object());
    }
  }

  const boost::json::value* take(std::string_view name) {
    taken_.emplace(name);
    const auto* found = object_.if_contains(name);
    return found == nullptr || found->is_null() ? nullptr : found;
  }
  std::string word(std::string_view name, std::size_t longest = kMaxWord) {
    const auto* value = take(name);
    if (value == nullptr) return {};
    if (!value->is_string()) return refuse(name, "is no text");
    std::string text(value->as_string());
    if (text.size() > longest || printable(text) != text) return refuse(name, "is too long or has odd characters");
    return text;
  }
  std::optional<std::uint64_t> number(std::string_view name, std::uint64_t most) {
    const auto* value = take(name);
    if (value == nullptr) return {};
    boost::json::error_code code;
    const auto number = value->to_number<std::uint64_t>(code);
    if (code || number > most) refuse(name, "is no number, or too large");
    return number;
  }
  std::optional<double> ratio(std::string_view name) {
    const auto* value = take(name);
    if (value == nullptr) return {};
    boost::json::error_code code;
    const auto number = value->to_number<double>(code);
    if (code) refuse(name, "is no number");
    return number;
  }
  template <class Choice, class Choices>
  Choice choice(std::string_view name, const Choices& choices, Choice otherwise) {
    const std::string text = word(name);
    if (text.empty()) return otherwise;
    for (const Choice one : choices)
      if (to_text(one) == text) return one;
    refuse(name, "has a value that is not known");
    return otherwise;
  }
  std::string id() {
    std::string id = word("id");
    if (!id.empty() && !valid_id(id)) return refuse("id", "is not 1 to 64 of letters, digits, '.', '_' and '-'");
    return id;
  }
  std::string refuse(std::string_view name, std::string_view why) {
    if (error_.empty()) error_ = "its field '" + printable(name) + "' " + std::string(why);
    return {};
  }
  [[nodiscard]] Result<> done() {
    for (const auto& member : object_)
      if (!taken_.contains(std::string(member.key()))) refuse(std::string(member.key()), "is not known");
    if (error_.empty()) return {};
    return fail("what is told of the job cannot be read: " + error_, "docs/jobs.md has the fields");
  }

 private:
  boost::json::object object_;
  std::set<std::string> taken_;
  std::string error_;
};

std::string signal_word(Reading& in) {
  const std::string given = in.word("signal");
  if (given.empty()) return {};
  const auto number = signal_number(given);
  return number ? signal_name(*number) : in.refuse("signal", "is no name of a signal");
}

// Units and Slurm tell of their jobs as root; nobody else may speak in their names, nor take their ids beforehand.
void keep_to_own(Reading& in, const std::string& id, std::string& unit, std::string& invocation_id) {
  unit.clear();
  invocation_id.clear();
  if (id.starts_with("slurm-")) in.refuse("id", "begins with 'slurm-', by which only Slurm's own scripts tell");
}

Ending ending(Reading& in) {
  Ending how;
  how.result = in.choice("result", kJobResults, JobResult::unknown);
  how.reason = in.word("reason");
  if (const auto status = in.number("exit_status", 255)) how.exit_status = static_cast<std::uint32_t>(*status);
  how.signal = signal_word(in);
  if (how.result != JobResult::unknown || !how.reason.empty()) return how;
  if (!how.signal.empty()) how.result = JobResult::signalled;
  if (how.signal.empty() && how.exit_status) how.result = *how.exit_status == 0 ? JobResult::success : JobResult::failed;
  return how;
}

void put(boost::json::object& out, std::string_view name, const std::string& text) {
  if (!text.empty()) out[name] = text;
}
boost::json::value or_null(const std::string& text) {
  return text.empty() ? boost::json::value(nullptr) : boost::json::value(boost::json::string(text));
}
template <class T>
boost::json::value or_null(const std::optional<T>& value) {
  return value ? boost::json::value(*value) : boost::json::value(nullptr);
}

void read_command(Reading& in, JobRun& run) {
  if (const auto* argv = in.take("argv"); argv != nullptr && argv->is_array()) {
    for (const auto& argument : argv->as_array()) {
      if (!argument.is_string()) in.refuse("argv", "has something that is no text");
      if (argument.is_string()) run.argv.emplace_back(argument.as_string());
    }
  }
  if (const auto* directory = in.take("directory"); directory != nullptr) {
    if (!directory->is_string()) in.refuse("directory", "is no text");
    if (directory->is_string()) run.directory = std::string(directory->as_string());
  }
  const auto* environment = in.take("environment");
  if (environment == nullptr) return;
  if (!environment->is_object()) {
    in.refuse("environment", "is no object");
    return;
  }
  for (const auto& member : environment->as_object()) {
    if (!member.value().is_string()) in.refuse("environment", "has something that is no text");
    if (member.value().is_string()) run.environment.emplace_back(member.key(), member.value().as_string());
  }
}

}  // namespace

Result<JobStart> parse_start(std::string_view text, Teller teller) {
  Reading in(text);
  JobStart start;
  start.id = in.id();
  start.name = in.word("name", kMaxName);
  const JobSource source = in.choice("source", kJobSources, JobSource::report);
  start.source = teller.trusted() ? source : JobSource::report;
  const auto uid = in.number("uid", std::numeric_limits<std::uint32_t>::max());
  start.uid = uid && teller.trusted() ? static_cast<std::uint32_t>(*uid) : teller.uid;
  start.unit = in.word("unit");
  start.invocation_id = in.word("invocation_id", 64);
  if (!teller.trusted()) keep_to_own(in, start.id, start.unit, start.invocation_id);
  if (start.id.empty() && !valid_id(start.invocation_id)) in.refuse("id", "is missing");
  CHECKED(in.done());
  return start;
}

Result<JobEnd> parse_end(std::string_view text, Teller teller, JobSource source) {
  Reading in(text);
  JobEnd end;
  end.id = in.id();
  end.name = in.word("name", kMaxName);
  const JobSource named = in.choice("source", kJobSources, source);
  end.source = teller.trusted() ? named : source;
  const auto uid = in.number("uid", std::numeric_limits<std::uint32_t>::max());
  end.uid = uid && teller.trusted() ? static_cast<std::uint32_t>(*uid) : teller.uid;
  end.unit = in.word("unit");
  end.invocation_id = in.word("invocation_id", 64);
  if (!teller.trusted()) keep_to_own(in, end.id, end.unit, end.invocation_id);
  if (end.id.empty() && !valid_id(end.invocation_id)) in.refuse("id", "is missing");
  end.how = ending(in);
  const auto started = in.number("started_ms", kLatestMs), ended = in.number("ended_ms", kLatestMs);
  if (teller.trusted()) {
    end.started = started.value_or(0);
    end.ended = ended.value_or(0);
  }
  end.memory_peak_bytes = in.number("memory_peak_bytes", std::numeric_limits<std::int64_t>::max());
  CHECKED(in.done());
  return end;
}

Result<JobReport> parse_report(std::string_view text) {
  Reading in(text);
  JobReport report;
  report.id = in.id();
  const auto utilization = in.ratio("accelerator_utilization");
  report.accelerator_source = in.word("accelerator_source");
  if (report.accelerator_source.empty()) report.accelerator_source = "reported";
  if (!utilization) in.refuse("accelerator_utilization", "is missing");
  report.accelerator_utilization = utilization.value_or(0);
  CHECKED(in.done());
  return report;
}

Result<JobRun> parse_run(std::string_view text) {
  Reading in(text);
  JobRun run;
  run.id = in.id();
  run.name = in.word("name", kMaxName);
  read_command(in, run);
  CHECKED(in.done());
  CHECKED(check_run(run));
  return run;
}

std::string id_in(std::string_view text) {
  const auto parsed = json::parse(text);
  const auto* id = parsed && parsed->is_object() ? parsed->as_object().if_contains("id") : nullptr;
  return id != nullptr && id->is_string() ? std::string(id->as_string()) : std::string();
}

std::string start_text(const JobStart& start) {
  boost::json::object out;
  put(out, "id", start.id);
  put(out, "name", start.name);
  out["source"] = to_text(start.source);
  if (start.uid != 0) out["uid"] = start.uid;
  put(out, "unit", start.unit);
  put(out, "invocation_id", start.invocation_id);
  return json::text(out);
}

std::string end_text(const JobEnd& end) {
  boost::json::object out;
  put(out, "id", end.id);
  put(out, "name", end.name);
  out["source"] = to_text(end.source);
  if (end.uid != 0) out["uid"] = end.uid;
  put(out, "unit", end.unit);
  put(out, "invocation_id", end.invocation_id);
  out["result"] = to_text(end.how.result);
  put(out, "reason", end.how.reason);
  if (end.how.exit_status) out["exit_status"] = *end.how.exit_status;
  put(out, "signal", end.how.signal);
  if (end.started != 0) out["started_ms"] = end.started;
  if (end.ended != 0) out["ended_ms"] = end.ended;
  if (end.memory_peak_bytes) out["memory_peak_bytes"] = *end.memory_peak_bytes;
  return json::text(out);
}

std::string run_text(const JobRun& run) {
  boost::json::object out;
  put(out, "id", run.id);
  put(out, "name", run.name);
  boost::json::array argv;
  for (const std::string& argument : run.argv) argv.emplace_back(to_utf8(argument));
  out["argv"] = std::move(argv);
  put(out, "directory", to_utf8(run.directory));
  boost::json::object environment;
  for (const auto& [name, value] : run.environment) environment[name] = to_utf8(value);
  out["environment"] = std::move(environment);
  return json::text(out);
}

boost::json::object job_json(const JobRecord& record) {
  boost::json::object out;
  out["id"] = record.id;
  out["name"] = record.name;
  out["source"] = to_text(record.source);
  out["uid"] = record.uid;
  out["state"] = record.ended == 0 ? "running" : "ended";
  out["unit"] = or_null(record.unit);
  out["started"] = or_null(time_text(record.started));
  out["last_seen"] = or_null(time_text(record.last_seen));
  out["ended"] = or_null(time_text(record.ended));
  out["duration_s"] = record.ended == 0 ? boost::json::value(nullptr) : or_null(duration_s(record));
  out["result"] = record.ended == 0 ? boost::json::value(nullptr) : boost::json::value(to_text(record.result));
  out["reason"] = or_null(record.reason);
  out["exit_status"] = or_null(record.exit_status);
  out["signal"] = or_null(record.signal);
  out["accelerator_utilization"] = or_null(record.accelerator_utilization);
  out["accelerator_source"] = or_null(record.accelerator_source);
  out["memory_peak_bytes"] = or_null(record.memory_peak_bytes);
  boost::json::object volumes;
  for (const JobVolume& volume : record.volumes)
    volumes[volume.name] = boost::json::object{{"read_bytes", volume.read_bytes}, {"written_bytes", volume.written_bytes}};
  out["volumes"] = std::move(volumes);
  return out;
}

}  // namespace nvstripe::jobs

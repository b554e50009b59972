// Owns `nvstripe job`: telling the agent of jobs, having it run one, and waiting for that.
#include "agent/cli/job.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <fmt/core.h>
#include <boost/json.hpp>

#include "agent/api/client.hpp"
#include "agent/base/text.hpp"
#include "agent/cli/table.hpp"
#include "agent/jobs/wire.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::cli {
namespace {

constexpr int kPollMs = 500;
constexpr std::chrono::minutes kAgentAway{10};  // an upgrade of the agent ends no job, and no wait for one
// ExecStopPost= and Slurm's epilog wait for us: what the agent does not take by then is left as a file.
constexpr std::chrono::seconds kEndDeadline{2};
// What a command of one's own mostly needs of the environment. The rest is asked for by --env: it is all visible to other
// users of the machine.
constexpr std::array kPassed{"PATH",
                             "LANG",
                             "LC_ALL",
                             "TZ",
                             "VIRTUAL_ENV",
                             "CONDA_PREFIX",
                             "CONDA_DEFAULT_ENV",
                             "PYTHONPATH",
                             "LD_LIBRARY_PATH",
                             "CUDA_HOME",
                             "CUDA_VISIBLE_DEVICES",
                             "OMP_NUM_THREADS"};

std::optional<std::string> own_environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

int show_job(const Context& context, const Reply& reply) {
  if (reply.exit_code == kFine) (void)print_document(context, reply.document);
  return reply.exit_code;
}

std::string id_text(const std::string& id) { return json::text(boost::json::object{{"id", id}}); }

// As a shell finds it: in the caller's PATH, not the agent's.
Result<std::string> command_path(const std::string& command) {
  std::error_code code;
  if (command.find('/') != std::string::npos) {
    const auto whole = std::filesystem::absolute(command, code);
    if (!code && ::access(whole.c_str(), X_OK) == 0) return whole.string();
    return fail("'" + printable(command) + "' cannot be executed", "check its path and mode");
  }
  const std::string path = own_environment("PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  for (const std::string_view folder : split(path, ':')) {
    const auto whole = std::filesystem::absolute(std::string(folder.empty() ? "." : folder) + "/" + command, code);
    if (!code && std::filesystem::is_regular_file(whole, code) && ::access(whole.c_str(), X_OK) == 0) return whole.string();
  }
  return fail("there is no command '" + printable(command) + "' in PATH", "give its path");
}

// The way to the agent is JSON: other bytes would arrive as other words, and name another file.
Result<> check_text(const jobs::JobRun& run) {
  std::vector<std::string> all = run.argv;
  all.push_back(run.directory);
  for (const auto& [name, value] : run.environment) all.push_back(value);
  for (const std::string& text : all)
    if (to_utf8(text) != text)
      return fail("'" + printable(text) + "' is not UTF-8", "put what needs other bytes into a script, and run that");
  return {};
}

Result<jobs::JobRun> run_of(const JobWords& given) {
  jobs::JobRun run;
  run.id = given.id;
  run.name = given.name;
  run.argv = given.command;
  TRY(run.argv.front(), command_path(given.command.front()));
  if (run.name.empty()) run.name = printable(std::filesystem::path(given.command.front()).filename().string());
  std::error_code code;
  run.directory = std::filesystem::current_path(code).string();
  for (const char* name : kPassed)
    if (const auto value = own_environment(name)) run.environment.emplace_back(name, *value);
  for (const std::string& word : given.environment) {
    const auto equals = word.find('=');
    const std::string name = word.substr(0, equals);
    std::erase_if(run.environment, [&](const auto& one) { return one.first == name; });
    if (equals != std::string::npos) {
      run.environment.emplace_back(name, word.substr(equals + 1));
    } else if (const auto value = own_environment(name)) {
      run.environment.emplace_back(name, *value);
    }
  }
  CHECKED(check_text(run));
  CHECKED(jobs::check_run(run));
  return run;
}

std::string ending_text(const boost::json::value& job) {
  std::string text = text_of(job, "result");
  if (const auto* status = job.as_object().if_contains("exit_status"); status != nullptr && !status->is_null())
    text += ", exit status " + std::to_string(number_of(job, "exit_status"));
  if (const std::string signal = text_of(job, "signal"); !signal.empty()) text += ", signal " + signal;
  if (const std::string reason = text_of(job, "reason"); !reason.empty()) text += " (" + reason + ")";
  return text;
}

int finished(const Context& context, const boost::json::value& document, const boost::json::value& job) {
  if (!print_document(context, document) && text_of(job, "result") != "success")
    fmt::print(stderr, "nvstripe: job {} ended: {}\n", text_of(job, "id"), ending_text(job));
  return shell_status(job).value_or(kFailed);
}

int wait_for_job(const Context& context, const std::string& id) {
  auto answered = std::chrono::steady_clock::now();
  for (;;) {
    const auto answer = api::exchange(context.socket, "GET", "/v1/jobs/" + id);
    const auto now = std::chrono::steady_clock::now();
    if (answer && answer->status == 200) {
      answered = now;
      const auto document = json::parse(answer->body);
      if (!document || !document->is_object() || !document->as_object().contains("job"))
        return complain(context, Error{"the agent's answer cannot be read", "report this", {}}, kFailed);
      const auto& job = document->as_object().at("job");
      if (text_of(job, "state") == "ended") return finished(context, *document, job);
    } else if (answer && answer->status == 404) {
      return complain(context, Error{"the agent does not know job '" + id + "' any more", "its state was lost", {}},
                      kFailed);
    }
    if (now - answered > kAgentAway)
      return complain(context,
                      Error{"the agent does not answer; the job goes on without it",
                            "'systemctl status " + jobs::unit_of(id) + "' shows it",
                            {}},
                      kNotReachable);
    ::poll(nullptr, 0, kPollMs);
  }
}

std::string size_of(const boost::json::value& job, std::string_view direction) {
  std::uint64_t sum = 0;
  const auto* volumes = job.as_object().if_contains("volumes");
  if (volumes == nullptr || !volumes->is_object() || volumes->as_object().empty()) return "-";
  for (const auto& volume : volumes->as_object()) sum += number_of(volume.value(), direction);
  return size_text(sum);
}

std::string or_dash(std::string text) { return text.empty() ? "-" : text; }

}  // namespace

std::optional<int> shell_status(const boost::json::value& job) {
  if (const auto number = jobs::signal_number(text_of(job, "signal"))) return 128 + static_cast<int>(*number);
  const auto* status = job.is_object() ? job.as_object().if_contains("exit_status") : nullptr;
  if (status == nullptr || status->is_null()) return {};
  // Its main process may end with 0 after the unit was ended for want of memory or time: that is no success.
  if (number_of(job, "exit_status") == 0 && text_of(job, "result") != "success") return {};
  return static_cast<int>(number_of(job, "exit_status"));
}

int job_run(const Context& context, const JobWords& given) {
  const auto run = run_of(given);
  if (!run) return complain(context, run.error(), kUsage);
  const Reply begun = ask(context, "POST", "/v1/jobs/run", jobs::run_text(*run));
  if (begun.exit_code != kFine) return begun.exit_code;
  const std::string id = text_of(begun.document.as_object().at("job"), "id");
  fmt::print(stderr, "job {} runs; its output: journalctl -f -u {}\n", id, jobs::unit_of(id));
  return wait_for_job(context, id);
}

int job_start(const Context& context, const JobWords& given) {
  const auto start = start_of(given, own_environment);
  if (!start) return complain(context, start.error(), kUsage);
  return show_job(context, ask(context, "POST", "/v1/jobs/start", jobs::start_text(*start)));
}

int job_heartbeat(const Context& context, const JobWords& given) {
  return show_job(context, ask(context, "POST", "/v1/jobs/heartbeat", id_text(given.id)));
}

int job_report(const Context& context, const JobWords& given) {
  const boost::json::object told{{"id", given.id},
                                 {"accelerator_utilization", given.utilization.value_or(0)},
                                 {"accelerator_source", given.proxy ? "proxy" : "reported"}};
  return show_job(context, ask(context, "POST", "/v1/jobs/report", json::text(told)));
}

int job_end(const Context& context, const JobWords& given) {
  const auto end = end_of(given, own_environment);
  if (!end) return complain(context, end.error(), kUsage);
  const auto answer = api::exchange(context.socket, "POST", "/v1/jobs/end", jobs::end_text(*end), kEndDeadline);
  const bool away = !answer || answer->status >= 500;
  if (away && ::geteuid() == 0) {
    const auto left = leave_report(jobs::kReportsFolder, *end);
    return left ? kFine : complain(context, left.error(), kNotReachable);
  }
  if (!answer) return complain(context, answer.error(), is_errno(answer.error(), EACCES) ? kNotPermitted : kNotReachable);
  return show_job(context, reply_of(context, *answer));
}

int job_list(const Context& context) {
  const Reply reply = ask(context, "GET", "/v1/jobs");
  if (reply.exit_code != kFine) return reply.exit_code;
  if (print_document(context, reply.document)) return kFine;
  Table table({"ID", "NAME", "SOURCE", "STATE", "STARTED", "ENDED", "READ", "WRITTEN"});
  for (const auto& job : list_of(reply.document, "jobs")) {
    const bool running = text_of(job, "state") == "running";
    table.add({text_of(job, "id"), text_of(job, "name"), text_of(job, "source"), running ? "running" : ending_text(job),
               or_dash(text_of(job, "started")), or_dash(text_of(job, "ended")), size_of(job, "read_bytes"),
               size_of(job, "written_bytes")});
  }
  fmt::print("{}", table.empty() ? "no jobs\n" : table.text(context));
  return kFine;
}

}  // namespace nvstripe::cli

// Owns how commands are spelled, the only CLI11 code. Usage errors end with 64; everything else is the command's affair.
#include <unistd.h>

#include <cstdlib>
#include <map>

#include <CLI/CLI.hpp>

#include "agent/api/client.hpp"
#include "agent/base/text.hpp"
#include "agent/base/units.hpp"
#include "agent/cli/commands.hpp"
#include "agent/cli/job.hpp"

namespace {

using namespace nvstripe::cli;

struct Given {
  std::string format = "table", socket = nvstripe::api::kSocketPath, accept, volume, file, replay, timeout = "5m";
  Machine machine;
  JobWords job;
  std::vector<std::string> volumes;
  bool all = false, follow = false, dead = false;
  unsigned limit = 100;
};

Context context_of(const Given& given) {
  Context context;
  context.format = given.format == "json" ? Format::json : (given.format == "yaml" ? Format::yaml : Format::table);
  context.terminal = ::isatty(STDOUT_FILENO) == 1;
  const char* no_colour = std::getenv("NO_COLOR");
  context.colour = context.terminal && (no_colour == nullptr || *no_colour == '\0');
  context.socket = given.socket;
  return context;
}

void add_machine(CLI::App* command, Given& given) {
  command->add_option("--host", given.machine.host, "a captured machine: a folder laid out like / or a .tree file")
      ->check(CLI::ExistingPath);
  command->add_option("--spec", given.machine.spec, "follow this spec file instead of the one in force")
      ->check(CLI::ExistingFile);
}

using Run = std::function<int(const Context&)>;

void add_reading(CLI::App& app, Given& given, std::map<CLI::App*, Run>& runs) {
  auto* devices_command = app.add_subcommand("devices", "list block devices and whether they may be used");
  add_machine(devices_command, given);
  runs[devices_command] = [&](const Context& c) { return devices(c, given.machine); };
  auto* plan_command = app.add_subcommand("plan", "say what would be done, and do nothing");
  add_machine(plan_command, given);
  runs[plan_command] = [&](const Context& c) { return plan(c, given.machine); };
  runs[app.add_subcommand("status", "show volumes, connections, exports and what they wait for")] = status;
  runs[app.add_subcommand("volumes", "list volumes")] = volumes;
  auto* wait_command = app.add_subcommand("wait", "wait until volumes are mounted");
  wait_command->add_option("volume", given.volumes, "volumes; none: all of the spec");
  wait_command->add_option("--timeout", given.timeout, "such as 30s or 5m; a number alone is seconds")
      ->capture_default_str();
  runs[wait_command] = [&](const Context& c) {
    const bool bare = given.timeout.find_first_not_of("0123456789") == std::string::npos;
    const auto timeout = nvstripe::parse_duration(bare ? given.timeout + "s" : given.timeout);
    return timeout ? wait_for_volumes(c, given.volumes, *timeout) : complain(c, timeout.error(), kUsage);
  };
  auto* events_command = app.add_subcommand("events", "list what happened");
  events_command->add_flag("--follow,-f", given.follow, "go on as more happens");
  events_command->add_option("--limit,-n", given.limit, "how many of the newest")->capture_default_str();
  auto* dead = events_command->add_flag("--dead", given.dead, "those that the receiver refused for good");
  events_command->add_option("--replay", given.replay, "send a refused one again: its sequence, or all")->excludes(dead);
  runs[events_command] = [&](const Context& c) {
    if (given.dead) return dead_events(c);
    return given.replay.empty() ? events(c, given.follow, given.limit) : replay_events(c, given.replay);
  };
}

void add_changing(CLI::App& app, Given& given, std::map<CLI::App*, Run>& runs) {
  auto* apply_command = app.add_subcommand("apply", "do what waits for consent, and lift holds");
  apply_command->add_option("--accept", given.accept, "digest of the plan whose destruction is accepted");
  runs[apply_command] = [&](const Context& c) { return nvstripe::cli::apply(c, given.accept); };
  auto* hold_command = app.add_subcommand("hold", "keep the agent's hands off a volume, or off everything");
  auto* held = hold_command->add_option("volume", given.volume, "a volume, or an object such as export:NAME");
  hold_command->add_flag("--all", given.all, "everything")->excludes(held);
  runs[hold_command] = [&](const Context& c) {
    if (given.all == !given.volume.empty())
      return complain(c, nvstripe::Error{"nothing to hold is named", "name a volume, or say --all", {}}, kUsage);
    const bool object = given.volume.find(':') != std::string::npos || given.volume == "tuning";
    const std::string named = object ? given.volume : "volume:" + given.volume;
    return hold(c, given.all ? std::string("all") : named);
  };
  auto* release_command = app.add_subcommand("release", "unmount and disconnect a volume, leaving its data");
  release_command->add_option("volume", given.volume, "the volume's name")->required();
  runs[release_command] = [&](const Context& c) { return release(c, given.volume); };
  runs[app.add_subcommand("revert", "undo all tuning")] = revert;
  auto* identity_command = app.add_subcommand("identity", "show who this machine is to its targets");
  identity_command->require_subcommand(0, 1);
  runs[identity_command] = identity;
  runs[identity_command->add_subcommand("adopt", "record this machine's present identity")] = identity_adopt;
}

void add_files(CLI::App& app, Given& given, std::map<CLI::App*, Run>& runs) {
  auto* config = app.add_subcommand("config", "check and show the spec");
  config->require_subcommand(1);
  auto* check = config->add_subcommand("check", "check the spec folders, or one file");
  check->add_option("file", given.file, "a spec file; none: the spec folders")->check(CLI::ExistingFile);
  runs[check] = [&](const Context& c) { return config_check(c, given.file); };
  runs[config->add_subcommand("show", "print the merged spec with all values in force")] = config_show;
  runs[config->add_subcommand("schema", "print the JSON schema of the spec")] = config_schema;
  auto* bundle_command = app.add_subcommand("bundle", "capture this machine into a .tree file, without secrets");
  bundle_command->add_option("file", given.file, "where to; none: a name of its own in this folder");
  runs[bundle_command] = [&](const Context& c) { return bundle(c, given.file); };
}

void add_ending(CLI::App* end, Given& given) {
  end->add_option("--id", given.job.id, "the job's id");
  end->add_option("--name", given.job.name, "what people call it");
  end->add_option("--exit-status", given.job.exit_status, "what the job returned")->check(CLI::Range(0, 255));
  end->add_option("--signal", given.job.signal, "what it died of, such as TERM");
  end->add_option("--result", given.job.result, "success, failed, signalled, timeout, oom or unknown");
  end->add_option("--source", given.job.source, "how it came to be known; root only")->group("");
  auto* unit = end->add_flag("--from-unit", given.job.from_unit, "as a unit's ExecStopPost= is told");
  end->add_flag("--from-slurm", given.job.from_slurm, "as Slurm's epilog is told")->excludes(unit);
}

void add_jobs(CLI::App& app, Given& given, std::map<CLI::App*, Run>& runs) {
  auto* job = app.add_subcommand("job", "run jobs, and tell when they begin and end");
  job->require_subcommand(1);
  auto* run = job->add_subcommand("run", "run a command as a unit of its own, and wait for it");
  run->add_option("--id", given.job.id, "an id of one's own; none: one is drawn");
  run->add_option("--name", given.job.name, "what people call it");
  run->add_option("--env", given.job.environment, "NAME or NAME=VALUE to pass on; visible to all users")
      ->allow_extra_args(false);
  run->add_option("command", given.job.command, "after --, the command and its arguments")->required();
  runs[run] = [&](const Context& c) { return job_run(c, given.job); };
  auto* start = job->add_subcommand("start", "tell that a job has begun");
  start->add_option("--id", given.job.id, "the job's id");
  start->add_option("--name", given.job.name, "what people call it");
  auto* unit = start->add_flag("--from-unit", given.job.from_unit, "as a unit's ExecStartPre= is told");
  start->add_flag("--from-slurm", given.job.from_slurm, "as Slurm's job is told")->excludes(unit);
  runs[start] = [&](const Context& c) { return job_start(c, given.job); };
  auto* heartbeat = job->add_subcommand("heartbeat", "tell that a job still runs");
  heartbeat->add_option("--id", given.job.id, "the job's id")->required();
  runs[heartbeat] = [&](const Context& c) { return job_heartbeat(c, given.job); };
  auto* report = job->add_subcommand("report", "tell how busy a job's accelerators are");
  report->add_option("--id", given.job.id, "the job's id")->required();
  report->add_option("--accelerator-utilization", given.job.utilization, "a ratio from 0 to 1")->required();
  report->add_flag("--proxy", given.job.proxy, "it is what a driver counted, not what the job measured");
  runs[report] = [&](const Context& c) { return job_report(c, given.job); };
  auto* end = job->add_subcommand("end", "tell that a job has ended");
  add_ending(end, given);
  runs[end] = [&](const Context& c) { return job_end(c, given.job); };
  runs[job->add_subcommand("list", "list jobs that run, and the newest that ended")] = job_list;
}

bool has_command(const CLI::App& app, const std::string& name) {
  return !app.get_subcommands([&](const CLI::App* one) { return one->check_name(name); }).empty();
}

CLI::App* deepest(CLI::App* app) {
  const auto chosen = app->get_subcommands();
  return chosen.empty() ? app : deepest(chosen.front());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("nvstripe: NVMe drives, local and remote, as one striped and mounted volume");
  app.set_version_flag("--version", NVSTRIPE_VERSION);
  app.footer(
      "exit codes: 0 fine, 1 failed, 2 degraded or conflicts, 3 changes pending (plan), 4 not permitted,\n"
      "            5 agent not reachable, 64 usage");
  app.require_subcommand(1);
  app.fallthrough();
  Given given;
  app.add_option("-o,--output", given.format, "table, json or yaml")->check(CLI::IsMember({"table", "json", "yaml"}));
  app.add_option("--socket", given.socket, "the agent's socket")->group("");
  std::map<CLI::App*, Run> runs;
  add_reading(app, given, runs);
  add_changing(app, given, runs);
  add_files(app, given, runs);
  add_jobs(app, given, runs);
  if (argc > 1 && argv[1][0] != '-' && !has_command(app, argv[1]))
    return complain(
        Context{},
        nvstripe::Error{"there is no command '" + nvstripe::printable(argv[1]) + "'", "see 'nvstripe --help'", {}}, kUsage);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kFine : kUsage;
  }
  const auto run = runs.find(deepest(&app));
  return run == runs.end() ? kUsage : run->second(context_of(given));
}

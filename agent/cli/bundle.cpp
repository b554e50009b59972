// Owns `nvstripe bundle`: one .tree file with all that the collectors see here, the spec, the agent's records and answers,
// without secrets. `nvstripe plan --host FILE` reads it.
#include <unistd.h>

#include <ctime>
#include <fstream>

#include <fmt/core.h>

#include "agent/api/client.hpp"
#include "agent/api/spec_files.hpp"
#include "agent/cli/commands.hpp"
#include "agent/cli/recording_reader.hpp"
#include "agent/engine/tables.hpp"
#include "agent/host/command.hpp"
#include "agent/host/tools.hpp"
#include "agent/model/json.hpp"

namespace nvstripe::cli {
namespace {

std::string default_name() {
  char host[65] = "host";
  (void)::gethostname(host, sizeof host - 1);
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char when[32];
  (void)std::strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &parts);
  return fmt::format("nvstripe-{}-{}.tree", host, when);
}

// What the agent itself says; it need not run for a bundle to be useful.
void add_answers(const Context& context, RecordingReader& recorder) {
  for (const char* route : {"status", "plan", "inventory", "events?limit=1000", "identity", "spec"}) {
    const auto answer = api::exchange(context.socket, "GET", std::string("/v1/") + route);
    const std::string name = std::string(route).substr(0, std::string(route).find('?'));
    if (answer && answer->status == 200) recorder.add("/cmd/nvstripe." + name, answer->body + "\n");
  }
  const auto answer = api::exchange(context.socket, "GET", "/v1/records");
  const auto document = answer && answer->status == 200 ? json::parse(answer->body) : fail("no records");
  if (!document) return;
  std::string lines;
  for (const auto& record : list_of(*document, "records"))
    lines += text_of(record, "kind") + " " + text_of(record, "text") + "\n";
  recorder.add("/cmd/nvstripe.records", lines);
}

}  // namespace

int bundle(const Context& context, const std::string& file) {
  if (::geteuid() != 0)
    return complain(context, Error{"only root may read all that a bundle holds", "use sudo", {}}, kNotPermitted);
  const auto live = host::live_reader([](std::string_view command, const std::vector<std::string>& devices) {
    return host::read_output(host::live_runner(), command, devices);
  });
  RecordingReader recorder(*live);
  Spec spec;
  const auto texts = api::read_spec_folders(recorder);
  if (texts)
    if (const auto read = load_spec_or_error(*texts)) spec = *read;
  Inventory seen;
  for (const Collector& collector : all_collectors()) collector.observe(recorder, spec, seen);
  add_answers(context, recorder);
  const std::string name = file.empty() ? default_name() : file;
  std::ofstream out(name, std::ios::binary | std::ios::trunc);
  out << host::to_text(recorder.tree());
  out.close();
  if (!out)
    return complain(context, Error{"cannot write '" + name + "'", "name a file in a folder that is writable", {}}, kFailed);
  boost::json::object document = json::document();
  document["file"] = name;
  if (!print_document(context, document)) fmt::print("{}\n", name);
  return kFine;
}

}  // namespace nvstripe::cli

// Owns the in-process look. Records of the captured agent are read from its bundle; without them nothing is ours.
#include "agent/cli/captured.hpp"

#include "agent/api/spec_files.hpp"
#include "agent/base/text.hpp"
#include "agent/engine/observe.hpp"
#include "agent/host/reader.hpp"
#include "agent/model/json.hpp"
#include "agent/model/spec_read.hpp"

namespace nvstripe::cli {
namespace {

// cmd/nvstripe.records: a line a record, its kind, a blank and its JSON.
Facet<Records> captured_records(const host::Reader& reader) {
  Records records;
  const auto text = reader.file("/cmd/nvstripe.records");
  if (!text) return Facet<Records>::known(records);
  for (const std::string_view line : split(*text, '\n')) {
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const auto record = json::parse_record(line.substr(0, blank), line.substr(blank + 1));
    if (!record) return Facet<Records>::unavailable(record.error().what);
    records.put(*record);
  }
  return Facet<Records>::known(std::move(records));
}

Result<std::vector<SpecText>> spec_texts(const Machine& machine, const host::Reader& reader) {
  if (machine.spec.empty()) return api::read_spec_folders(reader);
  TRY(std::string text, api::read_regular(machine.spec));
  return std::vector<SpecText>{SpecText{machine.spec, std::move(text)}};
}

}  // namespace

int exit_code_for(const Error& error) { return error.cause == std::errc::invalid_argument ? kUsage : kFailed; }

Result<Captured> look_at(const Machine& machine) {
  TRY(const auto reader, host::captured_reader(machine.host));
  TRY(const std::vector<SpecText> texts, spec_texts(machine, *reader));
  Captured captured;
  if (!texts.empty()) {
    auto spec = load_spec_or_error(texts);
    if (!spec) spec.error().cause = std::make_error_code(std::errc::invalid_argument);
    TRY(captured.spec, std::move(spec));
  }
  captured.seen = observe(*reader, captured.spec);
  if (!captured.seen.records.is_known()) captured.seen.records = captured_records(*reader);
  if (!captured.seen.targets.is_known()) captured.seen.targets = Facet<std::vector<TargetView>>::known({});
  return captured;
}

}  // namespace nvstripe::cli

// Owns `nvstripe config`: check and show work on the files, without the agent; schema prints what may stand in them.
#include <fmt/core.h>

#include "agent/api/spec_files.hpp"
#include "agent/cli/commands.hpp"
#include "agent/model/json.hpp"
#include "agent/model/spec_fields.hpp"
#include "agent/model/spec_read.hpp"

namespace nvstripe::cli {
namespace {

Result<std::vector<SpecText>> texts_of(const std::string& file) {
  if (file.empty()) return api::read_spec_folders({kSpecFolders.begin(), kSpecFolders.end()});
  TRY(std::string text, api::read_regular(file));
  return std::vector<SpecText>{SpecText{file, std::move(text)}};
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

int print_errors(const Context& context, const SpecReading& reading) {
  boost::json::array errors;
  for (const SpecError& error : reading.errors)
    errors.emplace_back(boost::json::object{{"file", error.place.file},
                                            {"line", error.place.line},
                                            {"column", error.place.column},
                                            {"what", error.what},
                                            {"remedy", error.remedy}});
  boost::json::object document = json::document();
  document["ok"] = reading.errors.empty();
  document["errors"] = std::move(errors);
  if (!print_document(context, document))
    for (const SpecError& error : reading.errors) fmt::print(stderr, "{}\n", to_text(error));
  return reading.errors.empty() ? kFine : kUsage;
}

}  // namespace

int config_check(const Context& context, const std::string& file) {
  const auto texts = texts_of(file);
  if (!texts) return complain(context, texts.error(), kFailed);
  if (texts->empty())
    return complain(context, Error{"there is no spec", "write '/etc/nvstripe/nvstripe.yaml'", {}}, kFailed);
  const SpecReading reading = load_spec(*texts);
  const int code = print_errors(context, reading);
  if (code == kFine && context.format == Format::table)
    fmt::print("fine: {}, {}, {}\n", counted(reading.spec.exports.size(), "export"),
               counted(reading.spec.connections.size(), "connection"), counted(reading.spec.volumes.size(), "volume"));
  return code;
}

int config_show(const Context& context) {
  const auto texts = texts_of({});
  if (!texts) return complain(context, texts.error(), kFailed);
  const SpecReading reading = load_spec(*texts);
  if (!reading.errors.empty()) return print_errors(context, reading);
  const boost::json::object spec = json::to_json(reading.spec);
  if (!print_document(context, spec)) fmt::print("{}", json::yaml_text(spec));
  return kFine;
}

int config_schema(const Context& context) {
  const auto schema = json::parse(spec_schema());
  if (!schema) return complain(context, schema.error(), kFailed);
  if (!print_document(context, *schema)) fmt::print("{}", json::pretty_text(*schema));
  return kFine;
}

}  // namespace nvstripe::cli

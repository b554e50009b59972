// Owns reading and writing of tapes.
#include "agent/host/tape.hpp"

#include <boost/json.hpp>

#include "agent/base/text.hpp"

namespace nvstripe::host {
namespace {

Result<std::vector<std::string>> parse_argv(std::string_view text) {
  boost::system::error_code code;
  const auto value = boost::json::parse(boost::json::string_view(text.data(), text.size()), code);
  if (code || !value.is_array()) return fail("tape line '" + std::string(text) + "' is not a JSON array");
  std::vector<std::string> argv;
  for (const auto& argument : value.get_array()) {
    if (!argument.is_string()) return fail("tape line '" + std::string(text) + "' has an argument that is not a text");
    argv.emplace_back(argument.get_string());
  }
  return argv;
}

std::string argv_text(const std::vector<std::string>& argv) {
  boost::json::array array;
  for (const auto& argument : argv) array.emplace_back(argument);
  return boost::json::serialize(array);
}

Result<> set_outcome(TapeEntry& entry, std::string_view word) {
  if (word == "missing") {
    entry.missing = true;
  } else if (word == "timeout") {
    entry.result.timed_out = true;
  } else if (const auto number = parse_number(word)) {
    entry.result.exit_status = static_cast<int>(*number);
  } else {
    return fail("tape outcome '" + std::string(word) + "' is neither a number, 'timeout' nor 'missing'");
  }
  return {};
}

void tell_lines(const Command& command, std::string_view out) {
  if (!command.on_line) return;
  for (std::size_t begin = 0, end = 0; (end = out.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
    command.on_line(out.substr(begin, end - begin));
  }
}

}  // namespace

Result<std::vector<TapeEntry>> parse_tape(std::string_view text) {
  std::vector<TapeEntry> entries;
  for (const auto line : split(text, '\n')) {
    if (trim(line).empty() || line.starts_with('#')) continue;
    const auto rest = line.size() > 2 ? line.substr(2) : std::string_view();
    if (line.starts_with('>')) {
      TRY(auto argv, parse_argv(rest));
      entries.push_back({.argv = std::move(argv)});
      entries.back().result.exit_status = -1;
    } else if (entries.empty()) {
      return fail("tape line '" + std::string(line) + "' comes before any call");
    } else if (line.starts_with('=')) {
      CHECKED(set_outcome(entries.back(), trim(rest)));
    } else if (line.starts_with('|')) {
      entries.back().result.out += std::string(rest) + "\n";
    } else if (line.starts_with('!')) {
      entries.back().result.err += std::string(rest) + "\n";
    } else {
      return fail("tape line '" + std::string(line) + "' begins with none of '>', '=', '|', '!'");
    }
  }
  return entries;
}

std::string to_tape(const TapeEntry& entry) {
  std::string text = "> " + argv_text(entry.argv) + "\n= ";
  text += entry.missing ? "missing" : entry.result.timed_out ? "timeout" : std::to_string(entry.result.exit_status);
  text += "\n";
  const auto add = [&](std::string_view mark, std::string_view stream) {
    if (stream.ends_with('\n')) stream.remove_suffix(1);
    if (stream.empty()) return;
    for (const auto line : split(stream, '\n')) text += std::string(mark) + std::string(line) + "\n";
  };
  add("| ", entry.result.out);
  add("! ", entry.result.err);
  return text;
}

Result<CommandResult> TapeRunner::run(const Command& command) {
  const std::string called = argv_text(command.argv);
  if (next_ >= entries_.size() || entries_[next_].argv != command.argv) {
    if (unknown_.empty()) unknown_ = "call " + called + " is not the next one on the tape";
    return fail("call " + called + " is not the next one on the tape");
  }
  const TapeEntry& entry = entries_[next_++];
  if (entry.missing) {
    return fail("program '" + command.argv.front() + "' is not installed", "install it",
                std::error_code(ENOENT, std::system_category()));
  }
  tell_lines(command, entry.result.out);
  return entry.result;
}

std::string TapeRunner::complaint() const {
  if (!unknown_.empty()) return unknown_;
  if (next_ < entries_.size()) return "call " + argv_text(entries_[next_].argv) + " on the tape was not made";
  return {};
}

Result<CommandResult> RecordingRunner::run(const Command& command) {
  auto result = real_.run(command);
  TapeEntry entry{.argv = command.argv, .missing = !result};
  if (result) entry.result = *result;
  tape_ += to_tape(entry);
  return result;
}

}  // namespace nvstripe::host

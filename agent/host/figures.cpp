// Owns the parent's half: questions as arguments, answers as lines, and who said nothing.
#include "agent/host/figures.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "agent/base/text.hpp"
#include "agent/host/child.hpp"

namespace nvstripe::host {
namespace {

namespace json = boost::json;

std::string argument_of(const SpaceQuestion& question) { return "space=" + question.path; }
std::string argument_of(const HealthQuestion& question) { return "health=" + question.controller; }

std::string text_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(json::string_view(key.data(), key.size()));
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

std::uint64_t number_of(const json::object& object, std::string_view key) {
  const auto* value = object.if_contains(json::string_view(key.data(), key.size()));
  boost::system::error_code code;
  const auto number = value != nullptr && value->is_number() ? value->to_number<std::uint64_t>(code) : 0;
  return code ? 0 : number;
}

// Counters of 16 bytes; beyond 2^53 the last digits are lost, as in every metric.
double little(std::span<const std::uint8_t> log, std::size_t offset, std::size_t count) {
  double value = 0;
  for (std::size_t i = count; i > 0; --i) value = value * 256 + log[offset + i - 1];
  return value;
}

std::optional<std::vector<std::uint8_t>> bytes_of(std::string_view digits) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    const auto byte = parse_number(digits.substr(i, 2), 16);
    if (!byte) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(*byte));
  }
  return bytes;
}

bool take_space(const json::object& answer, const SpaceQuestion& question, Figures& figures) {
  if (text_of(answer, "device") != question.device_number) return false;
  figures.spaces[question.volume] = {number_of(answer, "size"), number_of(answer, "available"),
                                     number_of(answer, "inodes_free")};
  return true;
}

bool take_health(const json::object& answer, const HealthQuestion& question, Figures& figures) {
  const auto log = bytes_of(text_of(answer, "log"));
  if (text_of(answer, "serial") != question.serial || !log || log->size() != kSmartLogBytes) return false;
  figures.healths[question.device] = parse_smart_log(std::span<const std::uint8_t, kSmartLogBytes>(*log));
  return true;
}

}  // namespace

DriveHealth parse_smart_log(std::span<const std::uint8_t, kSmartLogBytes> log) {
  constexpr double kKelvin = 273, kUnit = 512'000, kPercent = 100, kHour = 3600;
  constexpr unsigned kSensors = 8;
  DriveHealth health;
  health.critical_warning = log[0];
  if (const double kelvin = little(log, 1, 2); kelvin > 0) health.celsius[0] = kelvin - kKelvin;
  health.spare_ratio = log[3] / kPercent;
  health.spare_threshold_ratio = log[4] / kPercent;
  health.used_ratio = log[5] / kPercent;
  health.read_bytes = little(log, 32, 16) * kUnit;
  health.written_bytes = little(log, 48, 16) * kUnit;
  health.power_on_seconds = little(log, 128, 16) * kHour;
  health.unsafe_shutdowns = little(log, 144, 16);
  health.media_errors = little(log, 160, 16);
  health.error_log_entries = little(log, 176, 16);
  for (unsigned sensor = 1; sensor <= kSensors; ++sensor) {
    const double kelvin = little(log, 198 + 2 * sensor, 2);
    if (kelvin > 0) health.celsius[sensor] = kelvin - kKelvin;
  }
  return health;
}

void take_answer(std::string_view line, const FiguresQuestions& questions, FiguresAnswers& answers) {
  boost::system::error_code code;
  const auto value = json::parse(json::string_view(line.data(), line.size()), code);
  if (code || !value.is_object()) return;
  const json::object& answer = value.get_object();
  const std::string asked = text_of(answer, "asked");
  for (const SpaceQuestion& question : questions.spaces) {
    if (argument_of(question) != asked) continue;
    answers.silent.erase(question.volume);
    if (!take_space(answer, question, answers.figures)) answers.failed.insert(question.volume);
  }
  for (const HealthQuestion& question : questions.healths) {
    if (argument_of(question) != asked) continue;
    answers.silent.erase(question.device.text);
    if (!take_health(answer, question, answers.figures)) answers.failed.insert(question.device.text);
  }
}

FiguresAnswers ask_figures(const FiguresQuestions& questions, std::chrono::milliseconds deadline, int cancel_fd) {
  FiguresAnswers answers;
  std::vector<std::string> arguments;
  for (const SpaceQuestion& question : questions.spaces) {
    arguments.push_back(argument_of(question));
    answers.silent.insert(question.volume);
  }
  for (const HealthQuestion& question : questions.healths) {
    arguments.push_back(argument_of(question));
    answers.silent.insert(question.device.text);
  }
  if (arguments.empty()) return answers;
  Command command = child_command("figures", deadline, arguments);
  command.cancel_fd = cancel_fd;
  command.on_line = [&](std::string_view line) { take_answer(line, questions, answers); };
  (void)run_command(command);  // what it did not tell is in `silent`
  return answers;
}

}  // namespace nvstripe::host

// Owns asking for figures that may hang where a drive is dead: the space of file systems and SMART. A child asks, one thread
// a question, and is left behind when it does not end in time.
#pragma once
#include <chrono>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/host/command.hpp"
#include "agent/model/figures.hpp"

namespace nvstripe::host {

struct SpaceQuestion {
  std::string volume, path, device_number;  // device_number: what must be mounted there; else it is another's space
  bool operator==(const SpaceQuestion&) const = default;
};
struct HealthQuestion {
  DeviceKey device;
  std::string controller, serial;  // kernel name in this look; the serial of what it must be by then
  bool operator==(const HealthQuestion&) const = default;
};
struct FiguresQuestions {
  std::vector<SpaceQuestion> spaces;
  std::vector<HealthQuestion> healths;
  bool operator==(const FiguresQuestions&) const = default;
};

struct FiguresAnswers {
  Figures figures;
  // Volumes and devices that said something else than was asked, or nothing within the deadline.
  std::set<std::string> failed, silent;
};

// `cancel_fd`: readable ends it at once; -1: none.
[[nodiscard]] FiguresAnswers ask_figures(const FiguresQuestions& questions, std::chrono::milliseconds deadline,
                                         int cancel_fd = -1);

// ---- the two ends of one line of the child, apart for tests
inline constexpr std::size_t kSmartLogBytes = 512;
[[nodiscard]] DriveHealth parse_smart_log(std::span<const std::uint8_t, kSmartLogBytes> log);
// What the line answers goes into `answers`; a line that answers none of the questions changes nothing.
void take_answer(std::string_view line, const FiguresQuestions& questions, FiguresAnswers& answers);

}  // namespace nvstripe::host

// Owns reading space and SMART in the background: about once a minute, by a child that can be left behind. Never in the way
// of a scrape or of the engine.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "agent/api/board.hpp"
#include "agent/base/fd.hpp"
#include "agent/daemon/tally.hpp"
#include "agent/host/figures.hpp"

namespace nvstripe::daemon {

// Volumes that are mounted, and local drives with a live controller, each asked once by its first namespace.
[[nodiscard]] host::FiguresQuestions figures_questions(const api::Snapshot& snapshot);

// When to ask what; without a thread of its own, for tests.
class FiguresRounds {
 public:
  using Clock = std::chrono::steady_clock;
  using Ask = std::function<host::FiguresAnswers(const host::FiguresQuestions&)>;
  FiguresRounds(Ask ask, Tally& tally) : ask_(std::move(ask)), tally_(tally) {}

  static constexpr std::chrono::seconds kEvery{60};
  // What was silent holds a thread or a process in the kernel; asking it each minute would pile them up.
  static constexpr std::chrono::seconds kRest{600};

  // Asks when a round is due, or when there is something that was never asked.
  void look(const api::Snapshot& snapshot, Clock::time_point now);

 private:
  [[nodiscard]] bool due(const host::FiguresQuestions& questions, Clock::time_point now) const;
  void round(host::FiguresQuestions questions, Clock::time_point now);
  [[nodiscard]] bool rests(const std::string& name, Clock::time_point now) const;

  Ask ask_;
  Tally& tally_;
  std::uint64_t serial_ = 0;
  host::FiguresQuestions questions_, asked_;
  Clock::time_point next_{};
  std::map<std::string, Clock::time_point> resting_;  // by volume or device, until when
};

class FiguresWatch {
 public:
  FiguresWatch(api::Board& board, Tally& tally);
  ~FiguresWatch();
  FiguresWatch(const FiguresWatch&) = delete;
  FiguresWatch& operator=(const FiguresWatch&) = delete;

 private:
  void run();

  api::Board& board_;
  Fd stop_;  // an eventfd: readable ends the child that asks
  FiguresRounds rounds_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace nvstripe::daemon

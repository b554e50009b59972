// Owns the rounds of questions and the thread that makes them.
#include "agent/daemon/figures_watch.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <set>

namespace nvstripe::daemon {
namespace {

constexpr std::chrono::seconds kLook{5};       // between looks for something new to ask
constexpr std::chrono::seconds kDeadline{10};  // of one round; a healthy drive answers in milliseconds

const NvmeController* live_controller(const BlockDevice& device, const Inventory& seen) {
  for (const NvmeController& controller : seen.controllers.value()) {
    const auto& names = device.controllers;
    if (controller.state == "live" && std::find(names.begin(), names.end(), controller.kernel_name) != names.end())
      return &controller;
  }
  return nullptr;
}

void ask_healths(const Inventory& seen, host::FiguresQuestions& questions) {
  std::map<std::string, const BlockDevice*> first;  // by controller: its namespace of the lowest number
  for (const BlockDevice& device : seen.blocks.value()) {
    if (device.kind != DeviceKind::local_ssd || !device.key.text.starts_with("nvme:") || seen.is_double(device)) continue;
    const NvmeController* controller = live_controller(device, seen);
    if (controller == nullptr) continue;
    const BlockDevice*& known = first[controller->kernel_name];
    if (known == nullptr || device.nsid < known->nsid) known = &device;
  }
  for (const auto& [controller, device] : first) questions.healths.push_back({device->key, controller, device->serial});
}

template <class Questions, class Name>
bool has_new(const Questions& questions, const Questions& asked, const Name& name) {
  return std::any_of(questions.begin(), questions.end(), [&](const auto& question) {
    return std::none_of(asked.begin(), asked.end(), [&](const auto& known) { return name(known) == name(question); });
  });
}

const std::string& name_of(const host::SpaceQuestion& question) { return question.volume; }
const std::string& name_of(const host::HealthQuestion& question) { return question.device.text; }
constexpr auto kName = [](const auto& question) -> const std::string& { return name_of(question); };

template <class Questions>
bool all_answered(const Questions& questions, const host::FiguresAnswers& answers) {
  return std::none_of(questions.begin(), questions.end(), [&](const auto& question) {
    return answers.failed.contains(kName(question)) || answers.silent.contains(kName(question));
  });
}

}  // namespace

host::FiguresQuestions figures_questions(const api::Snapshot& snapshot) {
  host::FiguresQuestions questions;
  const Inventory& seen = snapshot.pass.seen;
  for (const api::VolumeStatus& volume : api::status_of(snapshot).volumes) {
    const BlockDevice* device = seen.find(DeviceKey{volume.device});
    if (volume.mounted && device != nullptr)
      questions.spaces.push_back({volume.name, volume.mount_path, device->device_number});
  }
  ask_healths(seen, questions);
  return questions;
}

bool FiguresRounds::rests(const std::string& name, Clock::time_point now) const {
  const auto found = resting_.find(name);
  return found != resting_.end() && now < found->second;
}

bool FiguresRounds::due(const host::FiguresQuestions& questions, Clock::time_point now) const {
  return now >= next_ || has_new(questions.spaces, asked_.spaces, kName) ||
         has_new(questions.healths, asked_.healths, kName);
}

void FiguresRounds::look(const api::Snapshot& snapshot, Clock::time_point now) {
  if (snapshot.taken.empty()) return;
  if (snapshot.serial != serial_) questions_ = figures_questions(snapshot);
  serial_ = snapshot.serial;
  if (due(questions_, now)) round(questions_, now);
}

void FiguresRounds::round(host::FiguresQuestions questions, Clock::time_point now) {
  asked_ = questions;
  next_ = now + kEvery;
  std::set<std::string> resting;
  const auto rest = [&](const auto& question) {
    if (!rests(kName(question), now)) return false;
    resting.insert(kName(question));
    return true;
  };
  std::erase_if(questions.spaces, rest);
  std::erase_if(questions.healths, rest);
  const auto began = Clock::now();
  host::FiguresAnswers answers = ask_(questions);
  const Tally::Seconds took = Clock::now() - began;
  for (const std::string& name : answers.silent) resting_[name] = now + kRest;
  answers.silent.merge(resting);
  tally_.put_figures(std::move(answers.figures));
  tally_.collected(kSpaceCollector, took, all_answered(asked_.spaces, answers));
  tally_.collected(kHealthCollector, took, all_answered(asked_.healths, answers));
}

FiguresWatch::FiguresWatch(api::Board& board, Tally& tally)
    : board_(board),
      stop_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      rounds_([this](const host::FiguresQuestions& asked) { return host::ask_figures(asked, kDeadline, stop_.get()); },
              tally),
      thread_([this] { run(); }) {}

FiguresWatch::~FiguresWatch() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);  // cannot fail: it is written once
  wake_.notify_all();
  thread_.join();
}

void FiguresWatch::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    rounds_.look(*board_.snapshot(), std::chrono::steady_clock::now());
    lock.lock();
    wake_.wait_for(lock, kLook, [this] { return stopping_; });
  }
}

}  // namespace nvstripe::daemon

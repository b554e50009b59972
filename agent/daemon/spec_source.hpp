// Owns which spec is in force: reads the three folders, keeps the last good one when what lies there now is invalid,
// half-written or suddenly empty (law 9), and keeps its text on disk, so that a restart finds it too.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "agent/api/snapshot.hpp"
#include "agent/api/spec_files.hpp"
#include "agent/model/spec_read.hpp"

namespace nvstripe::daemon {

// Strict reading of all files together: load_spec_or_error(), or what a test gives.
using ParseSpec = std::function<Result<Spec>(const std::vector<SpecText>&)>;

struct SpecPlaces {
  std::vector<std::string> folders{kSpecFolders.begin(), kSpecFolders.end()};
  std::string last_good = "/var/lib/nvstripe/spec.last";
};

class SpecSource {
 public:
  enum class Outcome { unchanged, loaded, rejected };

  SpecSource(SpecPlaces places, ParseSpec parse, std::function<std::string()> now)
      : places_(std::move(places)), parse_(std::move(parse)), now_(std::move(now)) {}

  // Reads the kept last good spec, if there is one; the folders are compared with it by the first refresh().
  void restore();
  // Looks at the folders again. An emptied spec is taken only when `confirmed`: an operator said apply.
  [[nodiscard]] Outcome refresh(bool confirmed);
  [[nodiscard]] const api::SpecState& state() const { return state_; }
  // The folders to watch, conf.d included, those that exist.
  [[nodiscard]] std::vector<std::string> watched() const;

 private:
  [[nodiscard]] Outcome reject(std::string problem, std::string remedy);
  [[nodiscard]] Outcome take(Spec spec, std::vector<SpecText> texts);

  SpecPlaces places_;
  ParseSpec parse_;
  std::function<std::string()> now_;
  api::SpecState state_;
  std::vector<SpecText> in_force_;    // the texts that state_.spec was read from
  std::vector<SpecText> considered_;  // the texts last looked at, taken or rejected
  bool looked_ = false;
};

}  // namespace nvstripe::daemon

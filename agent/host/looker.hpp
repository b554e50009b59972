// Owns the parent's half of looks at devices: which may be asked, what is remembered, and the deadline. Results are kept by
// device number, disk sequence, time of the udev record and what was written, so that an idle machine is not read again and
// again.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/host/command.hpp"
#include "agent/host/signature.hpp"
#include "agent/model/inventory.hpp"

namespace nvstripe::host {

struct LookAsked {
  std::string device_number, path;
  Depth depth = Depth::both;
};

inline constexpr std::string_view kHeld = "held ";  // before a child's argument that asks with Depth::held

// Children's answers by device number; a device without one timed out.
using LookAnswers = std::map<std::string, LookAnswer>;
[[nodiscard]] LookAnswers look_in_child(const std::vector<LookAsked>& devices, std::chrono::milliseconds deadline);
[[nodiscard]] std::string to_line(const std::string& device_number, const LookAnswer& answer);
[[nodiscard]] Result<std::pair<std::string, LookAnswer>> parse_line(std::string_view line);

// Empty: it may be asked; else why not. Only local SSDs, remote namespaces and arrays are, and only when what serves them
// is live: a read of another controller sleeps until that comes back (law 12).
[[nodiscard]] std::string not_asked(const BlockDevice& device, const Inventory& seen);

inline constexpr std::int64_t kNoUdev = -1;

// What a device leaves behind when its content changes.
struct Traces {
  std::int64_t record_time = 0;  // of the udev record, nanoseconds; 0: none yet; kNoUdev: there is no udev to write one
  std::uint64_t sectors_written = 0;
  bool operator==(const Traces&) const = default;
};

class Looker {
 public:
  using Ask = std::function<LookAnswers(const std::vector<LookAsked>&, std::chrono::milliseconds)>;
  using TracesOf = std::function<Traces(const std::string& device_number)>;
  Looker();
  Looker(Ask ask, TracesOf traces_of) : ask_(std::move(ask)), traces_of_(std::move(traces_of)) {}

  // Sets look, reason, content and signatures of each device of `seen`.
  void fill(Inventory& seen, std::chrono::steady_clock::time_point now);
  // After a write of ours that udev may not tell of.
  void forget(const std::string& device_number) { kept_.erase(device_number); }
  void forget_all() { kept_.clear(); }

  // One dead drive that still counts as live may delay a look by this much, once.
  static constexpr std::chrono::seconds kDeadline{12};
  // How long a new device waits for udev: a look before its record is there has to be made again after it.
  static constexpr std::chrono::seconds kUdevPatience{10};
  // A device that timed out is left alone for a while.
  static constexpr std::chrono::seconds kRetryUnknown{30};

 private:
  struct Kept {
    std::uint64_t diskseq = 0;
    Depth depth = Depth::both;
    Traces traces;
    std::chrono::steady_clock::time_point until;
    LookAnswer answer;
  };
  [[nodiscard]] bool usable(const Kept& kept, const BlockDevice& device, std::chrono::steady_clock::time_point now) const;
  void keep(const BlockDevice& device, const LookAnswer& answer, std::chrono::steady_clock::time_point now,
            const Traces& traces);

  Ask ask_;
  TracesOf traces_of_;
  [[nodiscard]] bool waits_for_udev(const BlockDevice& device, const Traces& traces,
                                    std::chrono::steady_clock::time_point now);

  std::map<std::string, Kept> kept_;
  std::map<std::string, std::chrono::steady_clock::time_point> without_record_;  // since when, by device number
};

}  // namespace nvstripe::host

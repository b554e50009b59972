// Owns Event: something that happened, past tense, written in one transaction with the state change it tells of.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace nvstripe {

// One row of the table in event.cpp: every type there is, from which docs and checks are made.
struct EventType {
  std::string_view name;     // "io.nvstripe.volume.mounted.v1"
  std::string_view subject;  // shape of its subject: "volume/NAME"
  std::string_view summary;  // when it is emitted
  std::string_view data;     // keys of its data; those in brackets are not always there
};

struct Event {
  std::uint64_t epoch = 0;     // new whenever the state file was lost and begun anew
  std::uint64_t sequence = 0;  // rises by one within an epoch
  std::string id;              // stable: epoch and sequence
  std::string time;            // RFC 3339, UTC
  std::string type;            // a name from the table
  std::string subject;         // "volume/train"
  std::string data;            // JSON object text
  bool operator==(const Event&) const = default;
};

// Events of one stream arrive in order; a stream never waits for another, so that the end of a job is not kept back by bulk.
inline constexpr std::string_view kStateStream = "state", kJobStream = "jobs";
inline constexpr std::array kStreams{kStateStream, kJobStream};
[[nodiscard]] std::string_view stream_of(std::string_view type);
[[nodiscard]] std::size_t stream_index(std::string_view stream);  // in kStreams; an unknown name is the first

[[nodiscard]] std::span<const EventType> all_event_types();
[[nodiscard]] bool is_event_type(std::string_view name);
// The reference part of docs/events.md.
[[nodiscard]] std::string event_reference();

// The names, so that a misspelled one does not compile.
namespace event {
inline constexpr std::string_view kAgentStarted = "io.nvstripe.agent.started.v1";
inline constexpr std::string_view kAgentStopped = "io.nvstripe.agent.stopped.v1";
inline constexpr std::string_view kStateReset = "io.nvstripe.state.reset.v1";
inline constexpr std::string_view kEventsDropped = "io.nvstripe.events.dropped.v1";
inline constexpr std::string_view kEventRefused = "io.nvstripe.event.refused.v1";
inline constexpr std::string_view kIdentityRecorded = "io.nvstripe.identity.recorded.v1";
inline constexpr std::string_view kIdentityAdopted = "io.nvstripe.identity.adopted.v1";
inline constexpr std::string_view kSpecLoaded = "io.nvstripe.spec.loaded.v1";
inline constexpr std::string_view kSpecRejected = "io.nvstripe.spec.rejected.v1";
inline constexpr std::string_view kActionSucceeded = "io.nvstripe.action.succeeded.v1";
inline constexpr std::string_view kActionFailed = "io.nvstripe.action.failed.v1";
inline constexpr std::string_view kActionInterrupted = "io.nvstripe.action.interrupted.v1";
inline constexpr std::string_view kConflictFound = "io.nvstripe.conflict.found.v1";
inline constexpr std::string_view kConflictCleared = "io.nvstripe.conflict.cleared.v1";
inline constexpr std::string_view kExportMade = "io.nvstripe.export.made.v1";
inline constexpr std::string_view kExportWithdrawn = "io.nvstripe.export.withdrawn.v1";
inline constexpr std::string_view kConnectionMade = "io.nvstripe.connection.made.v1";
inline constexpr std::string_view kConnectionLost = "io.nvstripe.connection.lost.v1";
inline constexpr std::string_view kConnectionRestored = "io.nvstripe.connection.restored.v1";
inline constexpr std::string_view kConnectionFailed = "io.nvstripe.connection.failed.v1";
inline constexpr std::string_view kConnectionEnded = "io.nvstripe.connection.ended.v1";
inline constexpr std::string_view kArrayCreated = "io.nvstripe.array.created.v1";
inline constexpr std::string_view kArrayAssembled = "io.nvstripe.array.assembled.v1";
inline constexpr std::string_view kArrayStopped = "io.nvstripe.array.stopped.v1";
inline constexpr std::string_view kFilesystemCreated = "io.nvstripe.filesystem.created.v1";
inline constexpr std::string_view kVolumeCreated = "io.nvstripe.volume.created.v1";
inline constexpr std::string_view kVolumeMounted = "io.nvstripe.volume.mounted.v1";
inline constexpr std::string_view kVolumeUnmounted = "io.nvstripe.volume.unmounted.v1";
inline constexpr std::string_view kVolumeReleased = "io.nvstripe.volume.released.v1";
inline constexpr std::string_view kVolumeDataLost = "io.nvstripe.volume.data_lost.v1";
inline constexpr std::string_view kTuningApplied = "io.nvstripe.tuning.applied.v1";
inline constexpr std::string_view kTuningReverted = "io.nvstripe.tuning.reverted.v1";
inline constexpr std::string_view kHoldSet = "io.nvstripe.hold.set.v1";
inline constexpr std::string_view kHoldLifted = "io.nvstripe.hold.lifted.v1";
inline constexpr std::string_view kAcceptanceGiven = "io.nvstripe.acceptance.given.v1";
inline constexpr std::string_view kAcceptanceUsed = "io.nvstripe.acceptance.used.v1";
inline constexpr std::string_view kJobStarted = "io.nvstripe.job.started.v1";
inline constexpr std::string_view kJobEnded = "io.nvstripe.job.ended.v1";
}  // namespace event

}  // namespace nvstripe

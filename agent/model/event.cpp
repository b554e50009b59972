// Owns the table of event types: all that the agent ever says happened. A row is never changed in meaning; a new meaning is
// a new version of the name.
#include "agent/model/event.hpp"

#include <algorithm>
#include <array>

namespace nvstripe {
namespace {

constexpr std::array kEventTypes{
    EventType{event::kAgentStarted, "agent", "The daemon began to serve.", "version"},
    EventType{event::kAgentStopped, "agent", "The daemon ended in order. Nothing is unmounted or disconnected by that.", ""},
    EventType{event::kStateReset, "agent",
              "The state file was missing or damaged and a new one was begun; sequence numbers start again in a new epoch.",
              "reason, [set_aside]"},
    EventType{event::kEventsDropped, "outbox/STREAM",
              "The outbox was full, and its oldest unacknowledged events were given up: those of this stream from the first "
              "to the last of these sequences.",
              "stream, first, last, dropped_total"},
    EventType{event::kEventRefused, "outbox/STREAM",
              "The receiver refused an event for good; it was set aside, and `nvstripe events --dead` shows it.",
              "stream, sequence, type, reason"},
    EventType{event::kIdentityRecorded, "identity", "The host identity was settled for the first time and recorded.",
              "host, source"},
    EventType{event::kIdentityAdopted, "identity", "An operator settled a mismatch by `nvstripe identity adopt`.",
              "host, previous"},
    EventType{event::kSpecLoaded, "spec", "A changed spec was read, found valid and taken over.",
              "files, exports, connections, volumes"},
    EventType{event::kSpecRejected, "spec", "A changed spec is invalid or emptied; the last good one stays in force.",
              "errors"},
    EventType{event::kActionSucceeded, "OBJECT of the action", "An action was done, and its outcome is recorded.",
              "id, sentence, reason, risk"},
    EventType{event::kActionFailed, "OBJECT of the action",
              "An action stopped at a step that failed; it is tried again later.", "id, sentence, error, remedy"},
    EventType{event::kActionInterrupted, "action/NAME",
              "At start, an action was found whose intent is recorded and whose outcome is not; NAME is that of its id.",
              "id"},
    EventType{event::kConflictFound, "OBJECT of the conflict", "Something wanted will not be done, or waits.",
              "id, subject, why, remedy, standing"},
    EventType{event::kConflictCleared, "OBJECT of the conflict", "A conflict said before is gone.", "id, subject"},
    EventType{event::kExportMade, "export/NAME", "A drive or slice became visible to its host on this VM's ports.",
              "host, subsystem, nsid, drive, slice"},
    EventType{event::kExportWithdrawn, "export/NAME", "A namespace was taken away from its host.",
              "host, subsystem, nsid, drive, slice"},
    EventType{event::kConnectionMade, "connection/NAME", "A controller of a connection became live.",
              "subsystem, transport, address, port, why_transport"},
    EventType{event::kConnectionLost, "connection/NAME",
              "A controller left the state live by itself; I/O waits while the kernel reconnects.",
              "subsystem, transport, state"},
    EventType{event::kConnectionRestored, "connection/NAME", "A lost controller is live again.",
              "subsystem, transport, away_s"},
    EventType{event::kConnectionFailed, "connection/NAME", "A connection could not be made; it is tried again later.",
              "transport, error, remedy"},
    EventType{event::kConnectionEnded, "connection/NAME", "The agent disconnected a controller that nothing else needs.",
              "subsystem, transport"},
    EventType{event::kArrayCreated, "volume/NAME", "An md array or a logical volume was made on blank or accepted members.",
              "action, members, stack, generation"},
    EventType{event::kArrayAssembled, "volume/NAME", "An existing array of ours was started from all of its members.",
              "action, [members, stack, generation]"},
    EventType{event::kArrayStopped, "volume/NAME", "An array of ours was stopped; its data stays on the members.",
              "action, [members, stack, generation]"},
    EventType{event::kFilesystemCreated, "volume/NAME", "A file system was made.", "action, members, stack, generation"},
    EventType{event::kVolumeCreated, "volume/NAME", "A new volume is complete: array, file system and its record.",
              "members, stack, generation"},
    EventType{event::kVolumeMounted, "volume/NAME", "A volume is mounted and ready for use.",
              "action, [members, stack, generation]"},
    EventType{event::kVolumeUnmounted, "volume/NAME", "A volume is no longer mounted.",
              "action, [members, stack, generation]"},
    EventType{event::kVolumeReleased, "volume/NAME",
              "A volume was let go by `nvstripe release`: unmounted, stopped, disconnected; its data stays.",
              "[members, stack, generation]"},
    EventType{event::kVolumeDataLost, "volume/NAME",
              "A recorded volume has only blank members: its data is gone. Nothing is made anew by itself.",
              "id, subject, why, remedy, standing"},
    EventType{event::kTuningApplied, "tuning", "A kernel setting was changed.", "object, attribute, old, new, reason"},
    EventType{event::kTuningReverted, "tuning", "A kernel setting was given its old value again.",
              "object, attribute, value"},
    EventType{event::kHoldSet, "OBJECT held", "The agent's hands are off an object, by hold, release or revert.", "why"},
    EventType{event::kHoldLifted, "OBJECT held", "`nvstripe apply` lifted a hold.", ""},
    EventType{event::kAcceptanceGiven, "plan",
              "An operator gave a digest to `nvstripe apply --accept`; it covers the destructive plan of that digest and no "
              "other.",
              "digest"},
    EventType{event::kAcceptanceUsed, "plan", "An acceptance was used up by one apply.", "digest"},
    EventType{event::kJobStarted, "job/ID", "A job began, or told for the first time that it runs.",
              "name, source, uid, started"},
    EventType{event::kJobEnded, "job/ID",
              "A job ended: once for each job, however many told of it. An exit status that is not there is not known.",
              "name, source, uid, result, ended, [started, duration_s, reason, exit_status, signal, volumes, "
              "memory_peak_bytes, accelerator_utilization, accelerator_source]"},
};

}  // namespace

std::span<const EventType> all_event_types() { return kEventTypes; }

std::string_view stream_of(std::string_view type) {
  const bool of_jobs = type.starts_with("io.nvstripe.job.") || type.starts_with("io.nvstripe.receipt.");
  return of_jobs ? kJobStream : kStateStream;
}

std::size_t stream_index(std::string_view stream) { return stream == kJobStream ? 1 : 0; }

bool is_event_type(std::string_view name) {
  return std::any_of(kEventTypes.begin(), kEventTypes.end(), [&](const EventType& type) { return type.name == name; });
}

std::string event_reference() {
  std::string out = "| type | subject | when | data |\n|---|---|---|---|\n";
  for (const EventType& type : kEventTypes) {
    const auto cell = [&](std::string_view text) { out.append("| ").append(text.empty() ? "none" : text).append(" "); };
    cell("`" + std::string(type.name) + "`");
    cell(type.subject);
    cell(type.summary);
    cell(type.data);
    out += "|\n";
  }
  return out;
}

}  // namespace nvstripe

// Owns the daemon as a service: instance lock, store, socket, signals, readiness, watchdog, and its threads' beginning and
// end.
#pragma once

namespace nvstripe::daemon {

// Runs until SIGTERM or SIGINT; the exit status.
[[nodiscard]] int serve();

}  // namespace nvstripe::daemon

"""One QEMU process and its monitor (QMP). Knows nothing of what runs inside."""
import ctypes
import json
import os
import signal
import socket
import subprocess
import time

from errors import GuestSick, LabError, until

PR_SET_PDEATHSIG = 1


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def spawn(argv, log, outlive):
    """Starts a process in a session of its own, so that Ctrl-C is ours to handle; unless it shall
    outlive us, the kernel kills it when we die in whatever way."""
    with open(log, "ab") as out:
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                start_new_session=True,
                                preexec_fn=None if outlive else die_with_parent)


class Qmp:
    def __init__(self, path, timeout=20):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        until(lambda: not self.socket.connect_ex(path), timeout, f"monitor at '{path}'", every=0.05)
        self.lines = self.socket.makefile("r")
        self.events = []
        self._read()
        self("qmp_capabilities")

    def _read(self):
        line = self.lines.readline()
        if not line:
            raise GuestSick("QEMU closed its monitor")
        return json.loads(line)

    def __call__(self, command, **arguments):
        request = {"execute": command}
        if arguments:
            request["arguments"] = {name.replace("_", "-"): value for name, value in arguments.items()}
        self.socket.sendall(json.dumps(request).encode() + b"\n")
        while True:
            answer = self._read()
            if "event" in answer:
                self.events.append(answer)
            elif "error" in answer:
                raise LabError(f"monitor: {command}: {answer['error']['desc']}")
            else:
                return answer.get("return")

    def human(self, line):
        """A command of the old monitor, for what QMP has no short form of."""
        said = self("human-monitor-command", **{"command_line": line}).strip()
        if said and said != "OK":
            raise LabError(f"monitor: '{line}': {said}")

    def event(self, name, timeout, **wanted):
        """Waits for an event whose data has all of `wanted`."""
        def look():
            self("query-status")
            for event in self.events:
                data = event.get("data", {})
                if event["event"] == name and wanted.items() <= data.items():
                    self.events.remove(event)
                    return True
            return False
        until(look, timeout, f"QEMU's {name} for {wanted}", every=0.1)

    def save(self, path):
        """Stops the guest and writes its whole state to a file."""
        self("stop")
        self("migrate-set-parameters", max_bandwidth=8 << 30)
        self("migrate", uri=f"exec:cat >'{path}'")
        def done():
            status = self("query-migrate").get("status")
            if status == "failed":
                raise GuestSick("QEMU could not save the guest")
            return status == "completed"
        until(done, 120, "guest saved", every=0.1)

    def go_on(self):
        """After a start from a saved state: lets the guest run once it is loaded."""
        def loaded():
            status = self("query-status")["status"]
            if status == "inmigrate":
                return False
            if status not in ("paused", "running"):
                raise GuestSick(f"QEMU could not load the guest: {status}")
            return True
        until(loaded, 60, "guest loaded", every=0.05)
        self("cont")


class Process:
    """A running QEMU, started by us or found again by its pid."""

    def __init__(self, pid, child=None):
        self.pid = pid
        self.child = child

    def alive(self):
        if self.child:
            return self.child.poll() is None
        try:
            with open(f"/proc/{self.pid}/stat", encoding="ascii", errors="replace") as stat:
                return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
        except OSError:
            return False

    def wait_end(self, timeout):
        deadline = time.monotonic() + timeout
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.1)
        return True

    def kill(self):
        if self.alive():
            os.kill(self.pid, signal.SIGKILL)
            self.wait_end(20)


def ours(pid, word):
    """Is this still the process that we started, and not another one with its number?"""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            return word.encode() in line.read()
    except OSError:
        return False

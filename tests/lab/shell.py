"""One ssh connection to a guest, kept open and shared by its commands; each command has a deadline."""
import os
import shlex
import subprocess
import time
from dataclasses import dataclass

from errors import LabError
from qemu import spawn


@dataclass
class Result:
    rc: int
    out: str
    err: str
    seconds: float


class Shell:
    def __init__(self, name, port, key, folder, outlive=False):
        self.name = name
        self.port = port
        self.control = os.path.join(folder, f"{name}.ssh")
        self.log = os.path.join(folder, f"{name}.ssh.log")
        self.outlive = outlive
        self.master = None
        self.options = [
            "-F", "/dev/null", "-i", key, "-p", str(port), "-o", "BatchMode=yes",
            "-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=no",
            "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
            "-o", "GSSAPIAuthentication=no", "-o", "ConnectTimeout=10",
            "-o", "ServerAliveInterval=10", "-o", "ServerAliveCountMax=6",
        ]

    def login(self):
        """What a person types to get in."""
        return f"ssh {shlex.join(self.options[:-6])} root@127.0.0.1"

    def opened(self):
        """Is the shared connection there? If not, begins one; ask again."""
        if self.master and self.master.poll() is not None:
            self.master = None
        if os.path.exists(self.control):
            check = ["ssh", "-o", f"ControlPath={self.control}", "-O", "check", "root@127.0.0.1"]
            if subprocess.run(check, capture_output=True, check=False, timeout=10).returncode == 0:
                return True
            if not self.master:
                os.unlink(self.control)
        if not self.master:
            argv = ["ssh", *self.options, "-o", f"ControlPath={self.control}", "-MN", "root@127.0.0.1"]
            self.master = spawn(argv, self.log, self.outlive)
        return False

    def run(self, command, timeout, text=None):
        """Runs a command line in the guest; its end, or LabError at the deadline."""
        argv = ["ssh", *self.options, "-o", f"ControlPath={self.control}", "-o", "ControlMaster=no",
                "root@127.0.0.1", command]
        start = time.monotonic()
        quiet = {"stdin": subprocess.DEVNULL} if text is None else {"input": text}
        try:
            done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False,
                                  timeout=timeout, **quiet)
        except subprocess.TimeoutExpired as error:
            raise LabError(f"{self.name}: not done within {timeout} s: {command}") from error
        return Result(done.returncode, done.stdout, done.stderr, time.monotonic() - start)

    def copy(self, sources, target, timeout=120):
        argv = ["scp", *self.options[:4], "-P", str(self.port), *self.options[6:],
                "-o", f"ControlPath={self.control}", "-q", *sources, target]
        done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=timeout)
        if done.returncode:
            raise LabError(f"{self.name}: copy to '{target}': {done.stderr.strip()}")

    def close(self):
        if self.master and self.master.poll() is None:
            self.master.kill()
            self.master.wait()
        elif os.path.exists(self.control):
            subprocess.run(["ssh", "-o", f"ControlPath={self.control}", "-O", "exit", "root@127.0.0.1"],
                           capture_output=True, check=False, timeout=10)
        self.master = None
        if os.path.lexists(self.control):
            os.unlink(self.control)

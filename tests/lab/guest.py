"""One guest: its power, its drives, its link, and commands inside it. The only class scenarios hold."""
import hashlib
import json
import os
import re
import shlex
import shutil
import socket
import time

import drive as drives_
import image
import machine
from errors import GuestSick, LabError, until
from package import package_file
from qemu import Process, Qmp, ours, spawn
from shell import Shell

SICK = re.compile(r"Oops|Kernel panic|rcu.*(stall|starved)|soft lockup|timer wakeup didn't happen")
BOOT_SECONDS = 300
RESTORE_SECONDS = 60


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Guest:
    def __init__(self, role, folder, wire, base, drives=0, uuid=None, outlive=False):
        self.role = role
        self.name = role
        self.address = machine.address(role)
        self.folder = folder
        self.wire = wire
        self.uuid = uuid or machine.identity(role)["uuid"]
        self.outlive = outlive
        self.drives = drives_.drives(drives, role)
        self.kernel = os.path.join(base, "vmlinuz")
        self.initrd = os.path.join(base, "initrd.img")
        self.key = os.path.join(base, "key")
        self.disk = self._path("qcow2")
        self.console = self._path("console")
        self.extra = ""
        self.seed = None
        self.process = None
        self.qmp = None
        self.shell = None
        self.ready_ = False
        self.restored = False

    # Power

    def restore(self, saved):
        """Starts from a role's saved state; returns at once, the first command waits."""
        image.overlay(os.path.join(saved, "disk.qcow2"), self.disk, "qcow2")
        own = os.path.join(saved, "initrd.img")
        self.initrd = own if os.path.exists(own) else self.initrd
        self._launch(["-incoming", f"exec:cat '{os.path.join(saved, 'state')}'"])
        self.restored = True

    def start(self):
        """Cold start with the drives that are in; returns at once, the first command waits."""
        extra = []
        for drive in self.drives:
            if drive.port >= 0 or self._plug(drive):
                extra += ["-drive", drive.backing(), "-device", drive.device()]
        if self.seed:
            extra += ["-drive", f"if=none,id=seed,file={self.seed},format=raw,readonly=on",
                      "-device", f"virtio-blk-pci,drive=seed,bus=rp{machine.ROOT_PORTS - 1}"]
        self._launch(extra)
        self.restored = False

    def ready(self):
        """Waits until commands can be run in it, and all its drives are seen."""
        if self.ready_:
            return self
        if self.restored:
            self.qmp.go_on()
        limit = RESTORE_SECONDS if self.restored else BOOT_SECONDS
        until(self._answers, limit, f"'{self.role}' answers", every=0.2)
        self.ready_ = True
        if self.restored:
            self.run(f"date -s @{time.time():.3f} >/dev/null")
            for drive in self.drives:
                if drive.port < 0:
                    self._attach(drive)
        self._see(self.drives)
        return self

    def power_off(self, timeout=120):
        """Clean shutdown; returns the seconds until the power was off."""
        self.ready()
        begin = time.monotonic()
        self.run("systemctl poweroff --no-block", check=False)
        if not self.process.wait_end(timeout):
            raise LabError(f"'{self.role}' not off within {timeout} s")
        self._gone()
        return time.monotonic() - begin

    def reboot(self, timeout=120):
        """Clean shutdown and cold start, by the initrd that is now in its /boot."""
        self.refresh_initrd()
        self.power_off(timeout)
        self.start()
        return self.ready()

    def kill(self):
        """Power cut: the drives keep what was written to them."""
        if self.process:
            self.process.kill()
        self._gone()

    def refresh_initrd(self):
        """The machine's firmware has no boot loader here: fetch the initrd it would have read."""
        own = self.run("sha256sum /boot/initrd.img-* | cut -d' ' -f1").out.strip()
        with open(self.initrd, "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() == own:
                return
        kept = self._path(f"initrd.{own[:12]}")
        if not os.path.exists(kept):
            name = self.run("echo /boot/initrd.img-*").out.strip()
            self.shell.copy([f"root@127.0.0.1:{name}"], kept)
        self.initrd = kept

    def record(self):
        """What another process needs to take this guest over with attach()."""
        return {"role": self.role, "pid": self.process.pid, "port": self.shell.port,
                "initrd": self.initrd, "kernel": self.kernel, "key": self.key, "uuid": self.uuid,
                "extra": self.extra, "seed": self.seed,
                "drives": [vars(drive) for drive in self.drives]}

    def attach(self, record):
        """Takes over a guest that another process started and left running."""
        for name in ("initrd", "kernel", "key", "uuid", "extra", "seed"):
            setattr(self, name, record[name])
        self.drives = [drives_.Drive(**fields) for fields in record["drives"]]
        self.process = Process(record["pid"])
        self.shell = Shell(self.role, record["port"], self.key, self.folder, self.outlive)
        if ours(record["pid"], self.folder):
            self.qmp = Qmp(self._path("qmp"))
            self.ready_ = self.shell.opened()
        else:
            self.process = None
        return self

    # Commands

    def run(self, command, timeout=60, check=True, text=None):
        """Runs a command line, or a list of words, as root; gives rc, out, err, seconds."""
        self.ready()
        if not isinstance(command, str):
            command = shlex.join(command)
        done = self.shell.run(command, timeout, text)
        if done.rc == 255 and not self.process.alive():
            raise GuestSick(f"'{self.role}' died during: {command}")
        if check and done.rc:
            raise LabError(f"{self.role}: exit code {done.rc}: {command}\n{(done.out + done.err)[-3000:]}")
        return done

    def out(self, command, timeout=60):
        return self.run(command, timeout).out.strip()

    def json(self, command, timeout=60, check=True):
        done = self.run(command, timeout, check)
        try:
            return json.loads(done.out)
        except ValueError as error:
            raise LabError(f"{self.role}: no JSON (exit code {done.rc}): {command}\n"
                           f"{(done.out + done.err)[-2000:]}") from error

    def write(self, path, text, mode="0644"):
        place = shlex.quote(path)
        self.run(f"mkdir -p $(dirname {place}) && cat >{place} && chmod {mode} {place}", text=text)

    def read(self, path):
        return self.run(["cat", path]).out

    def copy_in(self, path, target="/root/"):
        self.ready()
        self.shell.copy([path], f"root@127.0.0.1:{target}")

    def copy_out(self, path, target):
        self.ready()
        self.shell.copy([f"root@127.0.0.1:{path}"], target)

    def install_package(self, deb=None):
        """dpkg -i of the package under test; writing the initrd takes a minute here."""
        self.copy_in(deb or package_file(), "/root/nvstripe.deb")
        return self.run("dpkg -i /root/nvstripe.deb", timeout=400)

    def until(self, command, timeout, every=0.5):
        """Waits until a command's exit code is 0; gives its last result."""
        def look():
            done = self.run(command, check=False)
            if done.rc:
                raise LabError((done.out + done.err).strip()[-500:])
            return done
        return until(look, timeout, f"{self.role}: {command}", every)

    # Drives and link

    def hotplug(self, drive):
        """Puts a drive in (a Drive, or its fields) and waits until the guest has seen it."""
        if isinstance(drive, dict):
            drive = drives_.Drive(**{"serial": f"{self.role}-{len(self.drives) + 1}", **drive})
        self.ready()
        self._attach(drive)
        self.drives.append(drive)
        self._see([drive])
        return drive

    def unplug(self, drive):
        """Takes a drive out; its file stays, and hotplug() puts it back."""
        self.ready()
        gone = f"dev{drive.id}"
        self.qmp("device_del", id=gone)
        self.qmp.event("DEVICE_DELETED", 30, device=gone)
        drive.port = -1
        self.drives.remove(drive)

    def throttle(self, drive, bps):
        """Limits a drive that is in to so many bytes a second, 0 for no limit."""
        self.ready()
        zero = {name: 0 for name in ("bps_rd", "bps_wr", "iops", "iops_rd", "iops_wr")}
        self.qmp("block_set_io_throttle", device=drive.id, bps=bps, **zero)
        drive.bps = bps

    def device(self, drive):
        """The guest's block device of a drive, by its serial."""
        return self.out(f"for c in $(grep -lxE '{drive.serial} *' /sys/class/nvme/nvme*/serial); do "
                        "d=${c%/serial}; grep -qx pcie $d/transport && ls -d $d/nvme*n* | "
                        "sed 's:.*/:/dev/:'; done; true")

    def link(self, state):
        """Pulls ('down') or puts back ('up') the storage network's cable."""
        self.ready()
        self.qmp("set_link", name="eth1", up=state == "up")

    def sick(self):
        """What on the console says that emulation, not the software, went wrong; else None."""
        if not os.path.exists(self.console):
            return None
        with open(self.console, encoding="utf-8", errors="replace") as text:
            found = SICK.search(text.read())
        return found and found.group(0)

    # Inside

    def _path(self, kind):
        return os.path.join(self.folder, f"{self.role}.{kind}")

    def _launch(self, extra):
        net, peer = self.wire.join(self.role)
        port = free_port()
        files = {"kernel": self.kernel, "initrd": self.initrd, "disk": self.disk, "port": port,
                 "console": self.console, "qmp": self._path("qmp"), "net": net, "peer": peer}
        if os.path.lexists(files["qmp"]):
            os.unlink(files["qmp"])
        argv = machine.arguments(self.role, files, self.uuid, self.extra) + extra
        child = spawn(argv, self._path("qemu.log"), self.outlive)
        self.process = Process(child.pid, child)
        self.shell = Shell(self.role, port, self.key, self.folder, self.outlive)
        self.ready_ = False
        try:
            self.qmp = Qmp(files["qmp"])
        except LabError as error:
            with open(self._path("qemu.log"), encoding="utf-8", errors="replace") as log:
                raise GuestSick(f"'{self.role}' did not start: {log.read()[-1000:]}") from error

    def _answers(self):
        if not self.process.alive():
            raise GuestSick(f"'{self.role}' died while starting: {self.sick()}")
        if self.sick():
            raise GuestSick(f"'{self.role}': {self.sick()}")
        return self.shell.opened() and self.shell.run("true", 15).rc == 0

    def _gone(self):
        if self.shell:
            self.shell.close()
        if self.qmp:
            self.qmp.socket.close()
        self.qmp = None
        self.ready_ = False

    def _plug(self, drive):
        taken = {one.port for one in self.drives}
        drive.port = next(port for port in range(machine.ROOT_PORTS) if port not in taken)
        drive.make(self.folder)
        return True

    def _attach(self, drive):
        self._plug(drive)
        self.qmp.human(f"drive_add 0 {drive.backing()}")
        driver, *rest = drive.device().split(",")
        self.qmp.human(f"device_add {driver},{','.join(rest)}")

    def _see(self, drives):
        """Waits until the guest's kernel and udev have all of these."""
        if not drives:
            return
        wanted = {drive.serial for drive in drives}
        def look():
            return wanted <= set(self.out("cat /sys/class/nvme/nvme*/serial 2>/dev/null || true").split())
        until(look, 30, f"'{self.role}' sees {', '.join(sorted(wanted))}", every=0.3)
        self.run("udevadm settle")

    def collect(self, folder):
        """Leaves what a person needs to see why it failed."""
        for kind in ("console", "qemu.log", "ssh.log"):
            if os.path.exists(self._path(kind)):
                shutil.copy(self._path(kind), folder)
        if not (self.process and self.process.alive() and self.ready_):
            return
        looks = {"journal": "journalctl -b --no-pager", "kernel": "dmesg",
                 "block": "lsblk -O -J; cat /proc/mdstat; cat /proc/self/mountinfo",
                 "status": "nvstripe status -o json; nvstripe events -o json"}
        for name, command in looks.items():
            try:
                done = self.shell.run(command, 30)
            except LabError as error:
                done = error
            with open(os.path.join(folder, f"{self.role}.{name}"), "w", encoding="utf-8") as file:
                file.write(getattr(done, "out", str(done)))

"""A run of the lab: its folder, its guests, its end. What a run starts it ends, by pid, in whatever
way it ends itself, unless it is told to keep."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

import image
import machine
from drive import MIB, Drive
from errors import GuestSick, LabError, until as until_
from guest import Guest
from package import package_file
from wire import Wire

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
__all__ = ["Drive", "GuestSick", "Lab", "LabError", "MIB"]
DEFAULT_DRIVES = {"store": 4}


def patiently(what, make):
    """Calls make(lab) in a run of its own, again when emulation let the guest die."""
    for attempt in range(3):
        with Lab() as lab:
            try:
                return make(lab)
            except GuestSick as sick:
                if attempt == 2:
                    raise
                image.say(f"{sick}; {what} again")


def save(guest, work, backing, form):
    """Leaves a guest's state and disk in a folder of the cache, and ends it."""
    guest.shell.close()
    guest.qmp.save(os.path.join(work, "state"))
    guest.qmp("quit")
    guest.process.wait_end(30)
    subprocess.run(["qemu-img", "rebase", "-u", "-b", backing, "-F", form, guest.disk], check=True)
    shutil.move(guest.disk, os.path.join(work, "disk.qcow2"))


def boot_once(role):
    """For image.role(): boots a role without drives, waits until it is at rest, saves it."""
    def boot(work, base):
        def make(lab):
            guest = lab.guests[role] = Guest(role, lab.folder, lab.wire, base)
            image.overlay(os.path.join(base, "root.img"), guest.disk, "raw")
            guest.start()
            settle(guest)
            save(guest, work, os.path.join(base, "root.img"), "raw")
        patiently(f"booting '{role}'", make)
    return boot


def install_once(role, base, deb):
    """For image.with_package(): a role's saved guest gets the package and is saved again."""
    def install(work, role_folder):
        def make(lab):
            guest = lab.guests[role] = Guest(role, lab.folder, lab.wire, base)
            guest.restore(role_folder)
            guest.install_package(deb)
            guest.refresh_initrd()
            shutil.copyfile(guest.initrd, os.path.join(work, "initrd.img"))
            guest.run("sync")
            save(guest, work, os.path.join(role_folder, "disk.qcow2"), "qcow2")
        patiently(f"installing in '{role}'", make)
    return install


def settle(guest):
    """Lets the boot end and has in memory what every scenario runs first."""
    guest.ready()
    state = guest.run("systemctl is-system-running --wait", timeout=240, check=False).out.strip()
    if state != "running":
        failed = guest.run("systemctl --failed --no-pager", check=False).out
        raise LabError(f"'{guest.role}' is '{state}' after its boot:\n{failed}")
    guest.run("udevadm settle; rdma link show rxe0/1 >/dev/null; modprobe -a nvme xfs raid0 dm_mod; "
              "for p in mdadm nvme lvm mkfs.xfs fio jq dpkg sha256sum mount findmnt lsblk; do "
              "f=$(command -v $p) && cat $f $(ldd $f | grep -o '/[^ ]*') >/dev/null; done; sync; sleep 2",
              timeout=120)


def saved(role, base, package):
    """The cached folder that a role starts from."""
    folder = image.role(role, boot_once(role))
    if package:
        deb = package_file()
        folder = image.with_package(folder, deb, install_once(role, base, deb))
    return folder


class Lab:
    MIB = MIB

    def __init__(self, keep=False, folder=None):
        self.keep = keep
        self.folder = folder or tempfile.mkdtemp(prefix="nvlab-", dir="/var/tmp")
        self.wire = Wire(self.folder, outlive=keep)
        self.guests = {}
        self.notes = []

    def guest(self, role, drives=None, package=False, cold=False, uuid=None, seed=None):
        """Starts a guest: store, compute or compute2. Returns at once; its first command waits.
        drives: a number, or a list of tables of Drive's fields. cold: boots in place of restoring,
        which another DMI uuid or a cloud-init seed needs. package: with ours installed."""
        if role not in machine.ROLES:
            raise LabError(f"no role '{role}': {', '.join(machine.ROLES)}")
        count = DEFAULT_DRIVES.get(role, 0) if drives is None else drives
        base = image.root()
        guest = Guest(role, self.folder, self.wire, base, count, uuid, self.keep)
        self.guests[role] = guest
        if cold or uuid or seed:
            image.overlay(os.path.join(base, "root.img"), guest.disk, "raw")
            guest.seed = seed
            guest.extra = "cloud-init=enabled" if seed else ""
            guest.start()
        else:
            guest.restore(saved(role, base, package))
        return guest

    def pair(self, store=None, compute=None, package=False):
        """The usual two; numbers or lists of drives for each."""
        first = self.guest("store", store, package)
        second = self.guest("compute", compute, package)
        return first.ready(), second.ready()

    def install_package(self, *guests):
        """dpkg -i of the package under test in each."""
        for guest in guests:
            guest.install_package()

    def until(self, look, timeout, what, every=0.5):
        return until_(look, timeout, what, every)

    def note(self, text):
        """A measured figure or a step, printed with the scenario's result."""
        self.notes.append(text)

    def skip(self, why):
        raise Skipped(why)

    def sick(self):
        for guest in self.guests.values():
            word = guest.sick()
            if word:
                return f"'{guest.role}': {word}"
            if guest.process and guest.ready_ and not guest.process.alive():
                return f"'{guest.role}' died"
        return None

    def collect(self, folder):
        os.makedirs(folder, exist_ok=True)
        for guest in self.guests.values():
            guest.collect(folder)

    def close(self):
        for guest in self.guests.values():
            guest.kill()
        self.wire.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if not self.keep:
            self.close()


class Skipped(Exception):
    """A scenario that cannot say anything here, and why."""


def tell(run):
    """For a run whose guests stay up: how to get in, and how to end it."""
    for guest in run.guests.values():
        if guest.process and guest.process.alive():
            print(f"{guest.role}: {guest.shell.login()}\n  ends with: kill {guest.process.pid}")
    print(f"drives and consoles: {run.folder}")


def end_on_signals():
    """Makes SIGTERM and SIGHUP end a run as Ctrl-C does, so that guests are ended."""
    def stop(number, frame):
        raise KeyboardInterrupt
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    sys.stdout.reconfigure(line_buffering=True)

"""Builds and caches what guests start from: the root file system, and for each role a guest booted
once and saved. Everything is made under another name and renamed when it is whole."""
import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time

import host
import machine

HERE = os.path.dirname(os.path.abspath(__file__))
RECIPE = os.path.join(HERE, "image")
KEPT_HOURS = {"root": 168, "role": 168, "deb": 4}
LEFT_OUT = (
    "/usr/share/man/*", "/usr/share/doc/*", "/usr/share/info/*", "/usr/share/locale/*",
    *(f"/lib/modules/*/kernel/{folder}/*" for folder in (
        "sound", "drivers/gpu", "drivers/media", "drivers/net/wireless", "drivers/staging",
        "drivers/isdn", "drivers/iio", "drivers/hwmon", "drivers/bluetooth", "net/bluetooth",
        "net/wireless", "net/mac80211", "arch/x86/kvm")),
)
ROOT_SIZE = "4G"


def say(text):
    print(f"lab: {text}", file=sys.stderr, flush=True)


def cache():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.environ.get("NVSTRIPE_LAB_CACHE") or os.path.join(base, "nvstripe-lab")
    os.makedirs(folder, exist_ok=True)
    return folder


@contextlib.contextmanager
def made(name):
    """Gives (final, work): final is the cached folder, work is None when it is there already, else
    an empty folder that becomes final when the block ends well. One maker at a time."""
    final = os.path.join(cache(), name)
    with open(os.path.join(cache(), f".{name}.lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.path.isdir(final):
            os.utime(final)
            yield final, None
            return
        work = f"{final}.new"
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        yield final, work
        os.rename(work, final)


def forget_old():
    """Removes what no run has used for long; using a folder sets its time."""
    for name in os.listdir(cache()):
        folder = os.path.join(cache(), name)
        hours = KEPT_HOURS.get(name.split("-")[0])
        if hours and os.path.isdir(folder) and not name.endswith(".new"):
            if time.time() - os.stat(folder).st_mtime > hours * 3600:
                shutil.rmtree(folder, ignore_errors=True)


def recipe_key():
    digest = hashlib.sha256(repr((LEFT_OUT, ROOT_SIZE)).encode())
    for folder, folders, files in os.walk(RECIPE):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                mode = os.stat(path).st_mode & 0o111
                digest.update(f"{os.path.relpath(path, RECIPE)} {mode}".encode() + file.read())
    return digest.hexdigest()[:12]


def packages():
    with open(os.path.join(RECIPE, "packages"), encoding="ascii") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def root():
    """The folder with root.img, vmlinuz, initrd.img and the key to log in with."""
    with made(f"root-{recipe_key()}") as (final, work):
        if work:
            host.prepare()
            forget_old()
            start = time.monotonic()
            say("making the guests' root file system")
            build_root(work)
            say(f"root file system made in {time.monotonic() - start:.0f} s")
    return final


def build_root(work):
    tree = os.path.join(work, "tree")
    key = os.path.join(work, "key")
    log = os.path.join(cache(), "mmdebstrap.log")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", key], check=True)
    step = f"LAB_PUBLIC_KEY='{key}.pub' '{RECIPE}/customize'"
    argv = ["mmdebstrap", "--mode=root", "--variant=minbase", "--include=" + ",".join(packages()),
            *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
            f'--essential-hook={step} files "$1"', f'--customize-hook={step} units "$1"',
            "bookworm", tree]
    with open(log, "wb") as out:
        if subprocess.run(argv, stdout=out, stderr=out, check=False).returncode:
            out.flush()
            with open(log, encoding="utf-8", errors="replace") as text:
                raise SystemExit(f"lab: mmdebstrap failed, all of it in '{log}':\n{text.read()[-3000:]}")
    boot = os.path.join(tree, "boot")
    for kind in ("vmlinuz", "initrd.img"):
        found = [name for name in os.listdir(boot) if name.startswith(kind + "-")]
        shutil.copyfile(os.path.join(boot, found[0]), os.path.join(work, kind))
    subprocess.run(["mkfs.ext4", "-q", "-F", "-L", "root", "-J", "size=32", "-d", tree,
                    os.path.join(work, "root.img"), ROOT_SIZE], check=True, stdout=subprocess.DEVNULL)
    shutil.rmtree(tree)


def role(name, boot):
    """The folder with disk.qcow2 and state of a role's guest as it was just after its one boot;
    `boot(folder, root)` makes these two."""
    base = root()
    key = os.path.basename(base).removeprefix("root-") + "-" + machine.key()
    with made(f"role-{name}-{key}") as (final, work):
        if work:
            start = time.monotonic()
            say(f"booting '{name}' once")
            boot(work, base)
            say(f"'{name}' booted and saved in {time.monotonic() - start:.0f} s")
    os.utime(base)
    return final


def with_package(role_folder, deb, install):
    """As role(), with the package in: `install(folder, role_folder)` makes disk.qcow2, state and
    the initrd.img that its next boot reads."""
    with open(deb, "rb") as file:
        content = hashlib.sha256(file.read()).hexdigest()[:12]
    name = os.path.basename(role_folder).replace("role-", "deb-", 1)
    with made(f"{name}-{content}") as (final, work):
        if work:
            forget_old()
            start = time.monotonic()
            install(work, role_folder)
            say(f"package put into '{name.split('-')[1]}' in {time.monotonic() - start:.0f} s")
    os.utime(role_folder)
    return final


def overlay(backing, path, form):
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-b", backing, "-F", form, path],
                   check=True)

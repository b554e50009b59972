"""What the lab needs of the machine that runs it: finds what is missing and installs it (Debian 12
or 13, root, apt). Changes nothing when all is there."""
import os
import shutil
import subprocess

COMMANDS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "qemu-img": "qemu-utils",
    "mmdebstrap": "mmdebstrap",
    "mcopy": "mtools",
    "mkfs.vfat": "dosfstools",
    "mkfs.ext4": "e2fsprogs",
    "debugfs": "e2fsprogs",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "zstd": "zstd",
}


def missing_packages():
    os.environ["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    missing = {package for command, package in COMMANDS.items() if not shutil.which(command)}
    if not os.path.exists("/usr/share/keyrings/debian-archive-keyring.gpg"):
        missing.add("debian-archive-keyring")
    return sorted(missing)


def prepare():
    missing = missing_packages()
    if not missing:
        return
    print(f"lab: installing {' '.join(missing)}", flush=True)
    apt = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300"]
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", *missing]):
        subprocess.run(apt + arguments, env=environment, check=True, stdout=subprocess.DEVNULL)

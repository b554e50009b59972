"""The emulated machine: one place for every QEMU argument that a snapshot depends on. Starts and
holds nothing; `qemu.py` does."""
import hashlib
import subprocess
import uuid

KERNEL_WORDS = (
    "root=/dev/vda rw console=ttyS0 net.ifnames=0 mitigations=off oops=panic panic=1 "
    "random.trust_cpu=on systemd.show_status=0"
)
ROOT_PORTS = 20
ROLES = ("store", "compute", "compute2")


def identity(role):
    """UUIDs of a role: the same at every run, different between roles and between kinds."""
    def make(kind):
        return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{kind}.{role}.lab.invalid"))
    return {"uuid": make("dmi"), "machine_id": make("machine").replace("-", ""),
            "hostid": make("host"), "number": ROLES.index(role) + 1}


def address(role):
    return f"10.9.0.{ROLES.index(role) + 1}"


def kernel_line(role, extra=""):
    me = identity(role)
    words = [KERNEL_WORDS, f"lab.hostname={role}", f"lab.machine_id={me['machine_id']}",
             f"lab.hostid={me['hostid']}", extra or "cloud-init=disabled"]
    return " ".join(words)


def arguments(role, files, uuid_=None, extra=""):
    """QEMU's command line. `files` names kernel, initrd, disk, console, qmp, net, peer and the
    ssh port. hpet=off: with it, guests die now and then under emulation."""
    me = identity(role)
    number = me["number"]
    argv = [
        "qemu-system-x86_64", "-name", role, "-M", "q35,hpet=off",
        "-accel", "tcg,thread=multi,tb-size=512", "-cpu", "max", "-smp", "2", "-m", "1536",
        "-uuid", uuid_ or me["uuid"], "-display", "none", "-nodefaults", "-no-user-config",
        "-no-reboot", "-rtc", "base=utc",
        "-kernel", files["kernel"], "-initrd", files["initrd"],
        "-append", kernel_line(role, extra),
        "-drive", f"if=none,id=root,file={files['disk']},format=qcow2,cache=unsafe,discard=unmap",
        "-device", "virtio-blk-pci,drive=root,addr=0x2",
        "-netdev", f"user,id=eth0,restrict=on,hostfwd=tcp:127.0.0.1:{files['port']}-:22",
        "-device", f"virtio-net-pci,netdev=eth0,mac=52:54:00:08:00:{number:02x},addr=0x3",
        "-netdev", f"dgram,id=eth1,local.type=unix,local.path={files['net']},"
                   f"remote.type=unix,remote.path={files['peer']}",
        "-device", f"virtio-net-pci,netdev=eth1,mac=52:54:00:09:00:{number:02x},addr=0x4",
        "-chardev", f"file,id=console,path={files['console']},append=on",
        "-serial", "chardev:console", "-qmp", f"unix:{files['qmp']},server=on,wait=off",
    ]
    for port in range(ROOT_PORTS):
        place = f"0x{0x10 + port // 8:x}.{port % 8}"
        argv += ["-device", f"pcie-root-port,id=rp{port},chassis={port + 1},slot={port + 1},"
                            f"addr={place},multifunction=on"]
    return argv


def key():
    """Changes whenever a snapshot made before could not be restored."""
    files = dict.fromkeys(("kernel", "initrd", "disk", "console", "qmp", "net", "peer", "port"), "")
    version = subprocess.run(["qemu-system-x86_64", "--version"], check=True, text=True,
                             capture_output=True).stdout
    text = version + repr([arguments(role, files) for role in ROLES])
    return hashlib.sha256(text.encode()).hexdigest()[:12]

"""tests/lab/demo [--keep]: the main job as a user does it. A storage VM with four NVMe drives and a
compute VM are set up by cloud-init from packaging/cloud-init; shown are the plan, the mounted volume,
its status, and a file that is whole after the compute VM's reboot. --keep leaves both VMs up."""
import os
import subprocess
import sys
import time

import host
import image
import lab
from errors import GuestSick

USER_DATA = os.path.join(lab.TREE, "packaging", "cloud-init")
FILE = "/mnt/train/demo.bin"


def seed(folder, role, user_data, package):
    """A NoCloud drive: user-data, meta-data and the package as a second file beside them."""
    path = os.path.join(folder, f"{role}.seed")
    with open(path, "wb") as file:
        file.truncate(os.path.getsize(package) + (8 << 20))
    meta = os.path.join(folder, f"{role}.meta-data")
    with open(meta, "w", encoding="ascii") as file:
        file.write(f"instance-id: demo-{role}\n")
    subprocess.run(["mkfs.vfat", "-n", "CIDATA", path], check=True, stdout=subprocess.DEVNULL)
    for source, name in ((user_data, "user-data"), (meta, "meta-data"), (package, "nvstripe.deb")):
        subprocess.run(["mcopy", "-i", path, source, f"::{name}"], check=True)
    return path


def step(text):
    print(f"\n== {text}", flush=True)


def show(guest, command, check=True, timeout=60):
    print(f"{guest.role}# {command}")
    done = guest.run(command, timeout=timeout, check=check)
    print((done.out + done.err).rstrip(), flush=True)
    return done


def set_up(run):
    """Both VMs cold, through cloud-init, at the same time, as in a cloud."""
    package = lab.package_file()
    guests = []
    for role, name, drives in (("store", "storage", 4), ("compute", "compute", 0)):
        drive = seed(run.folder, role, os.path.join(USER_DATA, f"{name}.yaml"), package)
        guests.append(run.guest(role, drives, cold=True, seed=drive))
    for guest in guests:
        guest.ready()
    for guest in guests:
        run.until(lambda one=guest: not one.run("systemctl is-active cloud-final.service", check=False)
                  .out.startswith(("inactive", "activating")), 600, f"cloud-init done on '{guest.role}'", every=2)
        outcome = guest.run("systemctl is-failed cloud-final.service", check=False).out.strip()
        if outcome == "failed":
            show(guest, "tail -n 40 /var/log/cloud-init-output.log", check=False)
            raise lab.LabError(f"cloud-init failed on '{guest.role}'")
    return guests


def prepare():
    """Package and image, so that what is timed is the two VMs. The path is kept for set_up()."""
    step("the package and the VMs' image (some minutes the first time)")
    host.prepare()
    os.environ["NVSTRIPE_DEB"] = lab.package_file()
    image.root()


def demonstrate(run):
    begin = time.monotonic()
    step("two fresh VMs, set up by cloud-init (about two minutes under emulation)")
    store, compute = set_up(run)
    print(f"set up in {time.monotonic() - begin:.0f} s")
    show(store, "nvstripe devices")

    step("what the compute VM planned by itself, and did")
    for event in compute.json("nvstripe events --limit 1000 -o json")["events"]:
        if event["type"] == "io.nvstripe.action.succeeded.v1":
            print(f"  {event['data'].get('sentence', event['data'])}\n    because {event['data'].get('reason', '')}")
    show(compute, "nvstripe plan")
    show(compute, "nvstripe status")
    show(compute, "findmnt /mnt/train; xfs_info /mnt/train | head -4; cat /proc/mdstat")

    step("a file, written and read back through a reboot of the compute VM")
    show(compute, f"dd if=/dev/urandom of={FILE} bs=1M count=64 conv=fsync", timeout=240)
    before = compute.out(f"sha256sum {FILE}", timeout=120)
    print(before)
    compute.reboot()
    compute.run("nvstripe wait --timeout 240", timeout=260)
    compute.run(f"mountpoint -q {os.path.dirname(FILE)}")
    after = compute.out(f"sha256sum {FILE}", timeout=120)
    if after != before:
        raise lab.LabError(f"the file changed: {before} before, {after} after the reboot")
    conclude(compute, after)


def conclude(compute, checksum):
    """The last lines: read from the kernel, not from the agent."""
    mounted = compute.json("findmnt -J /mnt/train")["filesystems"][0]
    transport = compute.out("cat /sys/class/nvme-fabrics/ctl/nvme*/transport | sort -u")
    step("done")
    print(f"volume:    {mounted['source']} on {mounted['target']} ({mounted['fstype']})")
    print(f"transport: {transport}")
    print(f"checksum:  {checksum.split()[0]} verified after reboot")


def main(words):
    if words not in ([], ["--keep"]):
        print(__doc__)
        return 64
    keep = bool(words)
    lab.end_on_signals()
    prepare()
    for attempt in range(3):
        run = lab.Lab(keep=keep)
        try:
            demonstrate(run)
        except GuestSick as sick:
            run.close()
            if attempt == 2:
                raise
            image.say(f"{sick}; starting over")
            continue
        except BaseException:
            if not keep:
                run.collect(os.path.join(lab.TREE, "build", "lab", "demo"))
                run.close()
            raise
        if keep:
            lab.tell(run)
        else:
            run.close()
        return 0
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except lab.LabError as error:
        image.say(str(error))
        sys.exit(1)

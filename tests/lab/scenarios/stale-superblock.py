"""An array that udev assembled from stale superblocks is foreign: said, never adopted, stopped or written to."""
import look
import specs

BUDGET_SECONDS = 240
CORE = True


def old_array(compute, name, extra=""):
    """A former tenant's array of all local drives, with an XFS of the very geometry that ours would have."""
    drives = " ".join(compute.device(drive) for drive in compute.drives)
    compute.run(f"udevadm lock $(printf -- '-d %s ' {drives}) -- mdadm --create /dev/md/{name} --level=0 --raid-devices=4 "
                f"--chunk=128 --metadata=1.2 --run {extra} {drives} </dev/null; udevadm settle; "
                f"mkfs.xfs -q -K -L {name} /dev/md/{name} && mount /dev/md/{name} /mnt && echo theirs >/mnt/file && umount /mnt; "
                "udevadm settle", timeout=120)
    return drives


def run(lab):
    compute = lab.guest("compute", 4, package=True).ready()
    drives = old_array(compute, "old")
    compute.run("mdadm --stop /dev/md/old && udevadm trigger -c change -s block && udevadm settle")
    node = compute.until("ls -d /sys/block/md*/md", 30).out.split("/")[3]
    compute.until(f"grep -q 'clean\\|active' /sys/block/{node}/md/array_state", 20)
    uuid = compute.out(f"cat /sys/block/{node}/md/uuid")
    compute.run("sync; sleep 1")
    before = look.content(*compute.drives)

    compute.write(specs.PATH, specs.local(4))
    lab.until(lambda: look.volume(compute, state="refused"), 30, "the volume is refused")
    assert look.conflicts(compute) == {"volume.foreign_array"}, look.conflicts(compute)
    why = look.reasons(look.volume(compute, state="refused"))["volume.foreign_array"]
    assert "md" in why or "stacked" in why, why
    assert compute.run("nvstripe apply", check=False).rc == 2
    compute.run("systemctl restart nvstriped; sleep 5")
    lab.until(lambda: look.volume(compute, state="refused"), 30, "it is refused after a restart")
    assert compute.out(f"cat /sys/block/{node}/md/uuid") == uuid
    assert compute.out(f"cat /sys/block/{node}/md/array_state") in ("clean", "active")
    assert look.content(*compute.drives) == before

    # Its superblocks gone, the old XFS is still there, and would be whole again in an array of the same geometry.
    compute.run(f"mdadm --stop /dev/{node} && mdadm --zero-superblock {drives} && udevadm settle; sync")
    before = look.content(*compute.drives)
    lab.until(lambda: look.conflicts(compute) & {"volume.foreign_data"}, 90, "what is left is taken for data")
    compute.run("sleep 3")
    assert look.conflicts(compute) == {"volume.foreign_data"}, look.conflicts(compute)
    look.nothing_made(compute)
    assert look.content(*compute.drives) == before
    compute.run(f"systemctl stop nvstriped; mdadm --create /dev/md/again --level=0 --raid-devices=4 --chunk=128 --metadata=1.2 "
                f"--run {drives} </dev/null; udevadm settle; mount -o ro,norecovery /dev/md/again /mnt")
    assert compute.read("/mnt/file").strip() == "theirs"

"""The lab itself: nvmet, RDMA, md and XFS by hand, through a power cycle; nothing of ours takes part."""
import time

BUDGET_SECONDS = 300
CORE = False
PACKAGE = False

NQN = "nqn.2026-01.invalid.lab:pool"

EXPORT = f"""set -e
modprobe -a nvmet nvmet-rdma
n=/sys/kernel/config/nvmet; s=$n/subsystems/{NQN}
mkdir $s; echo 1 >$s/attr_allow_any_host
i=0
for d in "$@"; do
    i=$((i + 1)); mkdir $s/namespaces/$i
    echo $d >$s/namespaces/$i/device_path; echo 1 >$s/namespaces/$i/enable
done
p=$n/ports/1; mkdir $p
echo rdma >$p/addr_trtype; echo ipv4 >$p/addr_adrfam; echo 10.9.0.1 >$p/addr_traddr; echo 4420 >$p/addr_trsvcid
ln -s $s $p/subsystems/
"""
CONNECT = f"modprobe nvme-rdma && nvme connect -t rdma -a 10.9.0.1 -s 4420 -n {NQN}"
LIVE = "test $(ls -d /sys/class/nvme-fabrics/ctl/nvme*/nvme*n* | wc -l) = 4 && udevadm settle"
REMOTE = "ls -d /sys/class/nvme-fabrics/ctl/nvme*/nvme*n* | sed -E 's:.*/nvme([0-9]+)(c[0-9]+)?n:/dev/nvme\\1n:'"


def run(lab):
    begin = time.monotonic()
    store, compute = lab.pair()
    lab.note(f"both guests up with their drives in {time.monotonic() - begin:.1f} s")
    devices = [store.device(drive) for drive in store.drives]
    store.write("/root/export", EXPORT)
    store.run(["sh", "/root/export", *devices])

    lab.note(f"connected in {compute.run(CONNECT).seconds:.1f} s")
    compute.until(LIVE, 20)
    members = compute.out(REMOTE).split()
    assert len(members) == 4, members
    compute.run("udevadm control --stop-exec-queue; mdadm --create /dev/md/hand --level=0 --chunk=128 "
                f"--raid-devices=4 --run {' '.join(members)} </dev/null; rc=$?; "
                "udevadm control --start-exec-queue; exit $rc")
    compute.run("udevadm settle; mkfs.xfs -q -K /dev/md/hand && mkdir -p /mnt/hand && mount /dev/md/hand /mnt/hand")
    mounted = compute.json("findmnt -J -o FSTYPE,OPTIONS /mnt/hand")["filesystems"][0]
    assert mounted["fstype"] == "xfs" and "swidth=1024" in mounted["options"], mounted

    wrote = compute.run("dd if=/dev/urandom of=/mnt/hand/file bs=1M count=32 conv=fsync 2>&1", timeout=120)
    lab.note(f"32 MiB written over the fabric in {wrote.seconds:.1f} s")
    before = compute.out("sha256sum </mnt/hand/file")
    compute.run("umount /mnt/hand && mdadm --stop /dev/md/hand && nvme disconnect-all")

    begin = time.monotonic()
    compute.reboot()
    lab.note(f"compute power-cycled in {time.monotonic() - begin:.1f} s")
    compute.run(CONNECT)
    compute.until(LIVE, 20)
    compute.until("test -b /dev/md/hand || test -b /dev/md/hand_0 || mdadm --assemble --scan; ls /dev/md/hand*", 20)
    compute.run("mount $(ls /dev/md/hand* | head -1) /mnt/hand")
    after = compute.out("sha256sum </mnt/hand/file")
    assert before == after, (before, after)
    compute.run("umount /mnt/hand")

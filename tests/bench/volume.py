"""A striped volume of 4 and 8 throttled remote drives over soft-RoCE: of what the drives give together, and of one made by hand."""
import figures
import guests
from lab import Lab

DRIVE_BYTES_A_SECOND = 700_000  # so far down that the drives bind, not the emulated fabric
RUNS = 3
SECONDS = 15
BY_HAND = """set -e
mdadm --stop --scan 2>/dev/null || true
wipefs -qa {drives}
mdadm --create /dev/md/hand --homehost=any --level=0 --raid-devices={count} --run {drives} </dev/null >/dev/null 2>&1
udevadm settle
mkfs.xfs -q -f -K /dev/md/hand
mkdir -p /mnt/hand
mount /dev/md/hand /mnt/hand
"""


def rates(guest, folder):
    """Medians of writing and reading one file through one stream."""
    found = {"write": [], "read": []}
    for _ in range(RUNS):
        for direction in found:
            found[direction].append(guests.fio_bytes_a_second(guest, [("stream", f"{folder}/file", "64M")], direction, SECONDS))
    return {direction: figures.median(values) for direction, values in found.items()}


def together(guest, drives):
    jobs = [(f"d{number}", drive, "64M") for number, drive in enumerate(drives)]
    return figures.median([guests.fio_bytes_a_second(guest, jobs, "read", SECONDS) for _ in range(RUNS)])


def measured(count):
    """Bytes a second: the drives together, our volume, the one by hand."""
    with Lab() as lab:
        _, compute = guests.exporting(lab, [{"bps": DRIVE_BYTES_A_SECOND}] * count)
        connection = "  - {name: s1, address: 10.9.0.1, transport: rdma}\n"
        guests.put_spec(compute, guests.compute_spec(connection))
        lab.until(lambda: len(guests.remote_drives(compute)) == count, 120, "all drives are connected")
        drives = guests.remote_drives(compute)
        raw = together(compute, drives)
        volume = (f"volumes:\n  - name: bench\n    members: {{from: [s1], count: {count}}}\n"
                  "    mount: {path: /mnt/bench}\n")
        guests.put_spec(compute, guests.compute_spec(connection, volume))
        compute.run("nvstripe wait --timeout 300", timeout=320)
        ours = rates(compute, "/mnt/bench")
        compute.run("nvstripe release bench", timeout=120)
        compute.run("nvstripe hold --all; systemctl stop nvstriped")
        again = connect_by_hand(compute, count)
        compute.run(BY_HAND.format(drives=" ".join(again), count=count), timeout=300)
        return raw, ours, rates(compute, "/mnt/hand")


def connect_by_hand(compute, count):
    compute.run(f"echo nqn.2014-08.org.nvmexpress:uuid:{guests.host_id()} > /etc/nvme/hostnqn; "
                f"echo {guests.host_id()} > /etc/nvme/hostid; nvme connect-all -t rdma -a 10.9.0.1 -s 4420 || true; udevadm settle")
    names = compute.out("lsblk -dno NAME | grep '^nvme' | sort").split()
    if len(names) != count:
        raise SystemExit(f"volume: {len(names)} of {count} drives connected by hand")
    return [f"/dev/{name}" for name in names]


def run(_):
    for count in (4, 8):
        raw, ours, hand = measured(count)
        for direction in ("write", "read"):
            case = f"{count} drives, {direction}"
            yield figures.figure("volume", case, ours[direction] / 1024, "KiB/s", limit=raw / 1024, at_least=0.97, of="of_limit")
            yield figures.figure("volume", case + ", by hand", ours[direction] / 1024, "KiB/s", peer="mdadm/mkfs defaults",
                                 peer_figure=hand[direction] / 1024, at_least=0.98, of="ratio")

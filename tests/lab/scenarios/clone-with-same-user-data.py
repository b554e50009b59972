"""A second VM with the first one's user-data, shown the first one's drives, takes nothing of it."""
import look
import specs

BUDGET_SECONDS = 240
CORE = False
GUESTS = ("store", "compute", "compute2")

TCP = specs.compute([specs.connection(transport="tcp")])  # soft-RoCE loses too much between three guests on two cores

# What a careless hand on the target does: the same drives for the second VM, by a subsystem of its own.
EXPOSE = f"""set -e
n=/sys/kernel/config/nvmet; s=$n/subsystems/nqn.2026-01.invalid.lab:careless
mkdir $s $n/hosts/{specs.nqn("compute2")} && ln -s $n/hosts/{specs.nqn("compute2")} $s/allowed_hosts/
i=0
for d in $(cat $n/subsystems/nqn.2026-11.io.nvstripe*/namespaces/*/device_path); do
    i=$((i + 1)); mkdir $s/namespaces/$i; echo $d >$s/namespaces/$i/device_path; echo 1 >$s/namespaces/$i/enable
done
for p in $n/ports/*; do ln -s $s $p/subsystems/; done
"""


def run(lab):
    store = lab.guest("store", 4, package=True)
    first = lab.guest("compute", package=True)
    second = lab.guest("compute2", package=True)
    store.ready()
    look.ready(store, specs.storage())
    look.ready(first, TCP)
    identity, mount = look.whole(first, transport="tcp"), look.mount_id(first)
    before = look.put_file(first)

    second.write(specs.PATH, TCP)
    lab.until(lambda: "connection.not_allowed" in look.conflicts(second), 40, "the allow list keeps it out")
    store.run(["bash", "-c", EXPOSE])
    lab.until(lambda: look.volume(second, state="refused"), 90, "it sees the drives, and refuses")
    assert "volume.other_host" in look.conflicts(second), look.conflicts(second)
    first.run("fsfreeze --freeze /mnt/train")  # XFS covers its log up to a minute after the last write
    kept = look.content(*store.drives)
    second.run("udevadm trigger -c change -s block; udevadm settle; nvstripe apply", check=False, timeout=60)
    second.run("systemctl restart nvstriped; sleep 6")
    look.nothing_made(second)
    assert look.content(*store.drives) == kept
    first.run("fsfreeze --unfreeze /mnt/train")
    assert look.mount_id(first) == mount and look.checksum(first) == before
    assert look.whole(first, transport="tcp") == identity
    # What is not ours on the target is left to whoever made it, and said.
    assert store.out("ls -d /sys/kernel/config/nvmet/subsystems/nqn.2026-01.invalid.lab:careless")
    lab.until(lambda: "careless" in store.run("nvstripe status", check=False).out, 20, "the foreign subsystem is told")

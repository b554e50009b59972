"""A VM whose target died with dirty data outstanding is off within two minutes, by RDMA with the dead peer's address known."""
import look
import specs

BUDGET_SECONDS = 260
CORE = False

LIMIT = 120


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    look.ready(compute, specs.compute())
    mac = compute.out("ip neigh show 10.9.0.1 dev eth1 | sed 's/.*lladdr \\([^ ]*\\).*/\\1/'")
    compute.run(f"ip neigh replace 10.9.0.1 lladdr {mac} dev eth1 nud permanent")
    compute.run("dd if=/dev/zero of=/mnt/train/dirty bs=1M count=24 status=none")
    store.run("sync")  # what a power cut takes of the root file system is not the matter here
    store.kill()
    compute.run("sleep 3")
    lab.note(f"off {compute.power_off(LIMIT):.0f} s after it was told, target dead for 3 s then")

    # It is no different for a target that has been dead for long, and the data that was synced is there afterwards.
    store.start()
    compute.start()
    compute.run("nvstripe wait --timeout 120", timeout=130)
    before = look.put_file(compute, mib=4)
    look.whole(compute)
    assert look.checksum(compute) == before

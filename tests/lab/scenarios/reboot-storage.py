"""A storage VM reboots under verified I/O: the same namespaces come back, and the I/O goes on without remount or error."""
import look
import specs

BUDGET_SECONDS = 300
CORE = False


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    look.ready(compute, specs.compute())
    identity, mount = look.whole(compute), look.mount_id(compute)
    served = look.namespaces(store)
    before = look.put_file(compute)
    load = look.Load(compute, 60)
    store.reboot()
    # Judged at the first login, before anything can be tidied up: initrd and early boot kept their hands off as well.
    assert store.out("ls -d /sys/block/md* 2>/dev/null || true") == ""
    store.run("nvstripe wait --timeout 90", timeout=100)
    job = load.finish()
    lab.note(f"longest stall {job['write']['clat_ns']['max'] / 1e9:.1f} s, no error")
    # A port that is linked before its namespaces would have failed the array: the initiator gets DNR errors then.
    assert "Disk failure" not in compute.out("dmesg")
    assert look.mount_id(compute) == mount and look.checksum(compute) == before
    assert look.namespaces(store) == served
    look.untouched_by_udev(store)
    look.settled(store)
    lab.until(lambda: look.volume(compute), 30, "the volume is whole")
    assert look.whole(compute) == identity
    look.settled(compute)

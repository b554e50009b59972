"""A compute VM that is rebooted unmounts cleanly, and comes back by itself with the same volume and the same bytes."""
import look
import specs

BUDGET_SECONDS = 240
CORE = True


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    look.ready(compute, specs.compute())
    identity = look.whole(compute)
    before = look.put_file(compute)
    served = look.namespaces(store)
    compute.refresh_initrd()
    off = compute.power_off(90)
    lab.note(f"off after {off:.1f} s")
    compute.start()
    compute.ready()
    lab.note(f"mounted {compute.run('nvstripe wait --timeout 90', timeout=100).seconds:.1f} s after the first login")
    assert look.whole(compute) == identity
    assert look.checksum(compute) == before
    kernel = compute.out("dmesg")
    assert "Starting recovery" not in kernel and "Unmount and run xfs_repair" not in kernel
    assert compute.out("systemctl is-system-running --wait || true") == "running", compute.out("systemctl --failed --no-pager")
    assert look.namespaces(store) == served
    look.made_once(compute)
    look.settled(compute)

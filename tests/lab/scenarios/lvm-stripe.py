"""The same volume by LVM: striped, tagged, never activated by anybody but the agent, the storage VM's LVM least of all."""
import look
import specs

BUDGET_SECONDS = 240
CORE = True


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    lab.note(f"mounted after {look.ready(compute, specs.compute(volumes=[specs.volume(stack='lvm')])):.1f} s")
    group, uuid = look.whole(compute, stack="lvm")
    before = look.put_file(compute)
    look.settled(compute)
    # The consumer's label is on the drives now; 69-lvm.rules sets SYSTEMD_READY back to 1, so that alone would not do.
    look.untouched_by_udev(store)
    drive = store.device(store.drives[0])
    seen = store.out(f"udevadm info --query=property {drive}")
    assert "ID_FS_TYPE=LVM2_member" in seen and "DM_MULTIPATH_DEVICE_PATH=1" in seen, seen
    assert "active" not in store.out("systemctl list-units --plain --no-legend 'lvm-activate-*'")

    compute.reboot()
    compute.run("nvstripe wait --timeout 90", timeout=100)
    assert look.whole(compute, stack="lvm") == (group, uuid)
    assert look.checksum(compute) == before
    look.made_once(compute, stack="lvm")

"""The agent is killed, restarted, reinstalled and removed under verified I/O on both VMs, and nobody's data notices."""
import look
import specs

BUDGET_SECONDS = 900  # the package goes in twice and out once, and each time the guest makes its initramfs anew
CORE = True


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    look.ready(compute, specs.compute())
    identity = look.whole(compute)
    mount, served = look.mount_id(compute), look.namespaces(store)
    before = look.put_file(compute)
    load = look.Load(compute, 100)
    for guest in (compute, store, compute):
        pid = guest.out("systemctl show -p MainPID --value nvstriped")
        guest.run(f"kill -9 {pid}")
        guest.until(f"nvstripe status -o json >/dev/null; test $? -le 2 && "
                    f"test $(systemctl show -p MainPID --value nvstriped) != {pid}", 30)
    compute.run("systemctl restart nvstriped")
    load.running()
    took = compute.install_package().seconds
    lab.note(f"package installed again in {took:.1f} s")
    compute.run("nvstripe wait --timeout 60", timeout=70)
    load.running() if took < 60 else None
    assert look.mount_id(compute) == mount
    compute.run("dpkg --remove nvstripe", timeout=300)
    assert look.mount_id(compute) == mount and compute.run("which nvstripe", check=False).rc != 0
    load.finish()
    assert look.checksum(compute) == before
    compute.install_package()
    compute.run("nvstripe wait --timeout 60", timeout=70)
    assert look.mount_id(compute) == mount
    assert look.whole(compute) == identity
    assert look.namespaces(store) == served
    look.made_once(compute)
    look.settled(compute)
    look.settled(store)
    assert not look.events(compute, "volume.unmounted") and not look.events(compute, "connection.lost")

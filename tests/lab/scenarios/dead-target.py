"""A target loses power under verified I/O: everything still answers, and the I/O goes on without a remount when it is back."""
import look
import specs

BUDGET_SECONDS = 300
CORE = True


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    look.ready(compute, specs.compute())
    served = look.namespaces(store)
    before, mount = look.put_file(compute), look.mount_id(compute)
    load = look.Load(compute, 60)
    store.run("sync")  # what a power cut takes of the root file system is not the matter here
    store.kill()

    def said():
        one = look.volume(compute, state="degraded")
        assert {member["state"] for member in one["members"]} == {"connecting"}, one
        assert all(reason["remedy"] for reason in one["waits_for"]), one
        return True
    lab.until(said, 45, "status says that the target is gone")
    assert look.connection(compute)["state"] == "connecting"
    asked = compute.run("nvstripe status", check=False)
    assert asked.rc == 2 and asked.seconds < 5, (asked.rc, asked.seconds)
    again = compute.run("systemctl restart nvstriped && nvstripe status -o json", check=False, timeout=60)
    lab.note(f"agent restarted beside a dead target in {again.seconds:.1f} s")
    assert again.seconds < 30
    load.running()
    assert look.mount_id(compute) == mount

    store.start()
    store.ready()
    store.run("nvstripe wait --timeout 90", timeout=100)
    compute.run("nvstripe wait --timeout 60", timeout=70)
    lab.until(lambda: look.volume(compute), 40, "status says that it is back")
    job = load.finish()
    lab.note(f"longest stall {job['write']['clat_ns']['max'] / 1e9:.1f} s, no error")
    assert look.mount_id(compute) == mount
    assert look.checksum(compute) == before
    assert look.namespaces(store) == served
    assert look.events(compute, "connection.lost") and look.events(compute, "connection.restored")
    look.untouched_by_udev(store)
    look.made_once(compute)

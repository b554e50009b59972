"""With one of two targets down at first boot nothing is made; when it comes, the volume is made once, over both."""
import look
import specs

BUDGET_SECONDS = 240
CORE = False
GUESTS = ("store", "compute", "compute2")


def run(lab):
    store, compute = lab.pair(4, package=True)
    look.ready(store, specs.storage())
    compute.write(specs.PATH, specs.compute(
        [specs.connection(transport="tcp"), specs.connection("s2", "10.9.0.3", "tcp")],
        [specs.volume(sources="s1, s2", count=4)]))
    lab.until(lambda: len(look.controllers(compute)) == 1, 60, "the target that is there is connected")
    compute.run("sleep 10")
    one = look.volume(compute, state="waiting")
    assert "s2" in look.reasons(one)["volume.waits_for_connection"], one
    assert look.connection(compute, "s2")["state"] in ("unreachable", "silent"), look.connection(compute, "s2")
    look.nothing_made(compute)
    assert look.blank(*store.drives)

    other = lab.guest("compute2", 4, package=True).ready()
    look.ready(other, specs.storage())
    compute.run("nvstripe wait --timeout 150", timeout=160)
    look.whole(compute, transport="tcp")
    look.made_once(compute)
    members = look.volume(compute)["members"]
    assert sorted(member["connection"] for member in members) == ["s1", "s1", "s2", "s2"], members
    look.settled(compute)

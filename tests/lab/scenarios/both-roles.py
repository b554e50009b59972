"""One VM exports two of its drives and stripes the other two for itself; no drive is ever both, nor comes back by a loop."""
import look
import specs

BUDGET_SECONDS = 200
CORE = False


def run(lab):
    store, compute = lab.pair(4, package=True)
    mixed = ("version: 1\n" + specs.exports("compute", "store", devices="kind: local_ssd, serials: [store-1, store-2]", slices=2,
                                            take=1)
             + "connections:\n" + specs.connection("self", "10.9.0.1", "tcp")
             + "volumes:\n" + specs.volume("fast", "local_ssd", 2, "/mnt/fast") + specs.volume("loop", "self", 2, "/mnt/loop"))
    store.write(specs.PATH, mixed)
    store.run("nvstripe wait fast --timeout 60", timeout=70)
    look.whole(store, transport="pcie", members=2, name="fast")
    lab.until(lambda: "connection.loop" in look.conflicts(store), 40, "the way back to itself is refused")
    assert not look.controllers(store)
    serials = {one["key"]: one["serial"] for one in store.json("nvstripe devices -o json")["devices"]}
    used = {serials[member["key"]] for member in look.volume(store, "fast")["members"]}
    assert used == {"store-3", "store-4"}, used
    assert len(look.namespaces(store)) == 4

    look.ready(compute, specs.compute([specs.connection(transport="auto")], [specs.volume(count=2)]))
    look.whole(compute, members=2)
    before = look.put_file(compute)
    store.run("udevadm trigger -c change -s block; udevadm settle")
    assert store.out("ls -d /sys/block/md* | wc -l") == "1"
    assert look.checksum(compute) == before
    assert look.volume(store, "fast")

"""Four drives of a storage VM become one striped, mounted XFS over soft-RoCE; nothing remains to be done."""
import look
import specs

BUDGET_SECONDS = 180
CORE = True


def run(lab):
    store, compute = lab.pair(package=True)
    lab.note(f"exported after {look.ready(store, specs.storage()):.1f} s")
    lab.note(f"mounted after {look.ready(compute, specs.compute()):.1f} s")
    look.whole(compute)
    look.made_once(compute)
    kinds = {one["type"].split(".")[2:-1][0] + "." + one["type"].split(".")[3] for one in look.events(compute)}
    assert {"connection.made", "filesystem.created", "volume.mounted", "tuning.applied"} <= kinds, kinds
    assert compute.run("nvstripe status", check=False).rc == 0

    look.export(store)
    assert look.listens(store) == {"rdma:10.9.0.1:4420", "tcp:10.9.0.1:4420"}
    assert "0.0.0.0:4420" not in store.out("ss -ltn") and "[::]:4420" not in store.out("ss -ltn")
    look.closed_to_others(store, specs.nqn("compute"))
    served = look.namespaces(store)
    assert len(served) == 4 and len({nqn for nqn, _ in served}) == 1, served
    assert {nsid for _, nsid in served} == {1, 2, 3, 4}, served
    assert len({backing for _, backing in served.values()}) == 4, served
    assert look.status(store)["exports"][0]["drives"] == 4

    before = look.put_file(compute)
    look.untouched_by_udev(store)
    assert look.checksum(compute) == before
    look.settled(compute)
    look.settled(store)
    assert look.namespaces(store) == served

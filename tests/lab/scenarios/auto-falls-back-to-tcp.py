"""`transport: auto` takes RDMA where both ends have it, else TCP, and status says which and why."""
import look
import specs

BUDGET_SECONDS = 180
CORE = False


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    compute.run("rdma link delete rxe0 || rdma link del rxe0")
    auto = specs.compute([specs.connection(transport="auto")])
    look.ready(compute, auto)
    look.whole(compute, transport="tcp")
    why = look.volume(compute)["transport_reason"]
    assert "no RDMA" in why or "RDMA device" in why, why
    lab.note(f"over tcp because: {why}")
    before = look.put_file(compute)
    assert look.checksum(compute) == before
    # RDMA that comes later moves nothing that is connected; after the next boot it is taken.
    compute.run("rdma link add rxe0 type rxe netdev eth1")
    look.settled(compute)
    assert look.transports(compute) == {"tcp"}
    compute.reboot()
    compute.run("nvstripe wait --timeout 90", timeout=100)
    look.whole(compute, transport="rdma")
    assert "both ends" in look.volume(compute)["transport_reason"]
    assert look.checksum(compute) == before

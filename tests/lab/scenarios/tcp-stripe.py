"""The same main job over NVMe/TCP alone."""
import look
import specs

BUDGET_SECONDS = 150
CORE = False


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage(transports="tcp"))
    assert look.listens(store) == {"tcp:10.9.0.1:4420"}
    look.ready(compute, specs.compute([specs.connection(transport="tcp")]))
    look.whole(compute, transport="tcp")
    before = look.put_file(compute)
    assert look.checksum(compute) == before
    look.settled(compute)
    look.settled(store)

"""A host that no allow list names gets nothing: not a namespace, not a connection, and it is told why."""
import look
import specs

BUDGET_SECONDS = 150
CORE = False


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage("compute2"))
    subsystem = next(iter(look.namespaces(store)))[0]
    compute.write(specs.PATH, specs.compute())
    lab.until(lambda: "connection.not_allowed" in look.conflicts(compute), 40, "it is told")
    look.volume(compute, state="waiting")
    assert specs.nqn("compute") in str(look.connection(compute)["waits_for"]), look.connection(compute)
    done = compute.run("nvstripe wait --timeout 5", check=False)
    assert done.rc == 1 and "train" in done.err, (done.rc, done.err)
    look.nothing_made(compute)
    assert not look.controllers(compute)
    assert look.blank(*store.drives)
    done = compute.run(f"nvme connect -t tcp -a 10.9.0.1 -s 4420 -n {subsystem} --hostnqn {specs.nqn('compute')}", check=False)
    assert done.rc != 0 and not look.controllers(compute), done.out
    look.closed_to_others(store, specs.nqn("compute2"))

    look.ready(store, specs.storage("compute2", "compute", slices=1))
    assert "export.no_free_slice" in str(look.status(store)["exports"]) or look.namespaces(store), look.status(store)
    look.nothing_made(compute)

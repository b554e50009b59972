"""A system disk that wakes in another VM touches nothing until `identity adopt`: it is a clone, or was moved."""
import look
import specs

BUDGET_SECONDS = 240
CORE = False

OTHER = "5f0f8a8e-7c2b-4b5e-8f0a-2d0a6a1b7777"


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage("compute", f"nqn.2014-08.org.nvmexpress:uuid:{OTHER}", slices=2, take=1))
    look.ready(compute, specs.compute())
    look.whole(compute)
    look.put_file(compute)
    compute.refresh_initrd()
    compute.power_off(90)
    kept = look.content(*store.drives)
    compute.uuid = OTHER
    compute.start()
    compute.ready()
    lab.until(lambda: "identity.mismatch" in look.conflicts(compute), 60, "it is said")
    compute.run("sleep 5")
    identity = compute.json("nvstripe identity -o json", check=False)
    assert identity["computed"] == OTHER and identity["recorded"] != OTHER, identity
    assert compute.run("mountpoint -q /mnt/train", check=False).rc != 0 and not look.controllers(compute)
    assert look.content(*store.drives) == kept

    compute.run("nvstripe identity adopt", check=False)
    lab.until(lambda: compute.json("nvstripe identity -o json")["host_id"] == OTHER, 30, "adopted")
    lab.until(lambda: look.controllers(compute), 60, "it goes on as the new one, with slices of its own")
    first = {value[0] for key, value in look.namespaces(store).items()}
    assert len(first) == 8, first

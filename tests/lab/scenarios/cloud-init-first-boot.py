"""Two VMs that cloud-init sets up at their first boot find each other: nothing was run by hand, and boot ended in time."""
import os

import demo
import look

BUDGET_SECONDS = 600
CORE = False
PACKAGE = False
GUESTS = ()


def run(lab):
    store, compute = demo.set_up(lab)
    assert os.path.exists(store.disk)
    one = look.volume(compute)
    assert one["transport"] == "rdma" and len(one["members"]) == 4, one
    look.raid0(compute)
    look.xfs(compute)
    for guest in (store, compute):
        assert guest.out("cloud-init status || true").endswith("done"), guest.out("cat /var/log/cloud-init-output.log")
        look.settled(guest)
    identity = compute.json("nvstripe identity -o json")
    assert identity["source"] == "spec" and identity["host_id"] in open(
        os.path.join(demo.USER_DATA, "compute.yaml"), encoding="utf-8").read()

"""A drive that comes back blank, or is swapped, gets another namespace id: no stalled write is let through to it."""
import json
import os

import look
import specs

BUDGET_SECONDS = 240
CORE = False

RECORDS = "curl -sf --unix-socket /run/nvstripe/api.sock http://nvstripe/v1/records"


def ledger(store):
    records = store.json(RECORDS)["records"]
    return [json.loads(record["text"]) for record in records if record["kind"] == "export"]


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    look.ready(compute, specs.compute())
    look.put_file(compute)
    served = look.namespaces(store)
    lab.until(lambda: [entry["consumer_data_seen"] for entry in ledger(store)] == [True] * 4, 30,
              "the target has seen its consumers' data")
    compute.run("dd if=/dev/zero of=/mnt/train/dirty bs=1M count=8 status=none", check=False)
    drive = store.drives[1]
    wwid = store.out(f"cat /sys/block/{os.path.basename(store.device(drive))}/wwid")
    store.run("sync")  # what a power cut takes of the root file system is not the matter here
    store.kill()
    os.truncate(drive.path, 0)
    os.truncate(drive.path, drive.size)
    store.start()
    store.ready()
    lab.until(lambda: len(look.namespaces(store)) == 4, 90, "all four drives are served")
    after = look.namespaces(store)
    old = {key: value for key, value in served.items() if value[1] == wwid}
    new = {key: value for key, value in after.items() if value[1] == wwid}
    assert not set(old) & set(new), (old, new)
    assert {value[0] for value in old.values()}.isdisjoint(value[0] for value in new.values()), (old, new)
    assert {key: value for key, value in after.items() if value[1] != wwid} == \
           {key: value for key, value in served.items() if value[1] != wwid}
    # The consumer does not take the blank one in its place, and makes nothing anew.
    compute.run("sleep 15")
    assert look.blank(drive), "something was written to the re-made drive"
    one = next(one for one in look.status(compute)["volumes"] if one["name"] == "train")
    assert one["state"] in ("degraded", "waiting", "refused", "data_lost"), one
    look.made_once(compute)

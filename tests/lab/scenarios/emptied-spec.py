"""An emptied, half-written, invalid or vanished spec changes nothing; the last good one stays, across a restart too."""
import look
import specs

BUDGET_SECONDS = 200
CORE = False


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    good = specs.compute()
    look.ready(compute, good)
    identity, mount = look.whole(compute), look.mount_id(compute)
    served = look.namespaces(store)
    before = look.put_file(compute, mib=4)
    done = len(look.events(compute, "action.succeeded"))
    broken = {
        "empty": "", "only a comment": "# nothing\n", "version alone": "version: 1\n",
        "half of it": good[:len(good) // 2], "unknown key": good + "volume: []\n", "key twice": good + "version: 1\n",
        "wrong unit": good.replace("stack: md", "stack: md\n    chunk: 128 parsecs"),
        "not offered": good + "jobs: {}\n", "binary": "\x01\x02\x00"[:2],
    }
    for what, text in broken.items():
        compute.write(specs.PATH, text)
        lab.until(lambda: look.status(compute)["spec"]["problem"], 15, f"'{what}' is said", every=0.3)
        spec = look.status(compute)["spec"]
        assert spec["last_good"] and spec["remedy"] is not None, (what, spec)
        look.volume(compute)
        if what not in ("empty", "only a comment", "version alone"):
            found = compute.run("nvstripe config check", check=False)
            assert found.rc == 64 and "nvstripe.yaml" in found.out + found.err, (what, found.rc, found.err)
        compute.write(specs.PATH, good)
        lab.until(lambda: not look.status(compute)["spec"]["problem"], 15, "the good one is in force", every=0.3)
    for text in ("", None):
        compute.write(specs.PATH, text) if text is not None else compute.run(["rm", specs.PATH])
        compute.run("systemctl restart nvstriped; sleep 3")
        lab.until(lambda: look.status(compute)["spec"]["problem"], 15, "the restarted agent says so")
        look.volume(compute)
    store.write(specs.PATH, "")
    store.run("systemctl restart nvstriped; sleep 5")
    assert look.namespaces(store) == served
    assert look.status(store)["spec"]["problem"]

    compute.write(specs.PATH, good)
    lab.until(lambda: not look.status(compute)["spec"]["problem"], 15, "put back")
    look.settled(compute)
    assert len(look.events(compute, "action.succeeded")) == done
    assert look.whole(compute) == identity and look.mount_id(compute) == mount and look.checksum(compute) == before
    assert look.events(compute, "spec.rejected")

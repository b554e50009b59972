"""Two compute VMs share each drive by slices; each has its own, and an entry put before theirs moves none."""
import look
import specs

BUDGET_SECONDS = 300
CORE = True
GUESTS = ("store", "compute", "compute2")

TCP = specs.compute([specs.connection(transport="tcp")])  # soft-RoCE loses too much between three guests on two cores
THIRD = "nqn.2014-08.org.nvmexpress:uuid:0c8d5a4e-1f6b-4a0e-9d53-5a5f6f1f0303"


def owners(store):
    """{slice that somebody has: its owner's tag} by LVM itself."""
    rows = store.json("lvs --reportformat json -o vg_name,lv_name,lv_tags,lv_uuid")["report"][0]["lv"]
    tags = {(row["vg_name"], row["lv_name"], row["lv_uuid"]): [tag for tag in row["lv_tags"].split(",")
                                                               if tag.startswith("nvstripe.host=")] for row in rows}
    assert len(tags) == 12 and all(len(found) <= 1 for found in tags.values()), tags
    return {key: found[0] for key, found in tags.items() if found}


def run(lab):
    store = lab.guest("store", 4, package=True)
    hosts = [lab.guest(role, package=True) for role in ("compute", "compute2")]
    store.ready()
    look.ready(store, specs.storage("compute", "compute2", slices=3, take=1))
    before = owners(store)
    assert len(before) == 8 and len(set(before.values())) == 2, before
    for host in hosts:
        lab.note(f"'{host.role}' mounted after {look.ready(host, TCP):.1f} s")
    arrays = [look.whole(host, transport="tcp") for host in hosts]
    assert arrays[0] != arrays[1]
    sums = [look.put_file(host, mib=8) for host in hosts]
    assert [look.checksum(host) for host in hosts] == sums

    served = look.namespaces(store)
    assert len(served) == 8 and len({nqn for nqn, _ in served}) == 2, served
    assert len({uuid for uuid, _ in served.values()}) == 8, served
    for host in hosts:  # each sees what is its own and nothing else
        assert len(look.controllers(host)) == 1
        assert len(host.out("ls -d /sys/class/nvme-fabrics/ctl/nvme*/nvme*n*").split()) == 4

    text = specs.storage(THIRD, "compute", "compute2", slices=3, take=1)
    look.ready(store, text)
    lab.until(lambda: len(look.namespaces(store)) == 12, 60, "the third host has its slices")
    after = owners(store)
    assert {key: after[key] for key in before} == before and len(after) == 12, (before, after)
    assert {key: value for key, value in look.namespaces(store).items() if key in served} == served
    look.untouched_by_udev(store)
    look.settled(store)
    assert [look.checksum(host) for host in hosts] == sums

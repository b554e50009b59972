"""What carries anything is refused byte for byte, on both VMs; it is wiped only by consent and by that exact plan."""
import look
import specs

BUDGET_SECONDS = 240
CORE = True


def spoil(guest):
    """One drive each: ext4, a partition table, bytes without a signature, a mount, swap; two are blank."""
    names = [guest.device(drive) for drive in guest.drives]
    guest.run(f"mkfs.ext4 -q {names[0]}; echo 'label: gpt' | sfdisk -q {names[1]}; "
              f"dd if=/dev/urandom of={names[2]} bs=1M count=8 conv=fsync status=none; "
              f"mkfs.xfs -q -K {names[3]} && mkdir -p /srv/theirs && mount {names[3]} /srv/theirs; "
              f"mkswap -q {names[4]} && swapon {names[4]}; udevadm settle; sync", timeout=120)
    return names


def consumer(lab, compute):
    spoil(compute)
    theirs = compute.drives[3:5]
    before = look.content(*compute.drives)
    compute.write(specs.PATH, specs.local(4))
    lab.until(lambda: look.volume(compute, state="refused"), 30, "the volume is refused")
    done = compute.run("nvstripe wait --timeout 30", check=False)
    assert done.rc == 2 and "remedy" in done.err, (done.rc, done.err)
    assert "volume.foreign_data" in look.conflicts(compute), look.conflicts(compute)
    listed = {one["serial"]: one for one in compute.json("nvstripe devices -o json")["devices"]}
    wanted = [{"guard.signature"}, {"guard.signature"}, {"guard.content"}, {"guard.mounted"}, {"guard.swap"}, set(), set()]
    for drive, ids in zip(compute.drives, wanted):
        one = listed[drive.serial]
        assert one["kind"] in ("local_ssd", "system") and one["usable"] == (not ids), one
        assert ids <= set(one["reason_ids"]), (ids, one["reason_ids"], one["reasons"])
    look.nothing_made(compute)
    assert look.content(*compute.drives) == before

    # Consent alone does nothing, and neither does the digest of another plan.
    compute.write(specs.PATH, specs.local(4, more="    on_foreign_data: wipe\n"))
    digest = lab.until(lambda: look.plan(compute, 3)["digest"], 30, "a plan that says what it would destroy")
    done = compute.run("nvstripe apply", check=False)
    assert done.rc == 2, (done.rc, done.out)
    done = compute.run("nvstripe apply --accept " + "0" * 64, check=False)
    assert done.rc != 0, done.out
    look.nothing_made(compute)
    assert look.content(*compute.drives) == before
    held = compute.out("findmnt -no SOURCE /srv/theirs; swapon --show=NAME --noheadings")
    # Bytes without a signature show again through the new array: that is another plan, and is accepted as one.
    done = compute.run(f"nvstripe apply --accept {digest}", timeout=120, check=False)
    assert done.rc == 1 and "remedy" in done.err, (done.rc, done.out, done.err)
    second = look.plan(compute, 3)["digest"]
    assert second and second != digest
    done = compute.run(f"nvstripe apply --accept {second}", timeout=120, check=False)
    assert done.rc == 0, (done.rc, done.out, done.err)
    look.whole(compute, transport="pcie")
    assert compute.out("findmnt -no SOURCE /srv/theirs; swapon --show=NAME --noheadings") == held
    used = {member["key"] for member in look.volume(compute)["members"]}
    assert not used & {listed[drive.serial]["key"] for drive in theirs}, used


def target(lab, store):
    """nvmet would take each of these, the mounted ones too: only the agent's own look stands between."""
    names = [store.device(drive) for drive in store.drives]
    store.run(f"mkfs.xfs -q -K {names[0]} && mkdir -p /srv/theirs && mount {names[0]} /srv/theirs; mkfs.ext4 -q {names[1]}; "
              "udevadm settle; sync", timeout=120)
    before = look.content(*store.drives[1:])
    store.write(specs.PATH, specs.storage())
    lab.until(lambda: len(look.namespaces(store)) == 2, 60, "the two blank drives are exported")
    store.run("sleep 3")
    served = {backing for _, backing in look.namespaces(store).values()}
    blank = {store.out(f"cat /sys/block/{name.split('/')[-1]}/wwid") for name in names[2:]}
    assert served == blank, (served, blank)
    one = look.export(store, state="partial")
    assert len(one["waits_for"]) >= 2, one
    assert store.run("nvstripe status", check=False).rc == 2
    assert look.content(*store.drives[1:]) == before
    assert store.out("findmnt -no FSTYPE /srv/theirs") == "xfs"


def run(lab):
    store, compute = lab.pair(4, 7, package=True)
    target(lab, store)
    consumer(lab, compute)

"""`release` unmounts, stops and disconnects, leaves the data, and stays so until apply; `hold` only keeps hands off."""
import look
import specs

BUDGET_SECONDS = 200
CORE = False


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    look.ready(compute, specs.compute())
    identity = look.whole(compute)
    before = look.put_file(compute)

    compute.run("nvstripe hold train")
    compute.run("systemctl stop mnt-train.mount; sleep 4")
    assert compute.run("mountpoint -q /mnt/train", check=False).rc != 0
    look.bare_path(compute)
    compute.run("nvstripe apply", timeout=60)
    assert look.checksum(compute) == before

    compute.run("cd /mnt/train && (sleep 300 </dev/null >/dev/null 2>&1 & echo $! >/root/busy)")
    done = compute.run("nvstripe release train", timeout=150, check=False)
    assert done.rc == 1 and look.mount_id(compute), (done.rc, done.out, done.err)
    compute.run("kill $(cat /root/busy)")
    done = compute.run("nvstripe release train", timeout=100)
    lab.note(f"released in {done.seconds:.1f} s")
    one = look.volume(compute, state="released")
    assert one["held"] == "release", one
    look.bare_path(compute)
    assert compute.out("ls -d /sys/block/md* 2>/dev/null || true") == "" and not look.controllers(compute)
    kept = look.content(*store.drives)
    compute.run("systemctl restart nvstriped; sleep 8")
    look.volume(compute, state="released")
    look.bare_path(compute)
    assert not look.controllers(compute) and look.content(*store.drives) == kept
    assert compute.run("nvstripe status", check=False).rc == 0

    compute.run("nvstripe apply", timeout=90)
    compute.run("nvstripe wait --timeout 60", timeout=70)
    assert look.whole(compute) == identity
    assert look.checksum(compute) == before
    look.made_once(compute)

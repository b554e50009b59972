"""What scenarios ask of a guest, of its kernel first and of the agent second. Each asserts, and gives what it read."""
import hashlib
import os
import shlex

BLOCK = 4096  # XFS file system block


def ready(guest, text, timeout=90):
    """Gives a guest its spec and waits until what it wants is there; seconds it took."""
    guest.write("/etc/nvstripe/nvstripe.yaml", text)
    return guest.run(f"nvstripe wait --timeout {timeout}", timeout=timeout + 20).seconds


def status(guest):
    return guest.json("nvstripe status -o json", timeout=20, check=False)


def volume(guest, name="train", state="mounted"):
    found = [one for one in status(guest)["volumes"] if one["name"] == name]
    assert found and found[0]["state"] == state, found or status(guest)
    return found[0]


def connection(guest, name="s1"):
    return next(one for one in status(guest)["connections"] if one["name"] == name)


def export(guest, name="pool", state="serving"):
    found = next(one for one in status(guest)["exports"] if one["name"] == name)
    assert found["state"] == state, found
    return found


def reasons(entry):
    return {one["id"]: one["why"] for one in entry["waits_for"]}


def plan(guest, code):
    done = guest.run("nvstripe plan -o json", check=False)
    assert done.rc == code, (done.rc, code, done.out, done.err)
    return guest.json("nvstripe plan -o json", check=False)


def conflicts(guest):
    """Ids of all that is withheld, notes left out."""
    found = guest.json("nvstripe plan -o json", check=False)["conflicts"]
    return {one["id"] for one in found if one["standing"] != "note"}


def events(guest, kind=None):
    found = guest.json("nvstripe events --limit 1000 -o json")["events"]
    return [one for one in found if kind is None or one["type"] == f"io.nvstripe.{kind}.v1"]


def settled(guest):
    """All is as asked: nothing planned, and to apply it twice does nothing."""
    assert plan(guest, 0)["actions"] == []
    before = len(events(guest, "action.succeeded"))
    for _ in range(2):
        done = guest.run("nvstripe apply -o json", timeout=60, check=False)
        assert done.rc == 0 and '"lines":[]' in done.out.replace(" ", ""), (done.rc, done.out, done.err)
    assert len(events(guest, "action.succeeded")) == before
    done = guest.run("nvstripe status", check=False)
    assert done.rc == 0, done.out


def made_once(guest, name="train", stack="md"):
    made = [one for one in events(guest, "volume.created") if one["subject"] == f"volume/{name}"]
    assert len(made) == 1, made
    if stack == "md":
        assert len([one for one in events(guest, "array.created") if one["subject"] == f"volume/{name}"]) == 1


def raid0(guest, members=4, chunk=128, name="train"):
    """The array that the volume's path is mounted from, by sysfs; its UUID."""
    source = guest.out(f"basename $(readlink -f $(findmnt -no SOURCE /mnt/{name}))")
    md = f"/sys/block/{source}/md"
    seen = dict(zip(("level", "chunk", "disks", "version", "state", "uuid"), guest.out(
        f"cd {md} && cat level chunk_size raid_disks metadata_version array_state uuid").split()))
    assert seen["level"] == "raid0" and seen["chunk"] == str(chunk * 1024), seen
    assert seen["disks"] == str(members) and seen["version"] == "1.2" and seen["state"] in ("clean", "active"), seen
    assert volume(guest, name)["device"] == f"md:{seen['uuid']}", seen
    assert f"nvs-{name}" in guest.out(f"mdadm --detail --export /dev/{source}"), source
    return seen["uuid"]


def xfs(guest, members=4, chunk=128, path="/mnt/train"):
    """Geometry by xfs_info and by what the kernel mounted with; the file system's UUID."""
    info = guest.out(f"xfs_info {path}")
    blocks = chunk * 1024 // BLOCK
    assert f"sunit={blocks} " in info and f"swidth={blocks * members} blks" in info, info
    assert f"sunit={min(chunk, 256) * 1024 // BLOCK} blks, lazy-count=1" in info.split("\nlog")[1], info
    options = guest.out(f"findmnt -no OPTIONS {path}").split(",")
    for word in (f"sunit={chunk * 2}", f"swidth={chunk * 2 * members}", "noatime", "logbsize=256k"):
        assert word in options, (word, options)
    return guest.out(f"findmnt -no UUID {path} || blkid -o value -s UUID $(findmnt -no SOURCE {path})")


def owned(guest, path="/mnt/train", wanted="nobody:nogroup 2775"):
    assert guest.out(f"stat -c '%U:%G %a' {path}") == wanted


def unit(guest, path="/mnt/train", netdev=True):
    """Mounted through a unit of ours that boot does not wait for."""
    name = guest.out(f"systemd-escape --path --suffix=mount {path}")
    assert guest.out(f"systemctl is-active {name}") == "active"
    text = guest.read(f"/etc/systemd/system/{name}")
    assert "nofail" in text and ("_netdev" in text) == netdev, text
    assert f"Where={path}" in text and "What=/dev/" in text, text


def whole(guest, transport="rdma", stack="md", members=4, chunk=128, name="train", owner=True):
    """One volume with everything that can be asked of it. Gives (array UUID or VG, file system UUID)."""
    path = f"/mnt/{name}"
    one = volume(guest, name)
    assert one["transport"] == transport and len(one["members"]) == members, one
    assert {member["state"] for member in one["members"]} == {"live"}, one
    assert guest.out(f"findmnt -no FSTYPE {path}") == "xfs"
    made = raid0(guest, members, chunk, name) if stack == "md" else lvm(guest, members, chunk, name)
    if owner:
        owned(guest, path)
    unit(guest, path, netdev=transport != "pcie")
    if transport != "pcie":
        assert transports(guest) == {transport}
    return made, xfs(guest, members, chunk, path)


def lvm(guest, members=4, chunk=128, name="train"):
    volumes = [one for one in guest.json("lvs --reportformat json --units b --nosuffix -o vg_name,lv_name,stripes,stripe_size,"
                                         "lv_tags,vg_tags,lv_active,vg_autoactivation")["report"][0]["lv"]
               if one["vg_name"].startswith(f"nvs_{name}_")]
    assert len(volumes) == 1, volumes
    one = volumes[0]
    assert one["lv_name"] == "data" and one["stripes"] == str(members) and one["stripe_size"] == str(chunk * 1024), one
    assert f"nvstripe.volume={name}" in one["vg_tags"] + one["lv_tags"], one
    assert one["vg_autoactivation"] == "", one
    return one["vg_name"]


def transports(guest):
    """Of all fabrics controllers, by the kernel."""
    return set(guest.out("cat /sys/class/nvme-fabrics/ctl/nvme*/transport 2>/dev/null || true").split())


def controllers(guest):
    return guest.out("ls -d /sys/class/nvme-fabrics/ctl/nvme* 2>/dev/null || true").split()


def nothing_made(guest, path="/mnt/train"):
    """No array, no volume group of ours, no mount."""
    assert guest.out("ls -d /sys/block/md* 2>/dev/null || true") == ""
    assert guest.out("lsblk -rno NAME,TYPE | grep -w lvm || true") == ""
    assert guest.run(f"mountpoint -q {path}", check=False).rc != 0
    assert not events(guest, "array.created") and not events(guest, "filesystem.created")


def bare_path(guest, path="/mnt/train"):
    """The mount point of an unmounted volume takes nothing, even from root."""
    assert guest.run(f"mountpoint -q {path}", check=False).rc != 0
    assert guest.out(f"stat -c %a {path}") == "0"
    assert "i" in guest.out(f"lsattr -d {path}").split()[0]
    assert guest.run(f"touch {path}/beside", check=False).rc != 0


def untouched_by_udev(store):
    """A storage VM assembles, activates and mounts nothing of its consumers, at a second look of udev either."""
    store.run("udevadm trigger -c change -s block; udevadm settle", timeout=60)
    assert store.out("ls -d /sys/block/md* 2>/dev/null || true") == ""
    assert store.out("lsblk -rno NAME,TYPE | grep -w lvm | grep -v nvx_ || true") == ""


def namespaces(store):
    """{(subsystem, nsid): (uuid, backing drive's wwid or path)} of what nvmet serves, by configfs."""
    text = store.out("cd /sys/kernel/config/nvmet/subsystems 2>/dev/null && for n in */namespaces/*; do "
                     "[ -e \"$n/enable\" ] && [ $(cat $n/enable) = 1 ] || continue; d=$(cat $n/device_path); "
                     "b=$(basename $(readlink -f $d)); "
                     "echo \"${n%%/*} ${n##*/} $(cat $n/device_uuid) $(cat /sys/block/$b/wwid 2>/dev/null || echo $d)\"; done; true")
    return {(words[0], int(words[1])): (words[2], words[3]) for words in map(str.split, text.splitlines())}


def listens(store):
    """Transport and address of each nvmet port that serves something."""
    return set(store.out("cd /sys/kernel/config/nvmet/ports && for p in *; do [ -n \"$(ls $p/subsystems)\" ] && "
                         "echo $(cat $p/addr_trtype):$(cat $p/addr_traddr):$(cat $p/addr_trsvcid); done; true").split())


def closed_to_others(store, *nqns):
    """Allow-list only, and exactly these hosts in it."""
    got = store.out("cd /sys/kernel/config/nvmet/subsystems && cat */attr_allow_any_host && ls */allowed_hosts | grep nqn.2014 "
                    "| sort -u").split()
    assert "1" not in got and sorted(set(got) - {"0"}) == sorted(nqns), got


def content(*drives):
    """Digest of what drives carry, read on this side of the emulation; zeros and holes are the same."""
    total = hashlib.sha256()
    for drive in drives:
        total.update(drive.serial.encode())
        with open(drive.path, "rb") as file:
            end = os.fstat(file.fileno()).st_size
            at = 0
            while at < end:
                try:
                    at = os.lseek(file.fileno(), at, os.SEEK_DATA)
                except OSError:
                    break
                stop = os.lseek(file.fileno(), at, os.SEEK_HOLE)
                while at < stop:
                    piece = os.pread(file.fileno(), min(65536 - at % 65536, stop - at), at)
                    if piece.strip(b"\0"):
                        total.update(b"%d" % at)
                        total.update(piece)
                    at += len(piece)
    return total.hexdigest()


def blank(*drives):
    empty = hashlib.sha256()
    for drive in drives:
        empty.update(drive.serial.encode())
    return content(*drives) == empty.hexdigest()


def put_file(guest, path="/mnt/train/file", mib=16):
    """A file of random bytes, on the drives when this returns; its checksum."""
    guest.run(f"dd if=/dev/urandom of={path} bs=1M count={mib} conv=fsync", timeout=120)
    return checksum(guest, path)


def checksum(guest, path="/mnt/train/file"):
    """By direct reads: what the drives have, not what the page cache has."""
    return guest.out(f"dd if={path} iflag=direct bs=1M status=none | sha256sum", timeout=120)


def mount_id(guest, path="/mnt/train"):
    """Changes with every mount."""
    return guest.out(f"awk '$5==\"{path}\"{{print $1, $3}}' /proc/self/mountinfo")


class Load:
    """fio that writes and verifies as it goes, through everything that happens meanwhile."""

    def __init__(self, guest, seconds, path="/mnt/train"):
        self.guest = guest
        self.seconds = seconds
        words = ["fio", "--name=load", f"--directory={path}", "--rw=randwrite", "--bs=32k", "--size=48m", "--direct=1",
                 "--ioengine=libaio", "--iodepth=4", "--rate=1m", "--verify=crc32c", "--verify_backlog=32", "--verify_fatal=1",
                 "--time_based", f"--runtime={seconds}", "--output-format=json", "--output=/root/fio.json"]
        guest.run("rm -f /root/fio.json; systemctl reset-failed load 2>/dev/null; "
                  f"systemd-run -q --unit=load --remain-after-exit {shlex.join(words)}")

    def running(self):
        assert self.guest.out("systemctl show -p SubState --value load") == "running"

    def finish(self, patience=120):
        """Waits for its end: no error, nothing corrupt, and it did write."""
        self.guest.until("test \"$(systemctl show -p SubState --value load)\" != running", self.seconds + patience, every=2)
        code = self.guest.out("systemctl show -p ExecMainStatus --value load")
        job = self.guest.json("cat /root/fio.json")["jobs"][0]
        assert code == "0" and job["error"] == 0 and job["write"]["total_ios"] > 0, (code, job)
        self.guest.run("systemctl stop load", check=False)
        return job

"""The pair of guests that guest benchmarks measure in, set up the way users do it: specs and `nvstripe wait`."""
import json

import host
import machine

STORE_SPEC = """version: 1
exports:
  - name: pool
    devices: {{kind: local_ssd}}
    listen: {{network: 10.9.0.0/24}}
    allow: [{{host: "nqn.2014-08.org.nvmexpress:uuid:{host}"}}]
"""


def host_id():
    """The compute guest's DMI UUID, which its identity comes from."""
    return machine.identity("compute")["uuid"]


def compute_spec(connections, volumes=""):
    return f"version: 1\nconnections:\n{connections}{volumes}"


def put_spec(guest, text):
    """Written beside and renamed, as cloud-init and configuration tools do."""
    guest.run("mkdir -p /etc/nvstripe")
    guest.write("/etc/nvstripe/.new", text)
    guest.run("mv /etc/nvstripe/.new /etc/nvstripe/nvstripe.yaml")


def exporting(lab, drives):
    """A store that exports all its drives to a compute guest that has the package and no spec yet."""
    host.prepare()
    store, compute = lab.pair(store=drives, package=True)
    put_spec(store, STORE_SPEC.format(host=host_id()))
    count = len(store.drives)
    store.until(f"test $(cat /sys/kernel/config/nvmet/subsystems/*/namespaces/*/enable 2>/dev/null | grep -c 1) = {count} "
                "&& ls /sys/kernel/config/nvmet/ports/*/subsystems/* >/dev/null 2>&1", 120)
    return store, compute


def remote_drives(compute):
    """Device nodes of the namespaces that came over the fabric."""
    listed = json.loads(compute.out("nvstripe devices -o json"))
    return sorted("/dev/" + one["kernel_name"] for one in listed["devices"] if one["kind"] == "remote_namespace")


def fio_bytes_a_second(guest, jobs, direction, seconds, ramp=6):
    """Sum over the jobs of one fio run: (name, file or device) pairs, 1 MiB direct I/O."""
    words = ["fio", "--output-format=json", "--direct=1", "--bs=1M", "--iodepth=4", "--ioengine=libaio", f"--rw={direction}",
             "--time_based", f"--runtime={seconds}", f"--ramp_time={ramp}", "--group_reporting", "--thread"]
    for name, path, size in jobs:
        words += [f"--name={name}", f"--filename={path}", f"--size={size}"]
    text = guest.out(" ".join(words), timeout=seconds + ramp + 120)
    report = json.loads(text[text.index("{"):])
    return report["jobs"][0][direction]["bw_bytes"]

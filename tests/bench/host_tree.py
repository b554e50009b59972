"""Writes a captured machine with many remote namespaces, 8 a controller, over the fixture of native multipath."""
import pathlib

BASE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "hosts" / "multipath-on.tree"
PER_TARGET = 8
FIRST = 10  # instance numbers above those of the fixture


def controller(index):
    folder = f"/sys/devices/virtual/nvme-fabrics/ctl/nvme{index}"
    address = f"10.{index // 250}.{index % 250}.1"
    files = {"address": f"traddr={address},trsvcid=4420,host_traddr=10.0.0.5", "cntlid": "1", "model": "nvstripe", "serial": f"{index:016x}",
             "firmware_rev": "6.1.0-28", "state": "live", "transport": "rdma", "queue_count": "5", "sqsize": "127",
             "subsysnqn": f"nqn.2026-11.io.nvstripe:pool:{index:016x}"}
    yield f"link /sys/class/nvme/nvme{index} -> ../../devices/virtual/nvme-fabrics/ctl/nvme{index}"
    for name, value in files.items():
        yield f"file {folder}/{name} = {value}"
    subsystem = f"/sys/devices/virtual/nvme-subsystem/nvme-subsys{index}"
    yield f"link /sys/class/nvme-subsystem/nvme-subsys{index} -> ../../devices/virtual/nvme-subsystem/nvme-subsys{index}"
    yield f"file {subsystem}/subsysnqn = {files['subsysnqn']}"
    yield f"link {subsystem}/nvme{index} -> ../../nvme-fabrics/ctl/nvme{index}"


def namespace(index, nsid, minor):
    head = f"/sys/devices/virtual/nvme-subsystem/nvme-subsys{index}/nvme{index}n{nsid}"
    path = f"/sys/devices/virtual/nvme-fabrics/ctl/nvme{index}/nvme{index}c{index}n{nsid}"
    uuid = f"{index:08x}-0000-4000-8000-{nsid:012x}"
    yield f"link /sys/block/nvme{index}n{nsid} -> ..{head[4:]}"
    yield f"link /sys/block/nvme{index}c{index}n{nsid} -> ..{path[4:]}"
    files = {"dev": f"260:{minor}", "diskseq": str(1000 + minor), "nsid": str(nsid), "uuid": uuid, "wwid": f"uuid.{uuid}", "ro": "0",
             "size": "8388608", "queue/logical_block_size": "512", "queue/physical_block_size": "512", "queue/nr_requests": "127",
             "queue/read_ahead_kb": "128", "queue/scheduler": "none"}
    for name, value in files.items():
        yield f"file {head}/{name} = {value}"
    yield f"folder {head}/holders"
    yield f"folder {head}/slaves"
    yield f"file {path}/hidden = 1"
    yield f"file {path}/size = 0"
    yield f"file {path}/queue/scheduler = [none] mq-deadline"
    yield f"file /run/udev/data/b260:{minor}"
    yield "| I:3141592"
    yield "| E:DEVTYPE=disk"
    yield "| V:1"


def write(path, count):
    lines = [BASE.read_text().rstrip("\n")]
    for target in range(count // PER_TARGET):
        lines += controller(FIRST + target)
        for nsid in range(1, PER_TARGET + 1):
            lines += namespace(FIRST + target, nsid, target * PER_TARGET + nsid)
    pathlib.Path(path).write_text("\n".join(lines) + "\n")

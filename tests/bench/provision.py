"""Spec to mounted volume for 16 remote namespaces of one target: against a careful script, and beside a dead target."""
import pathlib

import figures
import guests
from lab import Lab

COUNT = 16
RUNS = 3
SCRIPT = pathlib.Path(__file__).with_name("provision_by_hand")
LIVE = "  - {name: s1, address: 10.9.0.1, transport: rdma}\n"
DEAD = LIVE + "  - {name: dead, address: 10.9.0.77, transport: rdma}\n"  # nobody answers there, not even ARP
VOLUME = """volumes:
  - name: bench
    members: {from: [s1], count: 16}
    mount: {path: /mnt/bench}
"""
OTHER = """  - name: other
    members: {from: [dead], count: 4}
    mount: {path: /mnt/other}
"""
TIMED = """start=$(date +%s.%N)
mv /etc/nvstripe/.new /etc/nvstripe/nvstripe.yaml
for i in $(seq 6000); do mountpoint -q /mnt/bench && break; sleep 0.05; done
mountpoint -q /mnt/bench
echo "$(date +%s.%N) $start" | awk '{printf "%.2f", $1-$2}'
"""


def ours(spec):
    with Lab() as lab:
        _, compute = guests.exporting(lab, [{"size": 600 * Lab.MIB}] * COUNT)
        compute.run("mkdir -p /etc/nvstripe")
        compute.write("/etc/nvstripe/.new", spec)
        return float(compute.out(TIMED, timeout=400))


def by_hand():
    with Lab() as lab:
        _, compute = guests.exporting(lab, [{"size": 600 * Lab.MIB}] * COUNT)
        compute.run(f"systemctl stop nvstriped; echo nqn.2014-08.org.nvmexpress:uuid:{guests.host_id()} > /etc/nvme/hostnqn; "
                    f"echo {guests.host_id()} > /etc/nvme/hostid")
        compute.copy_in(str(SCRIPT), "/root/provision_by_hand")
        text = compute.out(f"bash /root/provision_by_hand rdma 10.9.0.1 4420 {COUNT} /mnt/bench", timeout=400)
        return float(text.split("mounted ")[1])


def run(_):
    plain, script, beside = [], [], []
    for _ in range(RUNS):
        plain.append(ours(guests.compute_spec(LIVE, VOLUME)))
        script.append(by_hand())
        beside.append(ours(guests.compute_spec(DEAD, VOLUME + OTHER)))
    yield figures.figure("provision", f"{COUNT} namespaces, one target", figures.median(plain), "s", peer="script",
                         peer_figure=figures.median(script), at_most=1.1, of="ratio")
    yield figures.figure("provision", "with a dead target beside", figures.median(beside), "s", peer="without it",
                         peer_figure=figures.median(plain), at_most=1.3, of="ratio")

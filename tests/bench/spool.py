"""A durable event against a bare append with fdatasync on the same disk, bursts of events, and a kill in the middle of one."""
import subprocess
import tempfile

import figures
import reconcile

RUNS = 3


def measured():
    bench = reconcile.program("spool_bench")
    found = {}
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            lines = subprocess.run([bench, folder], check=True, capture_output=True, text=True).stdout.splitlines()
        for name, value in (line.split() for line in lines):
            found.setdefault(name, []).append(float(value))
    return found


def run(_):
    found = measured()
    yield figures.figure("spool", "event, median", figures.median(found["event"]), "us", peer="append + fdatasync",
                         peer_figure=figures.median(found["append"]), at_most=1.2, of="ratio")
    yield figures.figure("spool", "burst of 1,000", figures.median(found["burst"]), "ev/s", at_least=10_000, of="figure")
    yield figures.figure("spool", "lost by a kill in a burst", max(found["lost"]), "ev", at_most=0, of="figure")

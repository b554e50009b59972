"""One scrape's CPU in both processes at 32, 256 and 1,024 namespaces, and a series' price against node_exporter's."""
import glob
import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

import figures
import host_tree
import reconcile

BAR_MS = 15  # at 1,024 namespaces, both processes
LINEAR = 1.5
SCRAPES = 60
PACKAGE = "prometheus-node-exporter"


def node_exporter():
    """The program, unpacked and not installed: its package would start a service."""
    if found := shutil.which(PACKAGE):
        return found
    folder = reconcile.ROOT / "build" / "tools"
    program = folder / "usr/bin" / PACKAGE
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-qq", PACKAGE], cwd=folder, check=True)
        subprocess.run(["dpkg-deb", "-x", glob.glob(str(folder / f"{PACKAGE}_*.deb"))[0], folder], check=True)
    return str(program)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peer_microseconds_a_series():
    port = free_port()
    process = subprocess.Popen([node_exporter(), f"--web.listen-address=127.0.0.1:{port}"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    try:
        def scrape():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
                return answer.read().decode()
        for _ in range(50):
            try:
                text = scrape()
                break
            except OSError:
                time.sleep(0.1)
        begin = cpu_seconds(process.pid)
        for _ in range(SCRAPES):
            text = scrape()
        used = cpu_seconds(process.pid) - begin
    finally:
        process.kill()
        process.wait()
    return used / SCRAPES / len(re.findall(r"^[a-z]", text, re.M)) * 1e6


def measured():
    bench = reconcile.program("scrape_bench")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for count in (32, 256, 1024):
            tree = pathlib.Path(folder) / f"{count}.tree"
            host_tree.write(tree, count)
            out = subprocess.run([bench, str(count), tree], check=True, capture_output=True, text=True).stdout
            for case, number, value in (line.split() for line in out.splitlines()):
                found[case, int(number)] = float(value)
    return found


def run(_):
    found = measured()
    both = {count: found["core", count] + found["uplink", count] for count in (32, 256, 1024)}
    for count, cost in both.items():
        yield figures.figure("scrape", f"both processes {count}", cost, "ms", limit=BAR_MS, at_most=1, of="of_limit")
    growth = both[1024] / 1024 / (both[256] / 256)
    yield figures.figure("scrape", "per namespace, 1024 : 256", growth, "x", at_most=LINEAR, of="figure")
    yield figures.figure("scrape", f"a series, of {found['series', 1024]:.0f}", both[1024] / found["series", 1024] * 1e3, "us",
                         peer="node_exporter", peer_figure=peer_microseconds_a_series(), at_most=1.0, of="ratio")

"""Planning from an Inventory in memory, and one full look at a host tree, at 32, 256 and 1,024 namespaces."""
import pathlib
import subprocess
import tempfile

import figures
import host_tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
BARS_MS = {"idle": 50, "plan": 200, "look": 1000}  # at 1,024 namespaces
LINEAR = 1.5  # cost a namespace at 1,024 may be this many times that at 256


def program(name="reconcile_bench"):
    build = ROOT / "build" / "bench"
    subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "--target", name], check=True, stdout=subprocess.DEVNULL)
    return build / "tests" / name


def measured():
    bench = program()
    lines = subprocess.run([bench], check=True, capture_output=True, text=True).stdout.splitlines()
    with tempfile.TemporaryDirectory() as folder:
        for count in (32, 256, 1024):
            tree = pathlib.Path(folder) / f"{count}.tree"
            host_tree.write(tree, count)
            lines += subprocess.run([bench, str(count), tree], check=True, capture_output=True, text=True).stdout.splitlines()
    return {(case, int(count)): float(ms) for case, count, ms in (line.split() for line in lines)}


def run(_):
    found = measured()
    for case, bar in BARS_MS.items():
        for count in (32, 256):
            yield figures.figure("reconcile", f"{case} {count}", found[case, count], "ms", limit=bar, at_most=1, of="of_limit")
        yield figures.figure("reconcile", f"{case} 1024", found[case, 1024], "ms", limit=bar, at_most=1, of="of_limit")
        growth = found[case, 1024] / 1024 / max(found[case, 256] / 256, 1e-6)
        yield figures.figure("reconcile", f"{case} per namespace, 1024 : 256", growth, "x", at_most=LINEAR, of="figure")

"""Prometheus' view while a target loses power: every scrape is answered in time, and says what is gone."""
import re

import look
import specs

BUDGET_SECONDS = 240
CORE = False


def scrape(guest):
    """Samples of one scrape, and how long it took: {'name{labels}': value}."""
    done = guest.run("curl -sS --max-time 10 -w '\\n%{http_code} %{time_total}\\n' http://127.0.0.1:9766/metrics", timeout=15)
    *lines, last = done.out.strip().splitlines()
    status, seconds = last.split()
    assert status == "200", last
    samples = dict(line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
    return {name: float(value) for name, value in samples.items()}, float(seconds)


def of(samples, name, **labels):
    """Values of a family whose labels agree."""
    def agrees(key):
        return key.split("{")[0] == name and all(f'{label}="{value}"' in key for label, value in labels.items())
    return [value for key, value in samples.items() if agrees(key)]


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    look.ready(compute, specs.compute())
    compute.until("curl -sf http://127.0.0.1:9766/metrics >/dev/null", 30)
    look.put_file(compute)
    before, _ = scrape(compute)
    assert of(before, "nvstripe_core_up") == [1]
    assert of(before, "nvstripe_volume_mounted", volume="train") == [1]
    assert of(before, "nvstripe_nvmeof_paths_live") == [1]
    assert of(before, "nvstripe_volume_written_bytes_total", volume="train")[0] >= 1 << 20
    exported, _ = scrape(store)
    assert sum(of(exported, "nvstripe_export_namespaces", transport="rdma")) == len(store.drives)

    load = look.Load(compute, 40)
    store.kill()
    slowest = 0.0

    def gone():
        nonlocal slowest
        samples, seconds = scrape(compute)
        slowest = max(slowest, seconds)
        return of(samples, "nvstripe_nvmeof_paths_live") == [0] and sum(of(samples, "nvstripe_nvme_up")) == 0
    lab.until(gone, 60, "the scrape says that the target is gone")
    lab.note(f"slowest scrape beside a dead target {slowest:.2f} s")
    samples, _ = scrape(compute)
    assert of(samples, "nvstripe_volume_state", volume="train", state="degraded") == [1], of(samples, "nvstripe_volume_state")
    assert of(samples, "nvstripe_ready") == [0]

    compute.run("systemctl kill -s KILL nvstriped; systemctl stop nvstriped")
    alone, _ = scrape(compute)
    assert of(alone, "nvstripe_core_up") == [0] and not of(alone, "nvstripe_ready")
    compute.run("systemctl start nvstriped")
    listening = compute.out("ss -Hltnp | grep -c nvstriped || true").strip()
    assert listening == "0", "the root daemon listens on the network"
    assert re.fullmatch(r"nvstrip\S*", compute.out("ps -o user= -C nvstripe-uplink").strip())

    store.start()
    store.ready()
    store.run("nvstripe wait --timeout 90", timeout=100)
    lab.until(lambda: of(scrape(compute)[0], "nvstripe_nvmeof_paths_live") == [1], 60, "the scrape says that it is back")
    load.finish()

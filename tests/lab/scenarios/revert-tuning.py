"""Every kernel setting that was changed is recorded with its old value, given back by `revert`, and a foreign setter is left be."""
import look
import specs

BUDGET_SECONDS = 180
CORE = False

SETTINGS = "sysctl -a 2>/dev/null | grep '^vm.dirty' | sort; for q in /sys/block/{nvme*c*n*,nvme*n*,md*}/queue; do " \
           "[ -d $q ] && echo $q $(cat $q/scheduler $q/rq_affinity $q/read_ahead_kb $q/wbt_lat_usec 2>/dev/null); done; true"


def settings(guest):
    return dict(line.split(" ", 1) for line in guest.out(["bash", "-c", "shopt -s nullglob; " + SETTINGS]).splitlines())


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    compute.write("/etc/sysctl.d/90-theirs.conf", "vm.dirty_background_ratio = 7\n")
    compute.run("sysctl -q -p /etc/sysctl.d/90-theirs.conf")
    # So slow a volume that the dirty limits matter on a guest of this size.
    spec = specs.compute(volumes=[specs.volume(more="    want: {write: 20MB/s}\n")])
    untuned = spec + "tuning: {profile: off}\n"
    look.ready(compute, untuned)
    before = settings(compute)
    look.ready(compute, spec)
    lab.until(lambda: look.plan(compute, 0)["actions"] == [] and look.events(compute, "tuning.applied"), 30, "tuning applied")
    tuned = settings(compute)
    changed = {name for name in before if before[name] != tuned.get(name)}
    assert changed, tuned
    lab.note(f"{len(changed)} lines of settings changed")
    said = [one for one in look.status(compute)["tuning"] if "/etc/sysctl.d/90-theirs.conf" in one["why"]]
    assert said, look.status(compute)["tuning"]
    assert compute.out("sysctl -n vm.dirty_background_ratio") == "7"
    assert compute.out("sysctl -n vm.dirty_bytes") == str(80_000_000 // 4096 * 4096)

    compute.run("nvstripe revert")
    assert settings(compute) == before
    compute.run("systemctl restart nvstriped; sleep 6")
    assert settings(compute) == before
    assert look.volume(compute)
    compute.run("nvstripe apply")
    assert settings(compute) == tuned
    look.ready(compute, untuned)
    lab.until(lambda: settings(compute) == before, 30, "withdrawn by the spec")
    look.settled(compute)

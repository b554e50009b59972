"""Jobs are run as their user, and each end is told once: by its unit, while the agent is away, when the operator stops it
or kills it, by the kernel for want of memory, and across a power cut."""
import look
import specs

BUDGET_SECONDS = 300
CORE = False
GUESTS = ("compute",)
UNIT = """[Service]
ExecStart=/bin/sh -c 'exit 7'
ExecStartPre=+-/usr/bin/nvstripe job start --from-unit
ExecStopPost=+-/usr/bin/nvstripe job end --from-unit
"""


def job(guest, name):
    return next(one for one in guest.json("nvstripe job list -o json")["jobs"] if name in (one["id"], one["name"]))


def ended(guest, name):
    guest.until(f"nvstripe job list | grep -w {name} | grep -vw running", 30)
    return job(guest, name)


def as_user(guest, user, command, **more):
    return guest.run(f"cd / && su {user} -c '{command}'", **more)


def in_background(guest, name, command):
    guest.run(f"(su ann -c 'cd / && nvstripe job run --id {name} -- {command}; echo $? >/tmp/{name}.rc' "
              f"</dev/null >/dev/null 2>&1 &)")
    guest.until(f"systemctl is-active nvstripe-job-{name}", 30)


def status_of(guest, name):
    guest.until(f"test -s /tmp/{name}.rc", 30)
    return int(guest.out(f"cat /tmp/{name}.rc"))


def runs_as_its_user(compute):
    command = 'test $(id -un):$PWD = ann:/mnt/train && dd if=/dev/zero of=file bs=1M count=16 conv=fsync && exit 3'
    compute.write("/home/ann/work", f"#!/bin/sh\n{command}\n", mode="0755")
    done = as_user(compute, "ann", "cd /mnt/train && nvstripe job run --name work --env LD_PRELOAD=/home/ann/none.so -- "
                                   "/home/ann/work", check=False)
    assert done.rc == 3, (done.rc, done.out, done.err)
    one = job(compute, "work")
    assert (one["result"], one["exit_status"], one["source"]) == ("failed", 3, "run"), one
    assert one["volumes"]["train"]["written_bytes"] >= 16 << 20 and one["duration_s"] > 0, one
    assert one["memory_peak_bytes"] > 0, one
    done = as_user(compute, "ann", r'nvstripe job run --id literal -- /bin/sh -c "test \$NVSTRIPE_JOB_ID = literal"', check=False)
    assert done.rc == 0, (done.rc, done.err, job(compute, "literal"))
    assert as_user(compute, "bob", "nvstripe job run -- true", check=False).rc == 4
    assert as_user(compute, "bob", "nvstripe job list", check=False).rc == 0
    assert as_user(compute, "ann", "nvstripe job run --id literal -- true", check=False).rc == 1


def ends_while_the_agent_is_away(compute):
    in_background(compute, "away", '/bin/sh -c "until test -e /tmp/go; do sleep 0.2; done"')
    compute.run("systemctl stop nvstriped && touch /tmp/go")
    compute.until("ls /var/lib/nvstripe/job-reports/*.json", 30)
    compute.run("systemctl start nvstriped")
    assert ended(compute, "away")["result"] == "success"
    assert status_of(compute, "away") == 0
    assert compute.out("find /var/lib/nvstripe/job-reports -type f") == ""


def is_stopped_killed_or_too_large(compute):
    in_background(compute, "stopped", "sleep 300")
    compute.run("systemctl stop nvstripe-job-stopped")
    one = ended(compute, "stopped")
    assert (one["result"], one["signal"], one["reason"]) == ("signalled", "TERM", "stopped"), one
    assert status_of(compute, "stopped") == 143
    in_background(compute, "killed", "sleep 300")
    compute.run("systemctl kill -s KILL nvstripe-job-killed")
    assert status_of(compute, "killed") == 137 and job(compute, "killed")["result"] == "signalled"
    in_background(compute, "large", '/bin/sh -c "until test -e /tmp/grow; do sleep 0.2; done; tail /dev/zero"')
    compute.run("systemctl set-property --runtime nvstripe-job-large MemoryMax=40M MemorySwapMax=0 && touch /tmp/grow")
    one = ended(compute, "large")
    # The kernel kills tail; systemd then stops what is left, and the shell is the main process.
    assert (one["result"], one["signal"], one["memory_peak_bytes"]) == ("oom", "TERM", 40 << 20), one


def run(lab):
    compute = lab.guest("compute", 4, package=True).ready()
    look.ready(compute, specs.local(4))
    compute.run("useradd -m -G nvstripe ann && useradd -m bob && chmod 1777 /mnt/train")
    runs_as_its_user(compute)
    ends_while_the_agent_is_away(compute)
    is_stopped_killed_or_too_large(compute)

    compute.write("/etc/systemd/system/prepare.service", UNIT)
    compute.run("systemctl daemon-reload; systemctl start prepare", check=False)
    one = ended(compute, "prepare")
    assert (one["source"], one["result"], one["exit_status"]) == ("unit", "failed", 7), one
    compute.run("SLURM_JOB_ID=17 SLURM_JOB_EXIT_CODE2=0:9 /usr/share/nvstripe/slurm/nvstripe-epilog")
    assert ended(compute, "slurm-17")["signal"] == "KILL"
    shown = compute.out("curl -s http://127.0.0.1:9766/metrics || true")
    assert 'nvstripe_jobs_completed_total{source="slurm",result="signalled"} 1' in shown, shown[-3000:]

    in_background(compute, "cut", "sleep 300")
    compute.kill()
    compute.start()
    compute.ready()
    one = ended(compute, "cut")
    assert (one["result"], one["reason"], one["exit_status"], one["duration_s"]) == ("unknown", "reboot", None, None), one
    told = [event["subject"] for event in look.events(compute, "job.ended")]
    assert len(told) == len(set(told)) == 9, told

"""Targets that are dead, unreachable or accept and then go silent delay nobody else, and each is said."""
import look
import specs

BUDGET_SECONDS = 200
CORE = False

DUMB = """import socket, time
s = socket.create_server(("10.9.0.1", 4430)); kept = []
while True: kept.append(s.accept())
"""


def run(lab):
    store, compute = lab.pair(package=True)
    look.ready(store, specs.storage())
    store.write("/root/dumb.py", DUMB)
    store.run("systemd-run -q --unit=dumb python3 /root/dumb.py")
    # One whose MAC is known and who never answers: the kernel alone would sit on it for 103 s, and everybody behind it.
    compute.run("ip neigh replace 10.9.0.77 lladdr 52:54:00:09:00:77 dev eth1 nud permanent")
    text = specs.compute(
        [specs.connection("a-dead", "10.9.0.77"), specs.connection("b-silent", "10.9.0.1", "tcp", ", port: 4430"),
         specs.connection()],
        [specs.volume("lost", "a-dead", 2, "/mnt/lost"), specs.volume("dumb", "b-silent", 2, "/mnt/dumb"), specs.volume()])
    compute.write(specs.PATH, text)
    took = compute.run("nvstripe wait train --timeout 60", timeout=70).seconds
    lab.note(f"mounted after {took:.1f} s beside two dead targets")
    look.whole(compute)

    def said():
        dead, dumb = look.connection(compute, "a-dead"), look.connection(compute, "b-silent")
        assert dead["state"] in ("unreachable", "silent") and dumb["state"] in ("silent", "unreachable"), (dead, dumb)
        assert dead["problem"] and dumb["problem"], (dead, dumb)
        return True
    lab.until(said, 60, "both are said")
    for name in ("lost", "dumb"):
        look.volume(compute, name, "waiting")
    assert len(look.controllers(compute)) == 1
    assert "nvme connect" not in compute.out("ps ax -o args")
    stopped = compute.run("systemctl stop nvstriped", timeout=60).seconds
    assert stopped < 25, stopped

"""The storage network: one datagram socket per guest, named after it. Two guests send to each other
directly; a third makes a hub come in between, a process of its own. Any guest may die and return."""
import os
import select
import socket
import sys

from qemu import Process, ours, spawn


class Wire:
    """`ROLE.net` is where a guest receives; `ROLE.peer` is a link to where it sends. QEMU resolves
    the name for every frame, so links may change while guests run."""

    def __init__(self, folder, outlive=False):
        self.folder = folder
        self.outlive = outlive
        self.roles = []
        self.hub = None

    def join(self, role):
        """Lets a guest in; returns where it receives and where it sends."""
        if role not in self.roles:
            self.roles.append(role)
        if len(self.roles) > 2 and not self.hub:
            ports = [os.path.join(self.folder, f"{one}.net") for one in ("store", "compute", "compute2")]
            child = spawn([sys.executable, __file__, self._path("hub.net"), *ports],
                          self._path("hub.log"), self.outlive)
            self.hub = Process(child.pid, child)
        for one in self.roles:
            others = [other for other in self.roles if other != one] or ["nobody"]
            self._point(f"{one}.peer", "hub.net" if self.hub else f"{others[0]}.net")
        net = self._path(f"{role}.net")
        if os.path.lexists(net):
            os.unlink(net)
        return net, self._path(f"{role}.peer")

    def close(self):
        if self.hub:
            self.hub.kill()

    def record(self):
        return {"roles": self.roles, "hub": self.hub.pid if self.hub else 0}

    def attach(self, record):
        self.roles = record["roles"]
        if record["hub"] and ours(record["hub"], self.folder):
            self.hub = Process(record["hub"])

    def _path(self, name):
        return os.path.join(self.folder, name)

    def _point(self, name, target):
        fresh = self._path(name + ".new")
        os.symlink(target, fresh)
        os.replace(fresh, self._path(name))


def run_hub(own, ports):
    """Forwards each frame to the port where its receiver was last heard, else to all others."""
    hub = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    hub.bind(own)
    hub.setblocking(False)
    where = {}
    while True:
        select.select([hub], [], [])
        try:
            frame, sender = hub.recvfrom(70000)
        except OSError:
            continue
        where[frame[6:12]] = sender
        known = where.get(frame[0:6])
        for port in [known] if known else ports:
            if port != sender:
                try:
                    hub.sendto(frame, port)
                except OSError:
                    pass


if __name__ == "__main__":
    run_hub(sys.argv[1], sys.argv[2:])

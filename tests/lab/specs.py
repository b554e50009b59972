"""The spec texts that scenarios share, made from a few words. Knows the lab's addresses and roles; no guest."""
import machine


def nqn(role):
    """Host NQN of a role whose identity comes from its DMI UUID, as it does without `host_id`."""
    return f"nqn.2014-08.org.nvmexpress:uuid:{machine.identity(role)['uuid']}"


def exports(*roles, slices=1, take="all", transports="rdma, tcp", devices="kind: local_ssd", name="pool"):
    """The `exports` part; `roles` may be used in this order, `take` slices each."""
    lines = [f"  - name: {name}",
             f"    devices: {{{devices}}}",
             f"    slices: {slices}",
             f"    transports: [{transports}]",
             "    listen: {network: 10.9.0.0/24, port: 4420}",
             "    allow:"]
    lines += [f'      - {{host: "{role if ":" in role else nqn(role)}", slices: {take}}}' for role in roles or ("compute",)]
    return "exports:\n" + "\n".join(lines) + "\n"


def connection(name="s1", address="10.9.0.1", transport="rdma", more=""):
    return f"  - {{name: {name}, address: {address}, transport: {transport}{more}}}\n"


def volume(name="train", sources="s1", count=4, path="/mnt/train", stack="md", more="", owner=True):
    who = ', owner: nobody, group: nogroup, mode: "2775"' if owner else ""
    return (f"  - name: {name}\n"
            f"    members: {{from: [{sources}], count: {count}}}\n"
            f"    stack: {stack}\n{more}"
            f"    mount: {{path: {path}{who}}}\n")


def storage(*roles, **words):
    """A storage VM's whole spec."""
    return "version: 1\n" + exports(*roles, **words)


def compute(connections=None, volumes=None):
    """A compute VM's whole spec: by default one connection over RDMA and one volume on all of it."""
    text = "version: 1\n"
    connections = [connection()] if connections is None else connections
    if connections:
        text += "connections:\n" + "".join(connections)
    return text + "volumes:\n" + "".join([volume()] if volumes is None else volumes)


def local(count=4, **words):
    """A spec with one volume from this VM's own drives."""
    return compute([], [volume(sources="local_ssd", count=count, **words)])


PATH = "/etc/nvstripe/nvstripe.yaml"

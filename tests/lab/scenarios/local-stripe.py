"""A volume from a VM's own SSDs: no fabric, no waiting for the network, and back after a reboot."""
import look
import specs

BUDGET_SECONDS = 200
CORE = False
GUESTS = ("compute",)


def run(lab):
    compute = lab.guest("compute", 4, package=True).ready()
    lab.note(f"mounted after {look.ready(compute, specs.local(4)):.1f} s")
    identity = look.whole(compute, transport="pcie")
    assert not look.controllers(compute)
    before = look.put_file(compute)
    look.settled(compute)
    compute.reboot()
    compute.run("nvstripe wait --timeout 60", timeout=70)
    assert look.whole(compute, transport="pcie") == identity
    assert look.checksum(compute) == before
    look.made_once(compute)

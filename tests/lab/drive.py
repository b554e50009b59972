"""An emulated NVMe drive: a sparse raw file of the run that survives power cycles."""
import os
from dataclasses import dataclass

MIB = 1 << 20


@dataclass
class Drive:
    serial: str
    size: int = 1200 * MIB
    bps: int = 0          # bytes a second in all, 0 for no limit
    block: int = 512      # logical block size
    path: str = ""
    port: int = -1        # the root port it sits on, -1 when it is in none

    def make(self, folder):
        if not self.path:
            self.path = os.path.join(folder, f"{self.serial}.{os.urandom(3).hex()}.raw")
        if not os.path.exists(self.path):
            with open(self.path, "wb") as file:
                file.truncate(self.size)

    @property
    def id(self):
        return f"nvme{self.port}"

    def backing(self):
        text = f"if=none,id={self.id},file={self.path},format=raw,cache=unsafe,discard=unmap"
        return text + (f",throttling.bps-total={self.bps}" if self.bps else "")

    def device(self):
        return (f"nvme,id=dev{self.id},drive={self.id},serial={self.serial},bus=rp{self.port},"
                f"logical_block_size={self.block},physical_block_size={self.block}")


def drives(wanted, role):
    """From a number, or a list of drives and keyword tables, to a list of drives."""
    if isinstance(wanted, int):
        wanted = [{} for _ in range(wanted)]
    made = []
    for number, one in enumerate(wanted, 1):
        made.append(one if isinstance(one, Drive) else Drive(**{"serial": f"{role}-{number}", **one}))
    return made

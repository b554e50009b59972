"""The lab's two errors and its one way to wait."""
import time


class LabError(Exception):
    """Something in the lab did not happen: a command failed, a wait ended, a guest would not start."""


class GuestSick(LabError):
    """A guest died or froze by itself (emulation does that now and then): start over."""


def until(look, timeout, what, every=0.5):
    """Calls look() until it gives something true, and returns that. What it raises meanwhile
    counts as not yet; the last of it is in the error."""
    deadline = time.monotonic() + timeout
    last = None
    while True:
        try:
            found = look()
            if found:
                return found
            last = None
        except GuestSick:
            raise
        except (LabError, AssertionError, OSError, ValueError, KeyError, IndexError) as error:
            last = error
        if time.monotonic() >= deadline:
            why = f": {last}" if last else ""
            raise LabError(f"not within {timeout} s: {what}{why}")
        time.sleep(every)

"""tests/lab/prepare [--package] [ROLE…]: fills the cache (root file system, one boot per role, with
--package also the package under test in each), nothing else. Meant to run beside a compiler, so that
scenarios find all of it there."""
import sys
import threading

import host
import image
import lab


def main(roles):
    package = "--package" in roles
    roles = [role for role in roles if role != "--package"] or ["store", "compute"]
    lab.end_on_signals()
    host.prepare()
    base = image.root()
    failed = []

    def make(role):
        try:
            lab.saved(role, base, package)
        except Exception as error:  # a thread's end is told by its list
            failed.append(f"{role}: {error}")
    threads = [threading.Thread(target=make, args=(role,)) for role in roles]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for text in failed:
        print(f"lab: {text}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

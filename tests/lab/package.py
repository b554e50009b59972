"""Finds the package under test, and has it built when there is none."""
import os
import subprocess

import image

TREE = os.path.dirname(os.path.dirname(image.HERE))


def package_file():
    """The .deb under test: NVSTRIPE_DEB, else the one built from this tree now."""
    given = os.environ.get("NVSTRIPE_DEB")
    if given:
        return os.path.abspath(given)
    return build_package()


def build_package():
    image.say("building the package")
    done = subprocess.run([os.path.join(TREE, "packaging", "build-deb")], stdout=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        raise SystemExit("lab: packaging/build-deb failed")
    path = done.stdout.strip().splitlines()[-1]
    os.environ["NVSTRIPE_DEB"] = path
    return path

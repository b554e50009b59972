"""tests/lab/try: guests to try things on by hand or from a script; they stay up between calls.

  try up [--drives N] [--bps N] [--package] [ROLE…]   default: store compute; about 5 s
  try ROLE [COMMAND…]            runs it as root; without a command prints how to log in
  try put FILE ROLE [PLACE]      copies a file in, to /root/ by default
  try get FILE ROLE [PLACE]      copies a file out, to . by default
  try install [ROLE…]            dpkg -i of the built package (NVSTRIPE_DEB, else built now)
  try reboot|off|kill|start ROLE     clean power cycle, clean off, power cut, cold start
  try plug ROLE [FIELD=VALUE…]   another drive: serial, size (bytes), bps, block
  try unplug ROLE SERIAL         takes a drive out
  try link ROLE up|down          the storage network's cable
  try status                     what is up
  try down                       ends all of it and removes its drives

One set of guests per checkout."""
import hashlib
import json
import os
import shlex
import sys

import host
import image
import lab
import machine
from guest import Guest

FOLDER = "/var/tmp/nvlab-try-" + hashlib.sha256(lab.TREE.encode()).hexdigest()[:8]
RECORD = os.path.join(FOLDER, "record.json")


def load():
    run = lab.Lab(keep=True, folder=FOLDER)
    if os.path.exists(RECORD):
        with open(RECORD, encoding="ascii") as file:
            kept = json.load(file)
        run.wire.attach(kept["wire"])
        for one in kept["guests"]:
            guest = Guest(one["role"], FOLDER, run.wire, os.path.dirname(one["key"]), outlive=True)
            run.guests[one["role"]] = guest.attach(one)
    return run


def save(run):
    record = {"wire": run.wire.record(),
              "guests": [guest.record() for guest in run.guests.values() if guest.shell]}
    with open(RECORD + ".new", "w", encoding="ascii") as file:
        json.dump(record, file)
    os.replace(RECORD + ".new", RECORD)


def up(run, words):
    host.prepare()
    drives, fields, package = None, {}, False
    roles = []
    while words:
        word = words.pop(0)
        if word == "--drives":
            drives = int(words.pop(0))
        elif word == "--bps":
            fields["bps"] = int(words.pop(0))
        elif word == "--package":
            package = True
        else:
            roles.append(word)
    roles = roles or ["store", "compute"]
    os.makedirs(FOLDER, exist_ok=True)
    for role in roles:
        if role in run.guests and run.guests[role].process:
            raise lab.LabError(f"'{role}' is up; 'try down' first")
        count = drives if role == "store" and drives is not None else lab.DEFAULT_DRIVES.get(role, 0)
        for name in (f"{role}.qcow2", f"{role}.console"):
            if os.path.exists(os.path.join(FOLDER, name)):
                os.unlink(os.path.join(FOLDER, name))
        run.guest(role, [dict(fields) for _ in range(count)], package)
        save(run)
    for role in roles:
        run.guests[role].ready()
        save(run)
    status(run)


def status(run):
    for role, guest in run.guests.items():
        print(f"{role} ({guest.address}): {'up' if guest.process and guest.process.alive() else 'off'}, "
              f"drives {', '.join(drive.serial for drive in guest.drives) or 'none'}\n  {guest.shell.login()}")


def power(run, verb, guest):
    if verb == "reboot":
        guest.reboot()
    elif verb == "off":
        print(f"off after {guest.power_off():.1f} s")
    elif verb == "kill":
        guest.kill()
    else:
        guest.start()
        guest.ready()


def command(guest, words):
    if not words:
        print(guest.shell.login())
        return 0
    line = words[0] if len(words) == 1 else shlex.join(words)
    done = guest.run(line, timeout=600, check=False, text=None if sys.stdin.isatty() else "")
    sys.stdout.write(done.out)
    sys.stderr.write(done.err)
    return done.rc


def on_guest(run, verb, words):
    """Verbs that name one guest."""
    file = words.pop(0) if verb in ("put", "get") else None
    role = words.pop(0)
    if role not in run.guests:
        raise lab.LabError(f"'{role}' is not up; 'try up {role}'")
    guest = run.guests[role]
    if verb == "put":
        guest.copy_in(file, *words[:1])
    elif verb == "get":
        guest.copy_out(file, words[0] if words else ".")
    elif verb == "link":
        guest.link(words[0])
    elif verb == "plug":
        fields = dict(word.split("=", 1) for word in words)
        drive = guest.hotplug({name: value if name == "serial" else int(value)
                               for name, value in fields.items()})
        print(drive.serial, guest.device(drive))
    elif verb == "unplug":
        guest.unplug(next(drive for drive in guest.drives if drive.serial == words[0]))
    else:
        power(run, verb, guest)
    save(run)


def main(words):
    lab.end_on_signals()
    if not words or words[0] in ("-h", "--help", "help"):
        print(__doc__)
        return 0
    verb, *words = words
    run = load()
    if verb in run.guests:
        return command(run.guests[verb], words)
    if verb == "up":
        up(run, words)
    elif verb == "status":
        status(run)
    elif verb == "down":
        run.close()
    elif verb == "install":
        run.install_package(*(run.guests[role] for role in words or run.guests))
    elif verb in ("put", "get", "link", "plug", "unplug", "reboot", "off", "kill", "start"):
        on_guest(run, verb, words)
    elif verb in machine.ROLES:
        raise lab.LabError(f"'{verb}' is not up; 'try up {verb}'")
    else:
        raise lab.LabError(f"unknown '{verb}'; 'try help' lists what there is")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (lab.LabError, IndexError, StopIteration) as error:
        image.say(str(error) or "something is missing; 'try help'")
        sys.exit(1)

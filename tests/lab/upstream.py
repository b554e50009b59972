"""A receiver of events for scenarios: keys made here, the receiver in a guest, and what it took."""
import json
import os
import pathlib
import subprocess

import lab as lab_

FOLDER = "/root/receiver"
URL = "https://10.9.0.1:8443/events"


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


class Keys:
    """Authorities and certificates, as texts by file name."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def authority(self, name):
        openssl(self.folder, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.crt")

    def certificate(self, name, names, authority):
        (self.folder / f"{name}.ext").write_text(f"subjectAltName={names}")
        openssl(self.folder, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                "-keyout", f"{name}.key", "-out", f"{name}.csr")
        openssl(self.folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.crt", "-CAkey", f"{authority}.key",
                "-CAcreateserial", "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.crt")

    def text(self, name):
        return (self.folder / name).read_text()


def keys_for(lab):
    """An authority `ca`, the receiver's certificate and a client's, both by it."""
    keys = Keys(os.path.join(lab.folder, "keys"))
    keys.authority("ca")
    keys.certificate("server", "IP:10.9.0.1", "ca")
    keys.certificate("client", "DNS:compute", "ca")
    return keys


def serve(guest, keys, client_authority="ca"):
    """Starts the receiver, or starts it anew."""
    guest.run("systemctl stop receiver 2>/dev/null; systemctl reset-failed receiver 2>/dev/null; true")
    guest.copy_in(os.path.join(lab_.HERE, "receiver.py"), "/root/receiver.py")
    guest.write(f"{FOLDER}/server.pem", keys.text("server.crt") + keys.text("server.key"), "0600")
    guest.write(f"{FOLDER}/client-ca.pem", keys.text(f"{client_authority}.crt"))
    guest.run(f"systemd-run -q --unit receiver python3 /root/receiver.py 10.9.0.1 8443 {FOLDER}")
    guest.until("ss -Hltn | grep -q :8443", 20)


def answer(guest, status):
    guest.write(f"{FOLDER}/answer", str(status))


def give(guest, keys, client="client", token="s3cret"):
    """Puts keys and token where the uplink looks; the certificate before its key, as renewals do."""
    place = "/etc/nvstripe/upstream"
    files = {"upstream-ca.pem": keys.text("ca.crt"), "upstream-cert.pem": keys.text(f"{client}.crt"),
             "upstream-key.pem": keys.text(f"{client}.key"), "upstream-token": token + "\n"}
    for name, text in files.items():
        guest.run(f"umask 077; cat >{place}/{name}; chown root:nvstripe-uplink {place}/{name}; chmod 640 {place}/{name}", text=text)


def taken(guest):
    """What arrived, in order: {'by', 'type', 'token', 'event'}."""
    text = guest.run(f"cat {FOLDER}/taken.jsonl 2>/dev/null", check=False).out
    return [json.loads(line) for line in text.splitlines() if line]


def all_arrived(guest, receiver):
    """All events of the agent are at the receiver: (events there, how many came twice)."""
    happened = {one["id"]: one for one in guest.json("nvstripe events --limit 1000 -o json")["events"]}
    arrived = [line["event"]["id"] for line in taken(receiver)]
    missing = [f"{number} {one['type']}" for number, one in happened.items() if number not in set(arrived)]
    assert not missing, missing
    return happened, len(arrived) - len(set(arrived))

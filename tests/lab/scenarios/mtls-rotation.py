"""Events go to an HTTPS receiver that asks for a certificate; certificates are renewed, both processes are killed and the
receiver is away for a while, and every event arrives in order."""
import specs
import look
import upstream

BUDGET_SECONDS = 240
CORE = True


def run(lab):
    store, compute = lab.pair(0, 4, package=True)
    keys = upstream.keys_for(lab)
    keys.authority("ca2")
    keys.certificate("client2", "DNS:compute", "ca2")
    upstream.serve(store, keys)
    upstream.give(compute, keys)
    spec = specs.local() + f'telemetry:\n  upstream: {{events: {{url: "{upstream.URL}"}}}}\n'
    look.ready(compute, spec)
    lab.until(lambda: any(line["event"]["type"] == "io.nvstripe.volume.mounted.v1" for line in upstream.taken(store)), 60,
              "the volume's event arrives")
    first = upstream.taken(store)[-1]
    assert first["by"] == "client" and first["token"] == "Bearer s3cret", first
    assert first["type"] == "application/cloudevents+json; charset=utf-8", first
    uplink = compute.out("systemctl show -p MainPID --value nvstripe-uplink")

    # The receiver takes certificates of another authority only: nothing arrives until the new one is there.
    upstream.serve(store, keys, "ca2")
    before = len(upstream.taken(store))
    compute.run("nvstripe hold --all && nvstripe apply; true")
    compute.until("journalctl -u nvstripe-uplink | grep -q 'cannot deliver events'", 60)
    assert len(upstream.taken(store)) == before
    upstream.give(compute, keys, "client2")
    lab.until(lambda: upstream.taken(store)[-1]["by"] == "client2", 120, "events arrive by the new certificate")
    assert compute.out("systemctl show -p MainPID --value nvstripe-uplink") == uplink, "the uplink was restarted"

    # Trouble at the receiver, and kill -9 on both sides.
    upstream.answer(store, 503)
    compute.run("systemctl kill -s KILL nvstripe-uplink")
    compute.run("nvstripe hold train && nvstripe apply; true")
    compute.run("systemctl kill -s KILL nvstriped")
    compute.until("nvstripe status -o json >/dev/null; test $? -le 2", 30)
    upstream.answer(store, 202)
    compute.run("systemctl kill -s KILL nvstripe-uplink")
    compute.run("nvstripe hold train && nvstripe apply; true")

    def arrived():
        upstream.all_arrived(compute, store)
        return True
    lab.until(arrived, 120, "every event is at the receiver")
    happened, twice = upstream.all_arrived(compute, store)
    sequences = [line["event"]["sequence"] for line in upstream.taken(store)]
    firsts = list(dict.fromkeys(sequences))
    assert firsts == sorted(firsts), "out of order"
    lab.note(f"{len(happened)} events, {twice} came twice")
    assert "events are delivered again" in compute.out("journalctl -u nvstripe-uplink")
    assert compute.json("nvstripe events --dead -o json")["events"] == []

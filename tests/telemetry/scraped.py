"""A real Prometheus scrapes the uplink over TLS, with a password and by an authority of its own."""
import http.server
import json
import pathlib
import socket
import socketserver
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
UPLINK = ROOT / "build/asan/nvstripe-uplink"
SECONDS = 60
# bcrypt of "secret"
HASH = "$2b$04$tG.lpVnVP1WyvC9.M3YDi.jc4sTLmNLBS/tUKY6K5433PZ6LrxNee"
KEYS = """set -e
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.crt
openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=vm -keyout server.key -out server.csr
printf subjectAltName=IP:127.0.0.1 >server.ext
openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext -out server.crt
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Agent(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def agent_at(path, spec):
    """What the uplink asks for its spec."""
    class Answers(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.close_connection = True
            body = json.dumps({"spec": spec}).encode() if self.path == "/v1/spec" else b""
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

        def address_string(self):
            return "unix"

    agent = Agent(str(path), Answers)
    threading.Thread(target=agent.serve_forever, daemon=True).start()
    return agent


def wait_for(port):
    """Until something listens, else an OSError."""
    end = time.monotonic() + SECONDS
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def targets_of(port):
    """Health and last error by job, once each target was scraped."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/targets") as answer:
                active = json.load(answer)["data"]["activeTargets"]
            if active and all(one["health"] != "unknown" for one in active):
                return {one["labels"]["job"]: (one["health"], one["lastError"]) for one in active}
        except (urllib.error.URLError, ConnectionError):
            pass
        time.sleep(0.5)
    return {}


def job(name, port, password):
    return {"job_name": name, "scheme": "https", "scrape_interval": "1s", "scrape_timeout": "1s",
            "tls_config": {"ca_file": "ca.crt"}, "basic_auth": {"username": "alice", "password": password},
            "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}


def prometheus_scrapes_over_tls():
    """Prometheus scrapes the uplink over TLS with a password, and not with a wrong one"""
    unpacked = subprocess.run([ROOT / "tests/support/unpack", "prometheus"], capture_output=True, text=True, check=True)
    prometheus = pathlib.Path(unpacked.stdout.strip()) / "usr/bin/prometheus"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run(["bash", "-c", KEYS], cwd=folder, check=True, capture_output=True)
        (folder / "web.yml").write_text("tls_server_config: {cert_file: server.crt, key_file: server.key}\n"
                                        f"basic_auth_users: {{alice: {HASH}}}\n")
        port, own = free_port(), free_port()
        config = {"scrape_configs": [job("right", port, "secret"), job("wrong", port, "guess")]}
        (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
        agent = agent_at(folder / "socket", {"telemetry": {"listen": f"127.0.0.1:{port}",
                                                           "web_config": str(folder / "web.yml")}})
        started = [subprocess.Popen([UPLINK, f"--socket={folder}/socket"], stderr=subprocess.DEVNULL)]
        try:
            wait_for(port)
            started.append(subprocess.Popen([prometheus, f"--config.file={folder}/prometheus.yml",
                                             f"--storage.tsdb.path={folder}/data", f"--web.listen-address=127.0.0.1:{own}"],
                                            cwd=folder, stderr=subprocess.DEVNULL))
            found = targets_of(own)
        finally:
            for one in reversed(started):
                one.terminate()
                one.wait()
            agent.shutdown()
    wrong = [] if found.get("right") == ("up", "") else [f"with the right password: {found.get('right')}"]
    refused = found.get("wrong", ("", ""))
    return wrong + ([] if refused[0] == "down" and "401" in refused[1] else [f"with a wrong password: {refused}"])

"""An HTTPS receiver of CloudEvents that runs in a guest: appends what it takes to a file, and answers as a second file says.

usage: receiver.py ADDRESS PORT FOLDER    FOLDER has server.pem and client-ca.pem; taken.jsonl is written, answer is read anew
each time (a status, default 202)
"""
import http.server
import json
import pathlib
import ssl
import sys

FOLDER = pathlib.Path(sys.argv[3])


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = FOLDER / "answer"
        status = int(answer.read_text()) if answer.exists() else 202
        if status == 202:
            subject = self.connection.getpeercert().get("subject", ())
            name = next((value for part in subject for key, value in part if key == "commonName"), "")
            line = {"by": name, "type": self.headers["Content-Type"], "token": self.headers.get("Authorization"),
                    "event": json.loads(body)}
            with open(FOLDER / "taken.jsonl", "a") as file:
                file.write(json.dumps(line) + "\n")
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


server = http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Receiver)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(FOLDER / "server.pem")
context.load_verify_locations(FOLDER / "client-ca.pem")
context.verify_mode = ssl.CERT_REQUIRED
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()

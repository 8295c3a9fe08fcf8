"""A faulty HTTP server for tests: python3 http_server.py PORT_FILE LOG [UPSTREAM]

Writes its port to PORT_FILE and a line per request to LOG ("POST /path authorization=… org=… body=…").
The first part of the path says how it behaves; what stands behind it may go on to UPSTREAM:

    /ok/…          200 with a small JSON body       /echo/…      200 with the request's body
    /fail-N-CODE/… CODE the first N times, then 200 (Retry-After: 0 with 429)
    /status-CODE/… CODE each time                   /cut/…       half of a body, then the connection closes
    /slow-S/…      200 after S seconds              /big-N/…     N bytes
    /gzip/…        a compressed body                /redirect/URL  302 to URL
    /proxy/…       what UPSTREAM answers
    /limit-H/…     as proxy, but 422 when a query asks for more than H hours
    /warn/…        as proxy, with a warning in the answer
    /halt-N/…      as proxy for N query_range requests, then 500
    /auth/…        as proxy, but 401 without the bearer token right-token-1234
"""
import gzip
import http.server
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

port_file, log_file = sys.argv[1:3]
upstream = sys.argv[3] if len(sys.argv) > 3 else ""
seen = {}
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body=b"{}", kind="application/json", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def proxy(self, rest, edit=None):
        request = urllib.request.Request(upstream + rest, data=self.body or None)
        try:
            with urllib.request.urlopen(request) as answer:
                status, body = answer.status, answer.read()
        except urllib.error.HTTPError as answer:
            status, body = answer.code, answer.read()
        self.reply(status, edit(body) if edit else body)

    def handle_any(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with lock, open(log_file, "a") as log:
            log.write(f"{self.command} {self.path} authorization={self.headers.get('Authorization')} "
                      f"org={self.headers.get('X-Scope-OrgID')} body={self.body.decode()}\n")
            count = seen[self.path] = seen.get(self.path, 0) + 1
        first, _, rest = self.path[1:].partition("/")
        word, *numbers = first.split("-")
        getattr(self, "do_" + word)("/" + rest, count, *numbers)

    do_GET = do_POST = handle_any

    def do_ok(self, rest, count):
        self.reply(200, b'{"fine":true}')

    def do_echo(self, rest, count):
        self.reply(200, self.body)

    def do_fail(self, rest, count, times, status):
        if count <= int(times):
            self.reply(int(status), b"not now", "text/plain", Retry_After="0")
        else:
            self.do_ok(rest, count)

    def do_status(self, rest, count, status):
        self.reply(int(status), b'{"status":"error","error":"no\nluck"}')

    def do_cut(self, rest, count):
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b"half")
        self.wfile.flush()
        self.close_connection = True

    def do_slow(self, rest, count, seconds):
        time.sleep(float(seconds))
        self.do_ok(rest, count)

    def do_big(self, rest, count, size):
        self.reply(200, b"x" * int(size))

    def do_gzip(self, rest, count):
        self.reply(200, gzip.compress(b"unpacked " * 1000), Content_Encoding="gzip")

    def do_redirect(self, rest, count):
        self.reply(302, b"", Location=urllib.parse.unquote(rest[1:]))

    def do_proxy(self, rest, count):
        self.proxy(rest)

    def do_limit(self, rest, count, hours):
        form = urllib.parse.parse_qs(self.body.decode())
        if "start" in form and int(form["end"][0]) - int(form["start"][0]) >= int(hours) * 3600:
            self.reply(422, b'{"status":"error","errorType":"execution","error":"query processing would load too many samples"}')
        else:
            self.proxy(rest)

    def do_warn(self, rest, count):
        def edit(body):
            answer = json.loads(body)
            if isinstance(answer.get("data"), dict):
                answer["warnings"] = ["a store was away"]
            return json.dumps(answer).encode()
        self.proxy(rest, edit)

    def do_halt(self, rest, count, times):
        if self.command == "POST" and count > int(times):
            self.reply(500, b"out of order", "text/plain")
        else:
            self.proxy(rest)

    def do_auth(self, rest, count):
        if self.headers.get("Authorization") == "Bearer right-token-1234":
            self.proxy(rest)
        else:
            self.reply(401, b"who are you", "text/plain")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        if not isinstance(sys.exc_info()[1], ConnectionError):  # a client that was killed is no fault
            super().handle_error(request, address)


server = Server(("127.0.0.1", 0), Handler)
with open(port_file + ".tmp", "w") as out:
    out.write(str(server.server_port))
os.rename(port_file + ".tmp", port_file)
server.serve_forever()

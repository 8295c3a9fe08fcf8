"""An S3 server for tests: python3 s3_server.py PORT_FILE LOG ROOT CONTROL [CERT KEY]

ROOT/BUCKET/KEY is what it serves, by path and by host name (BUCKET.localhost). Signatures are checked
here from the definition of Signature Version 4, with nothing of the program. LOG gets a line per
request: "METHOD PATH STATUS range=… match=…". CONTROL is a JSON file, read again when it changes
(and all counts begin anew); its keys:

    keys      {ACCESS_KEY: SECRET}          token   the session token that must come, signed
    page      keys per page of a listing    region  the bucket's region
    slow      first N requests of each path get 503 SlowDown, once with Retry-After
    cut       [BYTES, TIMES]: bodies of .gz and .csv end after BYTES, TIMES times in all
    change    [KEY, FILE]: at the first GET of KEY half of it is sent, then FILE takes its place
    archived  keys that lie in an archive   ahead   seconds the server's clock is ahead
    stall     seconds before each body      role    {name, key, secret, token, expiration} of metadata
    sig       the value of sig= that /web/FILE wants
"""
import email.utils
import hashlib
import hmac
import http.server
import json
import os
import shutil
import ssl
import sys
import threading
import time
import urllib.parse
import xml.sax.saxutils

port_file, log_file, root, control_file = sys.argv[1:5]
lock = threading.Lock()
state = {"stamp": None, "control": {}, "counts": {}}


def control():
    stamp = os.stat(control_file).st_mtime_ns
    with lock:
        if stamp != state["stamp"]:
            with open(control_file) as file:
                state.update(stamp=stamp, control=json.load(file), counts={})
        return state["control"]


def count(what):
    with lock:
        state["counts"][what] = state["counts"].get(what, 0) + 1
        return state["counts"][what]


def quote(text, safe):
    return urllib.parse.quote(text, safe=safe + "-_.~")


def sign(key, *parts):
    for part in parts:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


class Fault(Exception):
    def __init__(self, status, code, message="", more="", **headers):
        super().__init__(code)
        self.status, self.code, self.message, self.more, self.headers = status, code, message, more, headers


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self, status):
        with lock, open(log_file, "a") as log:
            log.write(f"{self.command} {self.path} {status} range={self.headers.get('Range')} "
                      f"match={self.headers.get('If-Match')} agent={self.headers.get('User-Agent')}\n")

    def date_time_string(self, timestamp=None):
        now = time.time() + control().get("ahead", 0)
        return email.utils.formatdate(timestamp if timestamp is not None else now, usegmt=True)

    def reply(self, status, body=b"", kind="application/xml", **headers):
        self.note(status)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    # ---- signatures

    def check_signature(self):
        rules = control()
        word, _, rest = (self.headers.get("Authorization") or "").partition(" ")
        if word != "AWS4-HMAC-SHA256":
            raise Fault(403, "AccessDenied", "Anonymous access is forbidden")
        fields = dict(part.strip().split("=", 1) for part in rest.split(","))
        key_id, day, region, service, end = fields["Credential"].split("/")
        names = fields["SignedHeaders"].split(";")
        if key_id not in rules["keys"]:
            raise Fault(403, "InvalidAccessKeyId", "The key does not exist")
        if "token" in rules and self.headers.get("X-Amz-Security-Token") != rules["token"]:
            raise Fault(400, "InvalidToken", "The token is malformed")
        if names != sorted(names) or "host" not in names or any(
                name.lower().startswith("x-amz-") and name.lower() not in names for name in self.headers):
            raise Fault(403, "AccessDenied", "There were headers present in the request which were not signed")
        if region != rules.get("region", region):
            raise Fault(400, "AuthorizationHeaderMalformed", f"the region '{region}' is wrong; expecting '{rules['region']}'",
                        f"<Region>{rules['region']}</Region>", x_amz_bucket_region=rules["region"])
        stamp = self.headers["X-Amz-Date"]
        sent = time.mktime(time.strptime(stamp, "%Y%m%dT%H%M%SZ")) - time.timezone
        if abs(sent - time.time() - rules.get("ahead", 0)) > 900:
            raise Fault(403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.")
        payload = self.headers["X-Amz-Content-Sha256"]
        if payload != hashlib.sha256(self.body).hexdigest():
            raise Fault(400, "XAmzContentSHA256Mismatch", "The provided hash does not match the body")
        path, _, query = self.path.partition("?")
        pairs = sorted((quote(name, ""), quote(value, "")) for name, value in urllib.parse.parse_qsl(query, True))
        canonical = "\n".join([self.command, quote(urllib.parse.unquote(path), "/"),
                               "&".join(f"{name}={value}" for name, value in pairs)]
                              + [f"{name}:{' '.join(self.headers[name].split())}" for name in names]
                              + ["", ";".join(names), payload])
        scope = f"{day}/{region}/{service}/{end}"
        text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        secret = ("AWS4" + rules["keys"][key_id]).encode()
        if (service, end, day) != ("s3", "aws4_request", stamp[:8]) or not hmac.compare_digest(
                sign(secret, day, region, service, end, text).hex(), fields["Signature"]):
            raise Fault(403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.",
                        f"<CanonicalRequest>{xml.sax.saxutils.escape(canonical)}</CanonicalRequest>")

    # ---- what is there

    def list_bucket(self, bucket, query):
        folder = os.path.join(root, bucket)
        keys = sorted(os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names)
        prefix, token = query.get("prefix", ""), query.get("continuation-token", "")
        keys = [key for key in keys if key.startswith(prefix) and (not token or key > bytes.fromhex(token).decode())]
        size = control().get("page", 1000)
        page, more = keys[:size], len(keys) > size
        encode = (lambda key: quote(key, "/").replace("%20", "+")) if query.get("encoding-type") == "url" else xml.sax.saxutils.escape
        body = ['<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">',
                f"<Name>{bucket}</Name><KeyCount>{len(page)}</KeyCount><IsTruncated>{str(more).lower()}</IsTruncated>"]
        if query.get("encoding-type") == "url":
            body.append("<EncodingType>url</EncodingType>")
        if more:
            body.append(f"<NextContinuationToken>{page[-1].encode().hex()}</NextContinuationToken>")
        for key in page:
            path = os.path.join(folder, key)
            when = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(os.stat(path).st_mtime))
            body.append(f"<Contents><Key>{encode(key)}</Key><LastModified>{when}</LastModified><ETag>{self.etag(path).replace(chr(34), '&quot;')}"
                        f"</ETag><Size>{os.path.getsize(path)}</Size><StorageClass>STANDARD</StorageClass></Contents>")
        self.reply(200, ("".join(body) + "</ListBucketResult>").encode())

    @staticmethod
    def etag(path):
        with open(path, "rb") as file:
            return '"' + hashlib.md5(file.read()).hexdigest() + '"'

    def give(self, path, name):
        rules = control()
        if not os.path.isfile(path):
            raise Fault(404, "NoSuchKey", "The specified key does not exist.")
        if name in rules.get("archived", []):
            raise Fault(403, "InvalidObjectState", "The operation is not valid for the object's storage class")
        with open(path, "rb") as file:
            whole = file.read()
        etag = self.etag(path)
        if self.headers.get("If-Match", etag) != etag:
            raise Fault(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
        first, last, status, headers = 0, len(whole) - 1, 200, {}
        if self.headers.get("Range"):
            begin, _, end = self.headers["Range"].removeprefix("bytes=").partition("-")
            first, last = int(begin), min(int(end or len(whole) - 1), len(whole) - 1)
            if first >= len(whole):
                raise Fault(416, "InvalidRange", "The requested range is not satisfiable")
            status, headers = 206, {"Content-Range": f"bytes {first}-{last}/{len(whole)}"}
        body = whole[first:last + 1]
        time.sleep(rules.get("stall", 0))
        self.note(status)
        self.send_response(status)
        headers |= {"ETag": etag, "Content-Length": str(len(body)), "Content-Type": "binary/octet-stream",
                    "Last-Modified": self.date_time_string(os.stat(path).st_mtime)}
        for header, value in headers.items():
            self.send_header(header, value)
        self.end_headers()
        most = len(body)
        if "cut" in rules and name.endswith((".gz", ".csv", ".zip")) and most > rules["cut"][0] and count("cut") <= rules["cut"][1]:
            most = rules["cut"][0]
        if rules.get("change", [None])[0] == name and count("change") == 1:
            most = len(body) // 2
            shutil.copyfile(rules["change"][1], path)
        self.wfile.write(body[:most])
        self.close_connection |= most < len(body)

    def metadata(self, path):
        role = control().get("role")
        if self.command == "PUT" and path == "/latest/api/token" and self.headers.get("X-aws-ec2-metadata-token-ttl-seconds"):
            return self.reply(200, b"metadata-token-123", "text/plain")
        if not role or self.headers.get("X-aws-ec2-metadata-token") != "metadata-token-123":
            return self.reply(401, b"no token", "text/plain")
        if path == "/latest/meta-data/iam/security-credentials/":
            return self.reply(200, role["name"].encode(), "text/plain")
        self.reply(200, json.dumps({"Code": "Success", "AccessKeyId": role["key"], "SecretAccessKey": role["secret"],
                                    "Token": role["token"], "Expiration": role["expiration"]}).encode(), "application/json")

    def answer(self):
        path, _, query = self.path.partition("?")
        path, query = urllib.parse.unquote(path), dict(urllib.parse.parse_qsl(query, True))
        if path.startswith("/latest/"):
            return self.metadata(path)
        if count(self.path) <= control().get("slow", 0):
            raise Fault(503, "SlowDown", "Please reduce your request rate.", Retry_After="0")
        if path.startswith("/web/"):
            if query.get("sig") != control().get("sig"):
                raise Fault(403, "AuthenticationFailed", f"Signature did not match: {self.path}")
            return self.give(os.path.join(root, "web", path[5:]), path[5:])
        self.check_signature()
        host = self.headers["Host"].split(":")[0]
        bucket, _, key = (host.removesuffix(".localhost") + path).partition("/") if host.endswith(".localhost") else path[1:].partition("/")
        if not os.path.isdir(os.path.join(root, bucket)):
            raise Fault(404, "NoSuchBucket", "The specified bucket does not exist")
        if key:
            return self.give(os.path.join(root, bucket, key), key)
        if query.get("list-type") != "2":
            raise Fault(400, "InvalidArgument", "only ListObjectsV2 is known")
        self.list_bucket(bucket, query)

    def handle_any(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self.answer()
        except Fault as fault:
            self.reply(fault.status, f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{fault.code}</Code><Message>'
                       f"{xml.sax.saxutils.escape(fault.message)}</Message>{fault.more}</Error>".encode(), **fault.headers)

    do_GET = do_PUT = do_POST = handle_any


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, ssl.SSLError)):
            super().handle_error(request, address)


server = Server(("127.0.0.1", 0), Handler)
if len(sys.argv) > 6:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[5:7])
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(port_file + ".tmp", "w") as out:
    out.write(str(server.server_port))
os.rename(port_file + ".tmp", port_file)
server.serve_forever()

"""CloudWatch for tests: python3 cloudwatch_server.py PORT_FILE LOG FIXTURE CONTROL

Speaks the JSON protocol 1.0 of GraniteServiceVersion20100801 (ListMetrics, GetMetricData). Signatures
are checked here from the definition of Signature Version 4, with nothing of the program. FIXTURE is a
JSON file, read at each call:

    [{"namespace", "metric", "dimensions": {NAME: VALUE}, "listed": true, "forbidden": false,
      "hours": {"2026-07-01T00": [SUM, COUNT, MAX], …}}, …]

LOG gets a line per call: "ACTION STATUS queries=N from=… token=… next=…". CONTROL is a JSON file,
read again when it changes (all counts begin anew); its keys:

    keys      {ACCESS_KEY: SECRET}       token     the session token that must come, signed
    region    the only region it takes   ahead     seconds the server's clock is ahead
    list      metrics a page of a list   page      values a page of GetMetricData
    throttle  first N calls get 400 ThrottlingException
    busy      first N calls get 503      cut       first N calls end in mid-answer
    partial   [METRIC, N]: the first N answers for it are PartialData with half of the values
    internal  [METRIC, N]: likewise InternalError without values
    stale     N: so many page tokens of GetMetricData are refused
    stall     seconds before an answer   halt      after so many calls every one gets 500
    denied    action that is AccessDenied
    drop      STATISTIC that has no values
"""
import calendar
import email.utils
import hashlib
import hmac
import http.server
import json
import os
import sys
import threading
import time

port_file, log_file, fixture_file, control_file = sys.argv[1:5]
lock = threading.Lock()
state = {"stamp": None, "control": {}, "counts": {}}
PREFIX = "GraniteServiceVersion20100801."
STATISTICS = {"Average": lambda s, n, m: s / n, "Maximum": lambda s, n, m: m, "SampleCount": lambda s, n, m: n,
              "Sum": lambda s, n, m: s}


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


def fixture():
    with open(fixture_file) as file:
        return json.load(file)


def seconds(hour):
    return calendar.timegm(time.strptime(hour, "%Y-%m-%dT%H"))


def sign(key, *parts):
    for part in parts:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


class Fault(Exception):
    def __init__(self, status, code, message=""):
        super().__init__(code)
        self.status, self.code, self.message = status, code, message


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    note_text = ""

    def log_message(self, *args):
        pass

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(time.time() + control().get("ahead", 0), usegmt=True)

    def reply(self, status, answer, cut=False):
        body = json.dumps(answer).encode()
        with lock, open(log_file, "a") as log:
            action = (self.headers.get("X-Amz-Target") or "-").removeprefix(PREFIX)
            log.write(f"{action} {status}{' cut' if cut else ''}{self.note_text}\n")
        self.send_response(status)
        self.send_header("Content-Type", "application/x-amz-json-1.0")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2] if cut else body)
        self.close_connection |= cut

    def check_signature(self):
        rules = control()
        word, _, rest = (self.headers.get("Authorization") or "").partition(" ")
        if not word:
            raise Fault(403, "MissingAuthenticationToken", "Missing Authentication Token")
        if word != "AWS4-HMAC-SHA256":
            raise Fault(403, "IncompleteSignature", "Authorization header requires a Signature Version 4")
        fields = dict(part.strip().split("=", 1) for part in rest.split(","))
        key_id, day, region, service, end = fields["Credential"].split("/")
        names = fields["SignedHeaders"].split(";")
        if key_id not in rules["keys"] or self.headers.get("X-Amz-Security-Token") != rules.get("token"):
            raise Fault(403, "UnrecognizedClientException", "The security token included in the request is invalid.")
        if names != sorted(names) or "host" not in names or any(
                name.lower().startswith("x-amz-") and name.lower() not in names for name in self.headers):
            raise Fault(403, "InvalidSignatureException", "There were headers present in the request which were not signed")
        stamp = self.headers["X-Amz-Date"]
        sent = calendar.timegm(time.strptime(stamp, "%Y%m%dT%H%M%SZ"))
        if abs(sent - time.time() - rules.get("ahead", 0)) > 300:
            raise Fault(403, "SignatureDoesNotMatch", f"Signature expired: {stamp} is now earlier than the server's")
        if region != rules.get("region", region) or (service, end, day) != ("monitoring", "aws4_request", stamp[:8]):
            raise Fault(403, "InvalidSignatureException", "Credential should be scoped to a valid region and service")
        canonical = "\n".join([self.command, self.path, ""] + [f"{name}:{' '.join(self.headers[name].split())}" for name in names]
                              + ["", ";".join(names), hashlib.sha256(self.body).hexdigest()])
        scope = f"{day}/{region}/{service}/{end}"
        text = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        secret = ("AWS4" + rules["keys"][key_id]).encode()
        if not hmac.compare_digest(sign(secret, day, region, service, end, text).hex(), fields["Signature"]):
            raise Fault(403, "SignatureDoesNotMatch", "The request signature we calculated does not match the signature you provided.")

    def list_metrics(self, ask):
        metrics = [m for m in fixture() if m.get("listed", True) and m["namespace"] == ask.get("Namespace", m["namespace"])
                   and m["metric"] == ask.get("MetricName", m["metric"])]
        first = 0
        if "NextToken" in ask:
            word, _, number = ask["NextToken"].partition("-")
            if word != "list" or not number.isdigit():
                raise Fault(400, "InvalidParameterValue", "NextToken is not valid")
            first = int(number)
        last = first + control().get("list", 500)
        answer = {"Metrics": [{"Namespace": m["namespace"], "MetricName": m["metric"],
                               "Dimensions": [{"Name": n, "Value": v} for n, v in m["dimensions"].items()]}
                              for m in metrics[first:last]]}
        if last < len(metrics):
            answer["NextToken"] = f"list-{last}"
        self.note_text = f" {ask.get('Namespace')} {ask.get('MetricName')} from={first}"
        return answer

    @staticmethod
    def check_queries(ask):
        queries, start, end = ask["MetricDataQueries"], ask["StartTime"], ask["EndTime"]
        if not 1 <= len(queries) <= 500:
            raise Fault(400, "ValidationError", f"The collection MetricDataQueries must have a size of 1 to 500, not {len(queries)}")
        if not start < end:
            raise Fault(400, "ValidationError", "The parameter StartTime must be less than the parameter EndTime")
        points = 0
        for query in queries:
            stat = query["MetricStat"]
            if not query["Id"][0].islower() or stat["Period"] % 60 or stat["Stat"] not in STATISTICS:
                raise Fault(400, "ValidationError", "An Id, Period or Stat is not valid")
            if stat["Period"] < 3600 and start < time.time() - 63 * 86400:
                raise Fault(400, "ValidationError", "The period is not kept that long")
            points += (end - start) // stat["Period"]
        if points > 100800:
            raise Fault(400, "ValidationError", f"You have requested {points} data points, which exceeds the limit of 100800")
        if len({query["Id"] for query in queries}) != len(queries):
            raise Fault(400, "ValidationError", "Ids are not unique")

    def result(self, query, ask, metrics):
        stat, rules = query["MetricStat"], control()
        asked = stat["Metric"]
        dimensions = {d["Name"]: d["Value"] for d in asked["Dimensions"]}
        found = [m for m in metrics if (m["namespace"], m["metric"], m["dimensions"]) == (asked["Namespace"], asked["MetricName"], dimensions)]
        values = sorted((seconds(hour), v) for m in found for hour, v in m["hours"].items())
        values = [(at, STATISTICS[stat["Stat"]](*v)) for at, v in values if ask["StartTime"] <= at < ask["EndTime"]]
        status = "Complete"
        if rules.get("drop") == stat["Stat"]:
            values = []
        if any(m.get("forbidden") for m in found):
            values, status = [], "Forbidden"
        for key, part in (("partial", len(values) // 2), ("internal", 0)):
            if key in rules and rules[key][0] == asked["MetricName"] and count(f"{key} {json.dumps(stat)} {ask['StartTime']}") <= rules[key][1]:
                values, status = values[:part], {"partial": "PartialData", "internal": "InternalError"}[key]
        return [query["Id"], values, status]

    def get_metric_data(self, ask):
        self.check_queries(ask)
        size, skip = control().get("page", 100800), 0
        if "NextToken" in ask:
            word, _, number = ask["NextToken"].partition("-")
            if word != "data" or not number.isdigit() or count("stale") <= control().get("stale", 0):
                raise Fault(400, "InvalidNextToken", "The next token specified is invalid.")
            skip = int(number)
        metrics, results, at = fixture(), [], 0
        for name, values, status in (self.result(query, ask, metrics) for query in ask["MetricDataQueries"]):
            if ask.get("ScanBy") != "TimestampAscending":
                values = values[::-1]
            part = values[max(0, skip - at):max(0, skip + size - at)]
            if part or (not values and not skip):
                status = status if at + len(values) <= skip + size else "PartialData"
                results.append({"Id": name, "Label": name, "Timestamps": [float(when) for when, _ in part],
                                "Values": [value for _, value in part], "StatusCode": status})
            at += len(values)
        more = at > skip + size
        self.note_text = (f" queries={len(ask['MetricDataQueries'])} from={ask['StartTime']} to={ask['EndTime']} token={ask.get('NextToken')}")
        answer = {"MetricDataResults": results, "Messages": []}
        if more:
            answer["NextToken"] = f"data-{skip + size}"
        return answer

    def answer(self):
        rules, target = control(), self.headers.get("X-Amz-Target") or ""
        calls = count("calls")
        if self.path != "/":
            raise Fault(404, "UnknownOperationException", "no such path")
        if self.headers.get("Content-Type") != "application/x-amz-json-1.0":
            raise Fault(415, "SerializationException", "Content-Type must be application/x-amz-json-1.0")
        if calls > rules.get("halt", 1 << 30):
            raise Fault(500, "InternalServiceFault", "halted")
        if calls <= rules.get("busy", 0):
            raise Fault(503, "ServiceUnavailable", "busy")
        self.check_signature()
        if calls <= rules.get("throttle", 0):
            raise Fault(400, "com.amazonaws.monitoring#ThrottlingException", "Rate exceeded")
        actions = {"ListMetrics": self.list_metrics, "GetMetricData": self.get_metric_data}
        action = target.removeprefix(PREFIX)
        if not target.startswith(PREFIX) or action not in actions:
            raise Fault(404, "UnknownOperationException", "")
        if rules.get("denied") == action:
            raise Fault(403, "AccessDenied", f"User is not authorized to perform: cloudwatch:{action}")
        answer = actions[action](json.loads(self.body))
        time.sleep(rules.get("stall", 0))
        self.reply(200, answer, cut=calls <= rules.get("cut", 0))

    def do_POST(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self.answer()
        except Fault as fault:
            self.reply(fault.status, {"__type": fault.code, "message": fault.message})


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, address)


server = Server(("127.0.0.1", 0), Handler)
with open(port_file + ".tmp", "w") as out:
    out.write(str(server.server_port))
os.rename(port_file + ".tmp", port_file)
server.serve_forever()

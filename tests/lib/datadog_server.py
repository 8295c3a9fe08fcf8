"""Datadog's POST /api/v2/query/timeseries for tests: python3 datadog_server.py PORT_FILE LOG FIXTURE CONTROL

FIXTURE is a JSON file, read at each call: one entry a time series, before any grouping:

    [{"metric", "tags": {NAME: VALUE}, "hours": {"2026-07-01T00": [SUM, COUNT, MAX], …}}, …]

LOG gets a line per call: "STATUS QUERY from=… to=… step=…". CONTROL is a JSON file, read again when it
changes (all counts begin anew); its keys:

    api, app  the two keys           denied    the application key lacks timeseries_query
    limit     first N calls get 429  reset     X-RateLimit-Reset of those; period likewise
    busy      first N calls get 503  cut       first N calls end in mid-answer
    halt      after so many calls every one gets 500
    stall     seconds before an answer
    wide      [STEP, HOURS]: spans of more than HOURS come in steps of STEP hours
    pad       [BYTES, HOURS]: answers for more than HOURS are BYTES longer
    drop      time aggregator whose answers have no series
    odd       "short": a series lacks a value; "page": a login page with status 200
"""
import calendar
import http.server
import json
import math
import os
import re
import sys
import threading
import time

port_file, log_file, fixture_file, control_file = sys.argv[1:5]
lock = threading.Lock()
state = {"stamp": None, "control": {}, "counts": {}}
HOUR = 3600000
MOST_POINTS, MOST_SPAN = 1500, 60 * 24 * HOUR
QUERY = re.compile(r"(sum|avg|max|min):([a-z_.]+)\{([^{}]+)\} by \{([a-z_,]+)\}\.rollup\((sum|avg|max|count), (\d+)\)\.fill\(null\)")


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


def milliseconds(hour):
    return calendar.timegm(time.strptime(hour, "%Y-%m-%dT%H")) * 1000


class Fault(Exception):
    def __init__(self, status, text, **headers):
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers


def in_time(aggregator, buckets):
    total, number, most = sum(b[0] for b in buckets), sum(b[1] for b in buckets), max(b[2] for b in buckets)
    return {"sum": total, "count": number, "max": most, "avg": total / number}[aggregator]


def in_space(aggregator, values):
    return {"sum": sum, "max": max, "min": min, "avg": lambda v: sum(v) / len(v)}[aggregator](values)


def matches(tags, scope):
    return scope == "*" or all(tags.get(part.split(":")[0]) == part.split(":", 1)[1] for part in scope.split(","))


def evaluate(query, start, end, step):
    """{group: {time: value}}"""
    found = QUERY.fullmatch(query)
    if not found:
        raise Fault(400, f"Error parsing query: {query}")
    space, metric, scope, by, in_hour, rollup = found.groups()
    if int(rollup) != 3600:
        raise Fault(400, "this server knows hours only")
    groups = {}
    with open(fixture_file) as file:
        series = json.load(file)
    for one in series:
        if one["metric"] != metric or not matches(one["tags"], scope) or control().get("drop") == in_hour:
            continue
        group = tuple(f"{name}:{one['tags'].get(name, 'N/A')}" for name in by.split(","))
        buckets = {}
        for hour, value in one["hours"].items():
            at = milliseconds(hour)
            if start <= at <= end:
                buckets.setdefault(at // step * step, []).append(value)
        for at, values in buckets.items():
            groups.setdefault(group, {}).setdefault(at, []).append(in_time(in_hour, values))
    return {group: {at: in_space(space, values) for at, values in times.items()} for group, times in groups.items()}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    note_text = ""

    def log_message(self, *args):
        pass

    def reply(self, status, body, kind="application/json", cut=False, **headers):
        with lock, open(log_file, "a") as log:
            log.write(f"{status}{' cut' if cut else ''}{self.note_text}\n")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2] if cut else body)
        self.close_connection |= cut

    def check(self, calls):
        rules = control()
        if self.headers.get("Content-Type") != "application/json":
            raise Fault(415, "Content-Type must be application/json")
        if self.headers.get("DD-API-KEY") != rules["api"] or self.headers.get("DD-APPLICATION-KEY") != rules["app"] or "denied" in rules:
            raise Fault(403, "Forbidden")
        if self.path != "/api/v2/query/timeseries":
            raise Fault(404, "Not Found")
        if calls > rules.get("halt", 1 << 30):
            raise Fault(500, "halted")
        if calls <= rules.get("busy", 0):
            raise Fault(503, "busy")
        if calls <= rules.get("limit", 0):
            headers = {f"X_RateLimit_{name.title()}": rules[name] for name in ("reset", "period") if name in rules}
            raise Fault(429, "Rate limit of 1 requests in 1 seconds reached", X_RateLimit_Name="timeseries", **headers)

    def answer(self):
        rules, calls = control(), count("calls")
        self.check(calls)
        data = json.loads(self.body)["data"]
        ask = data["attributes"]
        if data["type"] != "timeseries_request" or len(ask["queries"]) != 1 or ask["queries"][0]["data_source"] != "metrics" \
                or [f["formula"] for f in ask["formulas"]] != [ask["queries"][0]["name"]]:
            raise Fault(400, "not a timeseries_request of one query and its formula")
        start, end, step = ask["from"], ask["to"], ask["interval"]
        if not start < end or end - start > MOST_SPAN:
            raise Fault(400, "from and to are not in order, or too far apart")
        span = math.ceil((end - start) / HOUR)
        if span > MOST_POINTS:
            step = HOUR * math.ceil(span / MOST_POINTS)
        if "wide" in rules and span > rules["wide"][1]:
            step = HOUR * rules["wide"][0]
        groups = evaluate(ask["queries"][0]["query"], start, end, step)
        times = sorted({at for values in groups.values() for at in values})
        if times:
            times = list(range(times[0], times[-1] + 1, step))
        values = [[values.get(at) for at in times] for values in groups.values()]
        if rules.get("odd") == "short" and values:
            values[0].pop()
        if rules.get("odd") == "page":
            return self.reply(200, b"<html>log in</html>", "text/html")
        body = json.dumps({"data": {"id": "0", "type": "timeseries_response", "attributes": {
            "series": [{"group_tags": list(group), "query_index": 0, "unit": None} for group in groups],
            "times": times, "values": values}}})
        if "pad" in rules and span > rules["pad"][1]:
            body += " " * rules["pad"][0]
        self.note_text = f" {ask['queries'][0]['query']} from={start} to={end} step={step}"
        time.sleep(rules.get("stall", 0))
        self.reply(200, body.encode(), cut=calls <= rules.get("cut", 0))

    def do_POST(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            self.answer()
        except Fault as fault:
            self.reply(fault.status, json.dumps({"errors": [fault.text]}).encode(), **fault.headers)


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

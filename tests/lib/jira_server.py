#!/usr/bin/env python3
"""A Jira Cloud site for tests, on loopback.

  jira_server.py PORT-FILE LOG-FILE [--issues N] [--user NAME --token TOKEN]

Writes its port to PORT-FILE once it listens, and each request it took (method, path, body) as a line
to LOG-FILE. Follows the published issue search: POST and GET /rest/api/3/search/jql with Basic
credentials, bounded jql, only ids unless fields are asked for, pages by an opaque nextPageToken that
is absent on the last page, no total, 400 for startAt and for unknown tokens, 410 for the search it
replaced.

The first segment of the path is how the site behaves; its url is http://127.0.0.1:PORT/BEHAVIOUR:
  good       full pages of maxResults, at most 100
  short      pages of 7, each third one empty though it is not the last
  silent     as good, but isLast is never sent
  throttled  as good, but every page answers 429 with Retry-After: 1 the first time
  same       the same nextPageToken for ever
  circle     three tokens in a circle
  empty      empty pages for ever, each with a token of its own
  moved      an issue of the first page stands on the last one again, changed
  warned     the answer carries a warning
  open       isLast false and no nextPageToken
  none       no issue matches
  nobody     no issue matches, and the credentials count as nobody
  gone       410 for everything
  page       a login page with status 200
  list       JSON without issues
"""
import argparse
import base64
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

MOST = 100
FIELDS = [
    {"id": "customfield_10050", "name": "GPU team", "custom": True},
    {"id": "customfield_10051", "name": "Cost center", "custom": True},
    {"id": "customfield_10052", "name": "Cost Center", "custom": True},
    {"id": "labels", "name": "Labels", "custom": False},
]
TEAMS = [{"value": "search"}, {"value": "Research", "child": {"value": "Vision"}}, "ads", [{"name": "a"}, {"name": "b"}],
         None, {"id": "7", "title": "Platform"}]


def issue(number):
    day = 1 + number % 28
    return {
        "id": str(20000 + number), "key": f"ML-{number}",
        "fields": {
            "summary": f"Train model {number} \"fast\", <cheap>",
            "project": {"key": "ML", "name": "Machine learning"},
            "issuetype": {"name": "Task"},
            "status": {"name": "Done", "statusCategory": {"key": "done"}},
            "created": f"2026-07-{day:02d}T10:00:00.000+0200", "updated": f"2026-08-{day:02d}T10:00:00.000+0000",
            "resolutiondate": f"2026-09-{day:02d}T10:00:00.000-0330" if number % 2 else None,
            "labels": ["gpu", f"n{number % 3}"],
            "assignee": {"displayName": f"Person {number % 5}"} if number % 4 else None,
            "customfield_10050": TEAMS[number % len(TEAMS)],
            "customfield_10051": 4711,
        },
    }


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    issues, credentials, log = [], "", None
    throttled = set()

    def do_GET(self):
        query = {k: v[-1] for k, v in parse_qs(urlsplit(self.path).query).items()}
        if "fields" in query:
            query["fields"] = query["fields"].split(",")
        self.route("GET", query)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            query = json.loads(body)
        except json.JSONDecodeError:
            return self.refuse(400, "The body is not JSON.")
        return self.route("POST", query)

    def route(self, method, query):
        _, behaviour, *rest = urlsplit(self.path).path.split("/")
        path = "/" + "/".join(rest)
        Site.log.write(json.dumps([method, behaviour, path, query]) + "\n")
        Site.log.flush()
        if behaviour == "gone" or path == "/rest/api/3/search":
            return self.refuse(410, "The requested API has been removed.")
        if behaviour == "page":
            return self.answer(200, b"<!DOCTYPE html><title>Log in</title>", "text/html;charset=UTF-8")
        if self.headers.get("Authorization") != Site.credentials:
            return self.refuse(401, "Client must be authenticated to access this resource.")
        if path == "/rest/api/3/field":
            return self.json(200, FIELDS)
        if path == "/rest/api/3/myself":
            return self.refuse(401, "Who?") if behaviour == "nobody" else self.json(200, {"accountId": "1", "active": True})
        if path == "/rest/api/3/search/jql":
            return self.search(behaviour, query)
        return self.refuse(404, "No such resource.")

    def search(self, behaviour, query):
        if not str(query.get("jql", "")).strip() or query["jql"].upper().startswith("ORDER BY"):
            return self.refuse(400, "Unbounded JQL queries are not allowed here.")
        if "startAt" in query:
            return self.refuse(400, "startAt is not supported.")
        token = query.get("nextPageToken", "t0")
        if not (token.startswith("t") and token[1:].isdigit()):
            return self.refuse(400, "The provided next page token is invalid.")
        if behaviour == "throttled" and token not in Site.throttled:
            Site.throttled.add(token)
            return self.refuse(429, "Rate limit exceeded.", {"Retry-After": "1"})
        if behaviour == "list":
            return self.json(200, {"isLast": True})
        return self.json(200, self.page(behaviour, int(token[1:]), query))

    def page(self, behaviour, at, query):
        size = min(int(query.get("maxResults", 50)), MOST)
        fields = query.get("fields", [])
        if behaviour in ("none", "nobody"):
            return {"issues": [], "isLast": True}
        if behaviour == "empty":
            return {"issues": [], "isLast": False, "nextPageToken": f"t{at + 1}"}
        if behaviour == "same":
            return {"issues": self.cut(0, 3, fields), "isLast": False, "nextPageToken": "t7"}
        if behaviour == "circle":
            return {"issues": self.cut(at, 3, fields), "isLast": False, "nextPageToken": f"t{1 + at % 3}"}
        if behaviour == "open":
            return {"issues": self.cut(0, size, fields), "isLast": False}
        return self.regular(behaviour, at, size, fields)

    def regular(self, behaviour, at, size, fields):
        """Tokens are positions; in `short` a position that is a multiple of 21 was met by an empty page first."""
        if behaviour == "short":
            if at < 1000000 and at % 21 == 0 and at:
                return {"issues": [], "isLast": False, "nextPageToken": f"t{at + 1000000}"}
            at, size = at % 1000000, 7
        end = at + size
        last = end >= len(Site.issues)
        page = {"issues": self.cut(at, size, fields)}
        if behaviour != "silent":
            page["isLast"] = last
        if not last:
            page["nextPageToken"] = f"t{end}"
        if behaviour == "moved" and last:
            again = json.loads(json.dumps(self.cut(0, 1, fields)[0]))
            again["fields"]["summary"] = "changed meanwhile"
            again["fields"]["updated"] = "2026-10-01T00:00:00.000+0000"
            page["issues"].append(again)
        if behaviour == "warned":
            page["warnings"] = [{"message": "The result was truncated."}]
        return page

    @staticmethod
    def cut(at, size, fields):
        chosen = Site.issues[at:at + size]
        if not fields:
            return [{"id": i["id"]} for i in chosen]
        return [i | {"fields": {k: v for k, v in i["fields"].items() if k in fields}} for i in chosen]

    def refuse(self, status, message, headers=None):
        self.json(status, {"errorMessages": [message], "errors": {}}, headers)

    def json(self, status, body, headers=None):
        self.answer(status, json.dumps(body).encode(), "application/json;charset=UTF-8", headers)

    def answer(self, status, data, kind, headers=None):
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format, *args):
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port_file")
    parser.add_argument("log_file")
    parser.add_argument("--issues", type=int, default=250)
    parser.add_argument("--user", default="audit@example.com")
    parser.add_argument("--token", default="right-token-1234")
    args = parser.parse_args()
    Site.issues = [issue(n) for n in range(1, args.issues + 1)]
    Site.credentials = "Basic " + base64.b64encode(f"{args.user}:{args.token}".encode()).decode()
    Site.log = open(args.log_file, "w", encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    with open(args.port_file, "w", encoding="utf-8") as port_file:
        port_file.write(f"{server.server_port}\n")
    server.serve_forever()


if __name__ == "__main__":
    main()

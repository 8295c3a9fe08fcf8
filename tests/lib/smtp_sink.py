#!/usr/bin/env python3
"""A mail server for tests, on 127.0.0.1: takes every message and writes it to a folder.

    smtp_sink.py --out DIR [--port N] [--tls CERT KEY [--implicit]] [--user NAME --password TEXT]
                 [--refuse WORD=CODE]... [--hang WORD] [--limit BYTES]

It writes DIR/port once it listens (so --port 0, the default, is safe), then DIR/message-N.eml, the
bytes as they were sent after undoing dot-stuffing, and DIR/message-N.envelope (sender, recipients,
user, whether TLS was on). DIR/session.log holds the commands, with credentials left out.
--refuse answers the command WORD (EHLO, AUTH, MAIL, RCPT, DATA, or END for the end of the message)
with CODE; --hang never answers it. Only the standard library is used.
"""
import argparse
import base64
import os
import socketserver
import ssl
import threading
import time


class Session(socketserver.StreamRequestHandler):
    """One connection."""

    def setup(self):
        self.options = self.server.options
        self.tls = False
        if self.options.tls and self.options.implicit:
            self.start_tls()
        super().setup()

    def start_tls(self):
        self.request = self.server.tls_context.wrap_socket(self.request, server_side=True)
        self.tls = True

    def reply(self, *lines):
        self.wfile.write(b"".join(line.encode() + b"\r\n" for line in lines))

    def reset(self):
        self.sender, self.recipients = None, []

    def handle(self):
        self.user = None
        self.reset()
        self.reply("220 sink ESMTP")
        while True:
            line = self.rfile.readline(4096)
            if not line:
                return
            word, _, rest = line.decode("utf-8", "replace").rstrip("\r\n").partition(" ")
            word = word.upper()
            self.server.log(word + ("" if word == "AUTH" else " " + rest))
            if word == self.options.hang:
                time.sleep(3600)
            if self.refused(word):
                continue
            if word == "QUIT":
                self.reply("221 bye")
                return
            getattr(self, "do_" + word.lower(), self.unknown)(rest)

    def refused(self, word):
        code = self.options.refusals.get(word)
        if code:
            self.reply(f"{code} refused by the test")
        return code is not None

    def unknown(self, _rest):
        self.reply("502 not implemented")

    def do_ehlo(self, _rest):
        extensions = ["sink", f"SIZE {self.options.limit}", "8BITMIME", "SMTPUTF8"]
        if self.options.tls and not self.tls:
            extensions.append("STARTTLS")
        if self.options.user:
            extensions.append("AUTH PLAIN LOGIN")
        last = len(extensions) - 1
        self.reply(*(f"250{' ' if i == last else '-'}{text}" for i, text in enumerate(extensions)))

    def do_helo(self, _rest):
        self.reply("250 sink")

    def do_starttls(self, _rest):
        if not self.options.tls or self.tls:
            self.reply("503 not now")
            return
        self.reply("220 go ahead")
        self.start_tls()
        super().setup()
        self.reset()

    def ask(self, prompt):
        self.reply("334 " + base64.b64encode(prompt).decode())
        return base64.b64decode(self.rfile.readline(4096))

    def do_auth(self, rest):
        how, _, initial = rest.partition(" ")
        if how.upper() == "PLAIN":
            text = base64.b64decode(initial) if initial else self.ask(b"")
            user, password = text.split(b"\0")[1:3]
        elif how.upper() == "LOGIN":
            user = base64.b64decode(initial) if initial else self.ask(b"Username:")
            password = self.ask(b"Password:")
        else:
            self.reply("504 no such mechanism")
            return
        wanted = (self.options.user, self.options.password)
        if (user.decode(), password.decode()) != wanted:
            self.reply("535 5.7.8 authentication failed")
            return
        self.user = user.decode()
        self.reply("235 2.7.0 accepted")

    def do_mail(self, rest):
        if self.options.user and not self.user:
            self.reply("530 5.7.0 authentication required")
            return
        self.reset()
        self.sender = rest
        self.reply("250 ok")

    def do_rcpt(self, rest):
        if self.sender is None:
            self.reply("503 MAIL first")
            return
        self.recipients.append(rest)
        self.reply("250 ok")

    def do_rset(self, _rest):
        self.reset()
        self.reply("250 ok")

    def do_noop(self, _rest):
        self.reply("250 ok")

    def do_data(self, _rest):
        if not self.recipients:
            self.reply("503 RCPT first")
            return
        self.reply("354 send it")
        message = self.read_message()
        if message is None or self.refused("END"):
            return
        if len(message) > self.options.limit:
            self.reply("552 5.3.4 message too big")
            return
        self.server.store(message, self)
        self.reset()
        self.reply("250 taken")

    def read_message(self):
        lines = []
        while True:
            line = self.rfile.readline(65536)
            if not line:
                return None
            if line == b".\r\n":
                return b"".join(lines)
            lines.append(line[1:] if line.startswith(b".") else line)


class Sink(socketserver.ThreadingTCPServer):
    """The server: counts and stores messages."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.stored = 0
        if options.tls:
            self.tls_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls_context.load_cert_chain(*options.tls)
        super().__init__(("127.0.0.1", options.port), Session)

    def log(self, text):
        with self.lock, open(os.path.join(self.options.out, "session.log"), "a", encoding="utf-8") as log:
            log.write(text + "\n")

    def store(self, message, session):
        with self.lock:
            self.stored += 1
            base = os.path.join(self.options.out, f"message-{self.stored}")
            with open(base + ".envelope", "w", encoding="utf-8") as envelope:
                envelope.write(f"from {session.sender}\n")
                envelope.writelines(f"to {recipient}\n" for recipient in session.recipients)
                envelope.write(f"user {session.user or ''}\ntls {'yes' if session.tls else 'no'}\n")
            with open(base + ".part", "wb") as file:
                file.write(message)
            os.rename(base + ".part", base + ".eml")

    def handle_error(self, request, client_address):
        self.log("(connection broken)")


def main():
    parser = argparse.ArgumentParser(description="a mail server for tests")
    parser.add_argument("--out", required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", nargs=2, metavar=("CERT", "KEY"))
    parser.add_argument("--implicit", action="store_true", help="TLS from the first byte (smtps)")
    parser.add_argument("--user")
    parser.add_argument("--password")
    parser.add_argument("--refuse", action="append", default=[], metavar="WORD=CODE")
    parser.add_argument("--hang", metavar="WORD")
    parser.add_argument("--limit", type=int, default=50 << 20)
    options = parser.parse_args()
    options.refusals = dict(item.split("=", 1) for item in options.refuse)
    os.makedirs(options.out, exist_ok=True)
    with Sink(options) as sink:
        part = os.path.join(options.out, "port.part")
        with open(part, "w", encoding="ascii") as file:
            file.write(f"{sink.server_address[1]}\n")
        os.rename(part, os.path.join(options.out, "port"))
        sink.serve_forever()


if __name__ == "__main__":
    main()

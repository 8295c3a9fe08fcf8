#!/usr/bin/env python3
"""Damages Parquet files at random and has the program read them.

    parquet.py PROGRAM LIBRARY MINUTES [SEED]     such as: parquet.py ./gpu-audit libduckdb.so 10

What reads the file is DuckDB's library in a process of its own; it may fail, and even die. The program
must load the file or say that it is damaged, must not die, must not hang, must leave no reader behind.
A file with which it does otherwise is kept as parquet.crash-SEED-NUMBER in the present folder, exit status 1.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

FILES = 12  # of a run: most of its time goes by until it reads the first
RUN_SECONDS = 300
GOOD = (0, 4, 8)  # all loaded, none, some
BASE = """SELECT 'AWS' AS ProviderName, 'Amazon Elastic Compute Cloud' AS ServiceName, 'Compute' AS ServiceCategory,
    'Usage' AS ChargeCategory, 'USD' AS BillingCurrency, 'acct' AS BillingAccountId, 'i-' || r.range AS ResourceId,
    'USE1-BoxUsage:p5.48xlarge' AS x_UsageType, 'Hours' AS ConsumedUnit, {values} FROM range({rows}) r"""
PLAIN = """'2026-07-01T00:00:00Z' AS BillingPeriodStart, '2026-07-02T03:00:00Z' AS ChargePeriodStart,
    '2026-07-02T04:00:00Z' AS ChargePeriodEnd, '1' AS BilledCost, '1.5' AS EffectiveCost, '2' AS ListCost,
    '1' AS ConsumedQuantity, '{{"team": "a"}}' AS Tags"""
TYPED = """TIMESTAMP '2026-07-01 00:00:00' AS BillingPeriodStart, TIMESTAMPTZ '2026-07-02 03:00:00+00' AS ChargePeriodStart,
    TIMESTAMP_NS '2026-07-02 04:00:00' AS ChargePeriodEnd, CAST(1 AS DECIMAL(38, 20)) AS BilledCost,
    CAST(1.5 AS DOUBLE) AS EffectiveCost, CAST(r.range AS DECIMAL(18, 6)) AS ListCost, CAST(1 AS INTEGER) AS ConsumedQuantity,
    MAP {{'team': 'x' || r.range}} AS Tags, {{'id': 'a', 'labels': [{{'k': 'v'}}, NULL]}} AS project, [1, 2, NULL] AS x_List"""
SOURCES = (
    (PLAIN, 40, "COMPRESSION uncompressed"),
    (PLAIN, 3000, "COMPRESSION snappy, ROW_GROUP_SIZE 2048"),
    (PLAIN, 300, "COMPRESSION zstd, PARQUET_VERSION v2"),
    (TYPED, 60, "COMPRESSION uncompressed, PARQUET_VERSION v2"),
    (TYPED, 200, "COMPRESSION gzip"),
)


def make_sources(library, folder):
    maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib", "parquet.py")
    found = []
    for number, (values, rows, how) in enumerate(SOURCES):
        path = os.path.join(folder, f"source{number}.parquet")
        select = BASE.format(values=values.format(), rows=rows)
        subprocess.run([sys.executable, maker, library, f"COPY ({select}) TO '{path}' (FORMAT parquet, {how})"], check=True)
        with open(path, "rb") as file:
            found.append(file.read())
    return found


def damage(data, chance):
    """One to four changes, half of them in the footer, where the file says what it is."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        footer = min(int.from_bytes(data[-8:-4], "little"), len(data) - 12)
        start = max(4, len(data) - 8 - footer) if chance.random() < 0.5 else 4
        at = chance.randrange(start, max(start + 1, len(data)))
        size = chance.choice((1, 1, 1, 2, 4, 8, 64))
        kind = chance.randrange(6)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[at:at + size] = bytes(chance.randrange(256) for _ in range(size))
        elif kind == 2:
            data[at:at + size] = chance.choice((b"\x00", b"\xff", b"\x7f", b"\x80")) * size
        elif kind == 3:
            del data[at:at + size]
        elif kind == 4:
            data[at:at] = data[max(4, at - size):at]
        else:
            data[-8:-4] = chance.choice((0, 1, len(data), len(data) * 2, 2**31 - 1, 2**32 - 1, footer + 1)).to_bytes(4, "little")
    if len(data) < 12:
        return b"PAR1" + bytes(data) + b"PAR1"
    data[:4] = b"PAR1"  # else it is no Parquet at all
    return bytes(data)


def run(program, library, home, files):
    """None, or what went wrong."""
    folder = os.path.join(home, "bills")
    config = os.path.join(home, "gpu-audit.conf")
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for number, data in enumerate(files):
        with open(os.path.join(folder, f"{number:02}.parquet"), "wb") as file:
            file.write(data)
    with open(config, "w", encoding="utf-8") as file:
        file.write(f"[audit]\nparquet-library = {library}\n[billing fuzz]\nformat = focus\npath = {folder}\n")
    command = [program, "--config", config, "--quarter", "2026Q3", "--as-of", "2026-10-05T00:00:00Z", "ingest"]
    environment = dict(os.environ, XDG_DATA_HOME=os.path.join(home, "data"))
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=RUN_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "it hangs"
    said = done.stderr.decode(errors="replace")
    if done.returncode not in GOOD or "runtime error" in said or "Sanitizer" in said:
        return f"status {done.returncode}: {said[-2000:]}"
    if subprocess.run(["pgrep", "-f", f"read-parquet {library}"], capture_output=True, check=False).returncode == 0:
        return "a reader is left behind"
    return None


def main():
    program, library, minutes = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), float(sys.argv[3])
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.SystemRandom().randrange(1 << 31)
    chance, tried, bad, end = random.Random(seed), 0, 0, time.monotonic() + minutes * 60
    with tempfile.TemporaryDirectory(prefix="audit-parquet.") as home:
        os.chmod(home, 0o711)  # run by root, the private database is another user's
        mine = os.path.join(home, "mine.so")  # by this name the readers of this run are known
        os.symlink(library, mine)
        program = shutil.copy2(program, os.path.join(home, "gpu-audit"))  # it may be built anew meanwhile
        sources = make_sources(library, home)
        problem = run(program, mine, home, sources)
        if problem:
            sys.exit(f"parquet.py: files that are sound: {problem}")
        while time.monotonic() < end:
            files = [damage(chance.choice(sources), chance) for _ in range(FILES)]
            tried += len(files)
            if not run(program, mine, home, files):
                continue
            for number, data in enumerate(files):
                problem = run(program, mine, home, [data])
                if problem:
                    bad += 1
                    name = f"parquet.crash-{seed}-{tried - FILES + number}"
                    with open(name, "wb") as file:
                        file.write(data)
                    print(f"{name}: {problem}", flush=True)
    print(f"parquet: {tried} files, {bad} of them not read as they must be (seed {seed})")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

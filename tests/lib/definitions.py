#!/usr/bin/env python3
"""Compares `gpu-audit figures --format json` with the figures that a case expects.

    definitions.py FIGURES.json EXPECT DATABASE-PROGRAM...

EXPECT holds lines `PATH = JSON` and `sql QUERY = TEXT`; # begins a comment. A path's steps are parted by
slashes; an empty step is the empty key, [name=value] picks a member of a list, # is the length. $AUDIT in
a query stands for the newest audit of the folder that EXPECT is in. Decimals must be equal as numbers, doubles to 1e-12 relative.
After them come the laws that hold for every estate: each law broken is printed too.
"""
import csv
import io
import json
import os
import subprocess
import sys
from datetime import datetime
from decimal import Decimal

ADDITIVE = ("running_gpu_hours", "billed_gpu_hours", "owned_gpu_hours", "corrected_gpu_hours", "unused_commitment_gpu_hours",
            "provisioned_gpu_hours", "covered_gpu_hours", "unknown_gpu_hours", "idle_gpu_hours", "busy_gpu_hours",
            "observed_gpu_hours", "effective_gpu_hours", "allocated_gpu_hours", "billed_cost", "effective_cost", "correction_cost",
            "unused_commitment_cost", "gpu_cost", "idle_cost", "unknown_cost", "untagged_cost")
GROUPS = ("by_provider", "by_model", "by_region", "by_pricing", "by_team", "by_project", "by_pool")
CLOSE = Decimal("1e-9")
AUDIT = ("(SELECT max(i.audit_id) FROM audit.audit_input i JOIN audit.source s USING (source_id)"
         " WHERE s.location LIKE '%%/%s/%%')")


def decimal(value):
    return Decimal(0) if value is None else Decimal(str(value))


def step(at, name):
    if name == "#":
        return len(at)
    if name.startswith("["):
        key, _, wanted = name[1:-1].partition("=")
        return next((x for x in at if str(x[key]) == wanted), {})
    return at[int(name)] if isinstance(at, list) else at.get(name)


def equal(ours, wanted):
    if ours is None or wanted is None or isinstance(wanted, (bool, dict)):
        return ours == wanted
    if isinstance(ours, float):
        return abs(ours - float(wanted)) <= 1e-12 * max(1.0, abs(float(wanted)))
    try:
        return Decimal(str(ours)) == Decimal(str(wanted))
    except ArithmeticError:
        return ours == wanted


def answer(program, query):
    done = subprocess.run([*program, query, "--format", "csv"], capture_output=True, text=True, check=False)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    return done.stderr.strip() if done.returncode else ";".join(",".join(r) for r in rows[1:])


def expected(figures, lines, program, audit):
    for number, line in enumerate(lines, 1):
        line = line.split("  #")[0].strip()
        if not line or line.startswith("#"):
            continue
        path, _, wanted = line.rpartition(" = ")
        if path.startswith("sql "):
            ours, wanted = answer(program, path[4:].replace("$AUDIT", audit)), wanted.strip('"')
            if ours != wanted:
                yield f"line {number}: {path}: {ours!r}, wanted {wanted!r}"
            continue
        ours, wanted = figures, json.loads(wanted, parse_float=Decimal)
        for name in path.split("/"):
            ours = step(ours, name) if ours is not None else None
        if not equal(ours, wanted):
            yield f"line {number}: {path}: {ours!r}, wanted {wanted!r}"


def laws_of(where, f):
    d = {k: decimal(v) for k, v in f.items() if k != "peak_hour"}
    known = f["running_gpu_hours"] is not None and f["covered_gpu_hours"] is not None
    checks = {
        "billed + owned = running": d["billed_gpu_hours"] + d["owned_gpu_hours"] == d["running_gpu_hours"],
        "running + corrected + unused = provisioned": not known or f["unused_commitment_gpu_hours"] is None
        or d["running_gpu_hours"] + d["corrected_gpu_hours"] + d["unused_commitment_gpu_hours"] == d["provisioned_gpu_hours"],
        "covered + unknown = running": not known or d["covered_gpu_hours"] + d["unknown_gpu_hours"] == d["running_gpu_hours"],
        "busy + idle = covered": f["busy_gpu_hours"] is None or d["busy_gpu_hours"] + d["idle_gpu_hours"] == d["covered_gpu_hours"],
        "nothing negative": all(d[k] >= 0 for k in ("covered_gpu_hours", "unknown_gpu_hours", "idle_gpu_hours", "busy_gpu_hours")),
        "peak busy <= peak running": d["peak_busy_gpus"] <= d["peak_running_gpus"],
        "peak running <= gpus": d["peak_running_gpus"] <= d["gpus"],
        "effective <= covered": d["effective_gpu_hours"] <= d["covered_gpu_hours"] + CLOSE or not known,
        "allocated <= running": f["allocated_gpu_hours"] is None or d["allocated_gpu_hours"] <= d["running_gpu_hours"],
        "gpu cost = effective + unused": f["gpu_cost"] is None or d["effective_cost"] + d["unused_commitment_cost"] == d["gpu_cost"],
        "nothing measured: nothing idle": known and d["covered_gpu_hours"] > 0 or f["idle_gpu_hours"] is None,
    }
    return [f"{where}: law broken: {law}" for law, holds in checks.items() if not holds]


def laws(figures):
    total, wrong = figures["total"], laws_of("total", figures["total"])
    for group in GROUPS:
        for key, f in figures[group].items():
            wrong += laws_of(f"{group}/{key}", f)
        for name in ADDITIVE:
            added = sum((decimal(f[name]) for f in figures[group].values()), Decimal(0))
            if abs(added - decimal(total[name])) > (CLOSE if name.startswith(("observed", "effective_gpu")) else 0):
                wrong.append(f"{group}: {name} adds up to {added}, total {total[name]}")
    lines = [x for x in figures["ledger"] if x["in_sum"]]
    for name, sum_name in (("gpu_hours", "provisioned_gpu_hours"), ("cost", "gpu_cost")):
        added = sum((decimal(x[name]) for x in lines), Decimal(0))
        if added != decimal(total[sum_name]):
            wrong.append(f"ledger: {name} adds up to {added}, {sum_name} {total[sum_name]}")
    if any(decimal(x["gpu_hours"]) < 0 for x in figures["ledger"] if x["line"] != "corrected"):
        wrong.append("ledger: a line is negative")
    for provider, months in figures["invoices"].items():
        for month, i in months.items():
            parts = sum(decimal(i[p]) for p in ("gpu_use", "gpu_corrections", "commitment_purchases", "other"))
            if not decimal(i["billed_cost"]) == parts == decimal(i["kept"]) + decimal(i["totalled"]):
                wrong.append(f"invoice {provider} {month} does not close")
    return wrong + savings(figures)


def savings(figures):
    """A dollar is saved once: per month of 730 hours, never more than what was paid, in all and in each pool."""
    hours = Decimal(figures["hours"])
    wrong, by_pool = [], {}
    for r in figures["recommendations"]:
        low, saving, high, cost = (decimal(r[k]) for k in ("saving_low", "saving", "saving_high", "cost_acted_on"))
        if r["rule"] == "end-idle" and not low <= saving <= high <= cost + Decimal("0.01"):
            wrong.append(f"saving of {r['resource_id']}: {low}, {saving}, {high} of {cost}")
        if saving > cost:
            wrong.append(f"{r['rule']} in {r['pool']}: saves {saving} of {cost}")
        by_pool[r["pool"]] = by_pool.get(r["pool"], Decimal(0)) + saving
    for pool, saving in by_pool.items():
        spent = decimal(figures["by_pool"].get(pool, {}).get("gpu_cost")) * 730 / hours
        if saving > spent + 1:
            wrong.append(f"pool {pool}: saves {saving} of {spent} a month")
    return wrong


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        figures = json.load(f)
    begin, end = (datetime.fromisoformat(figures[k].rstrip("Z")) for k in ("from", "to"))
    figures["hours"] = int((end - begin).total_seconds()) // 3600
    folder = os.path.basename(os.path.dirname(os.path.abspath(sys.argv[2])))
    with open(sys.argv[2], encoding="utf-8") as f:
        wrong = list(expected(figures, f, sys.argv[3:], AUDIT % folder)) + laws(figures)
    print("\n".join(wrong))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

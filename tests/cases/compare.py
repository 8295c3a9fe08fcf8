#!/usr/bin/env python3
"""Compares what `gpu-audit figures --format json` printed with an estate's truth.json, figure by figure.

    compare.py FIGURES.json TRUTH.json [QUARTER]

Money and GPU-hours must be equal as decimals, ratios to 1e-9 relative. Prints every difference and
the number of figures compared; exit status 1 when any differs.
"""
import json
import sys
from decimal import Decimal

EXACT = {"billed_gpu_hours": "running_gpu_hours", "corrected_gpu_hours": "corrected_gpu_hours", "billed_cost": "billed_cost",
         "effective_cost": "effective_cost", "correction_cost": "correction_cost", "untagged_cost": "untagged_cost",
         "covered_gpu_hours": "covered_gpu_hours", "idle_gpu_hours": "idle_gpu_hours", "idle_cost": "idle_cost",
         "unobserved_cost": "unknown_cost", "gpus": "gpus", "instances": "instances",
         "peak_running_gpus": "peak_running_gpus", "peak_busy_gpus": "peak_busy_gpus"}
RATIO = ("coverage_pct", "idle_pct", "avg_util_pct", "p95_cell_util_pct", "max_cell_util_pct", "peak_hour_util_pct")
# figures that are unknown, not 0, where nothing was measured
NEEDS_COVER = {"idle_gpu_hours", "idle_cost", "peak_busy_gpus"}


class Comparison:
    def __init__(self):
        self.compared, self.wrong = 0, []

    def same(self, where, ours, truth):
        self.compared += 1
        if ours is None or Decimal(str(ours)) != Decimal(str(truth)):
            self.wrong.append(f"{where}: {ours}, truth {truth}")

    def close(self, where, ours, truth):
        self.compared += 1
        if (ours is None) != (truth is None) or truth is not None and abs(ours - truth) > 1e-9 * max(1.0, abs(truth)):
            self.wrong.append(f"{where}: {ours}, truth {truth}")

    def equal(self, where, ours, truth):
        self.compared += 1
        if ours != truth:
            self.wrong.append(f"{where}: {ours}, truth {truth}")

    def figures(self, where, ours, truth):
        if ours is None:
            self.equal(where, "absent", "present")
            return
        covered = Decimal(truth["covered_gpu_hours"]) > 0
        for name, mine in EXACT.items():
            if name in NEEDS_COVER and not covered:
                self.equal(f"{where} {mine}", ours[mine], None)
            else:
                self.same(f"{where} {mine}", ours[mine], truth[name])
        for name in RATIO:
            if name in truth:
                self.close(f"{where} {name}", ours[name], truth[name])
        # thirds of a minute: the truth has it as a double
        mine = ours["observed_gpu_hours"]
        self.close(f"{where} observed_gpu_hours", mine and float(mine), truth["observed_gpu_hours"] if covered else None)
        if "peak_hour" in truth:
            self.equal(f"{where} peak_hour", ours["peak_hour"], truth["peak_hour"])
        # the ledger foots
        parts = [ours["busy_gpu_hours"], ours["idle_gpu_hours"], ours["unknown_gpu_hours"], ours["unused_commitment_gpu_hours"],
                 ours["corrected_gpu_hours"]]
        self.same(f"{where} provisioned = sum of ledger", sum((Decimal(p) for p in parts if p is not None), Decimal(0)),
                  ours["provisioned_gpu_hours"])


def plain(name):
    return "".join(c for c in name.casefold() if c.isalnum())


def compare(ours, whole, quarter):
    c, truth = Comparison(), whole["quarters"][quarter]
    c.equal("quarter", ours["quarter"], quarter)
    c.figures("total", ours["total"], truth["total"])
    for group in ("by_provider", "by_model", "by_team", "by_project"):
        fold = plain if group == "by_provider" else str
        mine = {fold(k): v for k, v in ours[group].items()}
        for key, figures in truth[group].items():
            c.figures(f"{group} {key}", mine.pop(fold(key), None), figures)
        for key, left in mine.items():  # a scope the truth does not have may hold unused commitments, nothing else
            c.same(f"{group} {key!r}, not in the truth, gpus", left["gpus"], 0)
    for key, issue in truth["by_issue"].items():
        mine = ours["by_issue"].get(key)
        c.same(f"by_issue {key}", mine and Decimal(mine["effective_cost"]) - Decimal(mine["correction_cost"]), issue["cost"])
    c.equal("issues", sorted(ours["by_issue"]), sorted(truth["by_issue"]))
    stretches = {(s["resource_id"], s["from"]): s for s in ours["idle_stretches"]}
    for s in truth["idle_stretches"]:
        mine, where = stretches.pop((s["resource_id"], s["start"]), None), f"idle stretch {s['resource_id']} {s['start']}"
        c.equal(f"{where} hours", mine and mine["hours"], s["hours"])
        if mine:
            c.same(f"{where} gpu_hours", mine["gpu_hours"], s["gpu_hours"])
            c.same(f"{where} cost", mine["cost"], s["cost"])
    c.equal("idle stretches beyond the truth", sorted(stretches), [])
    c.equal("unbilled telemetry", sorted(u["gpu"] for u in ours["unbilled_telemetry"]), sorted(truth["unbilled_telemetry"]))
    unknown = sum((Decimal(u["gpu_hours"]) for u in ours["unobserved"]), Decimal(0))
    c.same("unobserved adds up", unknown, ours["total"]["unknown_gpu_hours"])
    commitments = {x["id"]: x for x in ours["commitments"]}
    for x in truth["commitments"]:
        mine = commitments.get(x["id"], {})
        for name, key in (("unused", "unused_cost"), ("used", "used_cost"), ("bought", "bought")):
            if Decimal(x["used"]) or Decimal(x["unused"]):
                c.same(f"commitment {x['id']} {key}", mine.get(key), x[name])
    invoices = {plain(p): months for p, months in ours["invoices"].items()}
    for i in whole["invoices"]:
        if i["month"] < ours["from"][:7]:
            continue
        mine, where = invoices.get(plain(i["provider"]), {}).get(i["month"]), f"invoice {i['provider']} {i['month']}"
        if mine is None:  # a month without a single charge has no invoice
            c.same(where, 0, i["billed_cost"])
            continue
        c.same(where, mine["billed_cost"], i["billed_cost"])
        c.same(f"{where} kept + totalled", Decimal(mine["kept"]) + Decimal(mine["totalled"]), i["billed_cost"])
        c.same(f"{where} gpu_use", mine["gpu_use"], i["gpu_usage"])
        c.same(f"{where} gpu_corrections", mine["gpu_corrections"], i["correction"])
        c.same(f"{where} commitment_purchases", mine["commitment_purchases"], i["commitment_fees"])
    return c


def main():
    if not 3 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    ours, truth = (json.load(open(p, encoding="utf-8")) for p in sys.argv[1:3])
    c = compare(ours, truth, sys.argv[3] if len(sys.argv) == 4 else ours["quarter"])
    for line in c.wrong[:40]:
        print(line)
    print(f"{c.compared} figures compared, {len(c.wrong)} differ")
    sys.exit(bool(c.wrong))


if __name__ == "__main__":
    main()

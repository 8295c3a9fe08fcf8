"""Reads the bills of an estate with gpu-audit, and does the same work, or less, with others: decompression alone, the
kit's plain C floor, its DuckDB and pandas readers. bench.py says how it measures; this only asks other questions.
"""
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import bench

BILLS = (("FOCUS", "focus", "focus", "BilledCost"), ("CUR 2.0", "aws-cur2", "cur2", "line_item_unblended_cost"))
CONFIG = "[audit]\ncurrency = USD\n[billing {name}]\nformat = {format}\npath = {path}\n"


def files(folder):
    return [str(p) for p in sorted(folder.glob("*.csv.gz"))]


def inflate(tool, paths):
    """With what it writes thrown away."""
    return bench.measured(["sh", "-c", 'exec "$@" > /dev/null', "sh", tool, "-dc", *paths])


def others(kit, estate, work, folder, column):
    """name -> Spent of plain work over the files of a folder."""
    found, paths = {}, files(folder)
    for tool in ("gzip", "igzip"):
        if shutil.which(tool):
            found[f"{tool} -dc"] = inflate(tool, paths)
    copy = work / "peers"
    if not copy.exists():
        shutil.copytree(kit / "peers", copy)
        for path in [copy, *copy.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
    if subprocess.run(["make", "-s", "csv_floor"], cwd=copy, capture_output=True).returncode == 0:
        found["plain C floor"] = bench.measured([str(copy / "csv_floor"), column, *paths])
    return found


def readers(estate, work):
    """The kit's readers know FOCUS alone."""
    copy = work / "peers"
    found = {"pandas": bench.measured(["/usr/bin/python3", str(copy / "audit_pandas.py"), str(estate), str(work / "p.xlsx"),
                                       "xlsxwriter", "billing"])}
    if shutil.which("npm") and subprocess.run(["npm", "ci", "--silent"], cwd=copy, capture_output=True).returncode == 0:
        found["DuckDB"] = bench.measured(["node", str(copy / "audit_duckdb.js"), str(estate), str(work / "duckdb"), "billing"],
                                         cwd=copy)
    return found


def line(name, spent, rows, megabytes, ours):
    cpu = spent.all
    print(f"{name:16} {spent.wall:8.1f} {spent.cpu:8.2f} {spent.backend:8.2f} {rows / cpu / 1e6:8.2f} {megabytes / cpu:8.0f}"
          f" {spent.peak_mib:8.0f} {cpu / ours.all:8.2f}")


def one(args, work, estate, program, bill):
    title, form, folder, column = bill
    paths = files(estate / folder)
    if not paths:
        return
    (work / "gpu-audit.conf").write_text(CONFIG.format(name=folder, format=form, path=estate / folder))
    ours = program.stage(["ingest", folder], ["--days", str(args.days), "--until", args.until])
    rows = int(program.ask("SELECT coalesce(sum(rows_read), 0) FROM audit.load JOIN audit.slice USING (slice_id)"
                           f" JOIN audit.source USING (source_id) WHERE status = 'done' AND name = '{folder}'"))
    megabytes = bench.megabytes(estate / folder)
    print(f"\n{title}: {rows:,} rows, {megabytes:,.0f} MB in {len(paths)} files, "
          f"{sum(Path(p).stat().st_size for p in paths) / 1e6:,.0f} MB gzipped")
    print(f"{'':16} {'wall s':>8} {'CPU s':>8} {'server s':>8} {'M rows/s':>8} {'MB/s':>8} {'peak MiB':>8} {'ratio':>8}")
    line("gpu-audit", ours, rows, megabytes, ours)
    found = others(args.kit, estate, work, estate / folder, column)
    if folder == "focus" and not args.no_peers:
        found.update(readers(estate, work))
    for name, spent in found.items():
        line(name, spent, rows, megabytes, ours)
    if "plain C floor" in found:
        print(f"gpu-audit / plain C floor: own CPU {ours.cpu / found['plain C floor'].cpu:.2f}, with the server "
              f"{ours.all / found['plain C floor'].cpu:.2f} (aim: at most 1.3)")


def main():
    if "--help" in sys.argv or "-h" in sys.argv:
        print(__doc__)
    args = bench.arguments()
    work = args.keep.resolve() if args.keep else Path(tempfile.mkdtemp(prefix="audit-bench."))
    work.mkdir(exist_ok=True)
    work.chmod(0o711)
    estate = work / "estate"
    try:
        bench.make_estate(args, estate, ["focus", "cur2"])
        manifest = json.loads((estate / "manifest.json").read_text())
        print(f"{args.gpus} GPUs, {args.days} days from {args.start}, seed {args.seed}, {manifest['noise']} other rows for each GPU row")
        program = bench.Program(args.program, work, estate)
        try:
            for bill in BILLS:
                one(args, work, estate, program, bill)
        finally:
            program.call("db", "stop")
    finally:
        if not args.keep:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()

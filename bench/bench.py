"""Makes an estate of N GPUs with the measuring kit, audits it stage by stage, and the same with the kit's peers.

CPU is that of the program (rusage of the child) and of the PostgreSQL it keeps (the postmaster's own time, its
reaped and its living children's, before and after a stage). Wall time on a shared machine is an upper bound; the
CPU seconds compare, and the ratios are of one run. Peak memory is the program's own maximum resident set.
"""
import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TICK = os.sysconf("SC_CLK_TCK")
QUARTER_DAYS = 90
CONFIG = """[audit]
currency = USD
[billing bills]
format = focus
path = {0}/focus
[telemetry dcgm]
format = prometheus
path = {0}/prom_json
sample-interval = 60
[tracker jira]
format = jira-cloud
path = {0}/jira
project-field = project
team-field = customfield_10050
[inventory onprem]
path = {0}/inventory.csv
[binding hosts]
path = {0}/hostmap.csv
[tags]
team = team
project = project
issue = jira
"""
STAGES = (("small sources", ["ingest", "hosts", "onprem", "jira"]), ("billing", ["ingest", "bills"]),
          ("telemetry", ["ingest", "dcgm"]), ("analyze", ["analyze"]), ("report", ["report", "--out", "out"]))


class Spent:
    """What a command took."""

    def __init__(self, cpu=0.0, backend=0.0, wall=0.0, peak_mib=0.0):
        self.cpu, self.backend, self.wall, self.peak_mib = cpu, backend, wall, peak_mib

    @property
    def all(self):
        return self.cpu + self.backend

    def __add__(self, other):
        return Spent(self.cpu + other.cpu, self.backend + other.backend, self.wall + other.wall,
                     max(self.peak_mib, other.peak_mib))


def stat_seconds(pid, fields):
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0.0
    values = text[text.rindex(")") + 2:].split()
    return sum(int(values[n - 3]) for n in fields) / TICK


def server_seconds(postmaster):
    """User and system time of a postmaster, of children it has reaped, and of those alive."""
    if not postmaster:
        return 0.0
    try:
        living = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    except OSError:
        living = []
    return stat_seconds(postmaster, (14, 15, 16, 17)) + sum(stat_seconds(p, (14, 15)) for p in living)


def measured(argv, postmaster=None, **more):
    """Runs a command to its end; a failure ends the bench with what it said."""
    before, began = server_seconds(postmaster), time.monotonic()
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=said, stderr=said, **more)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - began
        said.seek(0)
        text = said.read().decode(errors="replace")
    if child.returncode:
        sys.exit(f"{' '.join(map(str, argv))} failed with status {child.returncode}:\n{text[-4000:]}")
    time.sleep(0.3 if postmaster else 0)  # until the backend has been reaped
    return Spent(used.ru_utime + used.ru_stime, server_seconds(postmaster) - before, wall, used.ru_maxrss / 1024)


def plain_size(path):
    """Bytes of a file once inflated."""
    if path.suffix != ".gz":
        return path.stat().st_size
    with gzip.open(path) as f:
        return sum(len(piece) for piece in iter(lambda: f.read(1 << 20), b""))


def megabytes(folder):
    return sum(plain_size(p) for p in sorted(folder.iterdir())) / 1e6


class Program:
    """gpu-audit with a private database of its own, which runs from first stage to last."""

    def __init__(self, program, work, estate):
        self.program, self.work = program, work
        self.environment = {**os.environ, "XDG_DATA_HOME": str(work / "home"), "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        for name in ("GPU_AUDIT_DATABASE", "GPU_AUDIT_CONFIG"):
            self.environment.pop(name, None)
        (work / "home").mkdir(mode=0o711)
        (work / "gpu-audit.conf").write_text(CONFIG.format(estate))
        self.call("db", "start")
        data = next((work / "home/gpu-audit/pg").glob("[0-9]*"))
        self.postmaster = int((data / "postmaster.pid").read_text().split()[0])

    def call(self, *words):
        return subprocess.run([self.program, *words], env=self.environment, check=True, capture_output=True, text=True).stdout

    def stage(self, words, window):
        argv = [self.program, "--config", self.work / "gpu-audit.conf", *window, *words]
        return measured([str(a) for a in argv], self.postmaster, env=self.environment, cwd=self.work)

    def ask(self, sql):
        return self.call("sql", sql, "--format", "csv").split()[-1]

    def rows(self, kind):
        return int(self.ask("SELECT coalesce(sum(rows_read), 0) FROM audit.load JOIN audit.slice USING (slice_id)"
                            f" JOIN audit.source USING (source_id) WHERE status = 'done' AND kind IN ({kind})"))


def peers(kit, estate, work, bill):
    """name -> Spent, of those that can run here."""
    found, copy = {}, work / "peers"
    shutil.copytree(kit / "peers", copy)
    for path in [copy, *copy.rglob("*")]:
        path.chmod(path.stat().st_mode | 0o200)
    found["pandas"] = measured(["/usr/bin/python3", str(copy / "audit_pandas.py"), str(estate), str(work / "pandas.xlsx")])
    found["pandas, bill only"] = measured(["/usr/bin/python3", str(copy / "audit_pandas.py"), str(estate),
                                           str(work / "pandas2.xlsx"), "xlsxwriter", "billing"])
    if shutil.which("npm") and subprocess.run(["npm", "ci", "--silent"], cwd=copy, capture_output=True).returncode == 0:
        found["DuckDB"] = measured(["node", str(copy / "audit_duckdb.js"), str(estate), str(work / "duckdb")], cwd=copy)
        found["DuckDB, bill only"] = measured(["node", str(copy / "audit_duckdb.js"), str(estate), str(work / "duckdb2"), "billing"],
                                              cwd=copy)
    if subprocess.run(["make", "-s", "csv_floor"], cwd=copy, capture_output=True).returncode == 0:
        found["plain C floor, bill only"] = measured([str(copy / "csv_floor"), "BilledCost", *bill])
    return found


def show(name, spent, rows=None, mb=None, target=""):
    speed = f"{mb / spent.cpu:8.0f}" if mb and spent.cpu else " " * 8
    count = f"{rows:11,}" if rows is not None else " " * 11
    print(f"{name:26} {count} {spent.wall:8.1f} {spent.cpu:8.2f} {spent.backend:8.2f} {spent.all:8.2f} {speed} {spent.peak_mib:8.0f}  {target}")


def audit(args, work, estate):
    """Prints the stages and gives name -> Spent."""
    program = Program(args.program, work, estate)
    try:
        window = ["--days", str(args.days), "--until", args.until]
        sizes = {"billing": megabytes(estate / "focus"), "telemetry": megabytes(estate / "prom_json")}
        kinds = {"small sources": "'tracker', 'inventory', 'binding'", "billing": "'billing'", "telemetry": "'telemetry'"}
        scale = args.gpus * args.days / (1000 * QUARTER_DAYS)
        targets = {"billing": f"at most {5 * scale:.1f} CPU s", "report": "under 1 s"}
        spent = {}
        print(f"{'stage':26} {'rows':>11} {'wall s':>8} {'CPU s':>8} {'server s':>8} {'both s':>8} {'MB/s':>8} {'peak MiB':>8}  target")
        for name, words in STAGES:
            spent[name] = program.stage(words, window)
            rows = program.rows(kinds[name]) if name in kinds else None
            show(name, spent[name], rows, sizes.get(name), targets.get(name, ""))
        spent["all"] = sum(spent.values(), Spent())
        show("all", spent["all"], None, None, f"at most {9 * scale:.1f} CPU s, 128 MiB")
        print(f"a peak below {measured(['true']).peak_mib:.0f} MiB cannot be seen; database {program.ask('SELECT pg_database_size(current_database()) / 1000000')} MB")
        return spent
    finally:
        program.call("db", "stop")


def ratio(what, other, ours, target):
    print(f"{what:58} {other / ours:6.2f}  {target}")


def compare(found, spent):
    print()
    for name, peer in found.items():
        show(name, peer)
    print(f"\n{'ratio (CPU, server included)':58} {'here':>6}  target")
    if "plain C floor, bill only" in found:
        floor = found["plain C floor, bill only"]
        ratio("bill: gpu-audit's own CPU / plain C floor", spent["billing"].cpu, floor.cpu, "at most 1.3")
        ratio("bill: with the server / plain C floor", spent["billing"].all, floor.cpu, "at most 1.3")
    for name in ("DuckDB", "pandas"):
        if name in found:
            ratio(f"bill: {name} / gpu-audit", found[f"{name}, bill only"].cpu, spent["billing"].all, "at least 6")
            ratio(f"whole audit: {name} / gpu-audit", found[name].cpu, spent["all"].all, "at least " + {"DuckDB": "5", "pandas": "7"}[name])


def make_estate(args, estate, parts=("focus", "prom_json", "jira", "inventory")):
    subprocess.run([str(args.kit / "fleetgen.py"), "--gpus", str(args.gpus), "--days", str(args.days), "--start", args.start,
                    "--seed", str(args.seed), "--out", str(estate), "--parts", *parts],
                   check=True, stdout=subprocess.DEVNULL, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})


def arguments():
    parser = argparse.ArgumentParser(prog="bench/run.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpus", type=int, required=True)
    parser.add_argument("--days", type=int, default=QUARTER_DAYS)
    parser.add_argument("--start", default="2026-01-01")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kit", type=Path, default=HERE.parent / "../shared/kit", help="the measuring kit (default ../shared/kit)")
    parser.add_argument("--program", default=None, help="default build/gpu-audit, else gpu-audit of PATH")
    parser.add_argument("--no-peers", action="store_true", help="gpu-audit alone")
    parser.add_argument("--keep", type=Path, help="keep the estate, database and outputs in this new folder")
    args = parser.parse_args()
    built = HERE.parent / "build/gpu-audit"
    args.program = args.program or (str(built.resolve()) if built.exists() else shutil.which("gpu-audit"))
    args.kit = args.kit.resolve()
    if not args.program:
        parser.error("no gpu-audit: build it, or name it with --program")
    if not (args.kit / "fleetgen.py").exists():
        parser.error(f"no measuring kit in {args.kit}: name its folder with --kit")
    first = time.strptime(args.start, "%Y-%m-%d")
    until = time.gmtime(time.mktime((*first[:2], first[2] + args.days, 12, 0, 0, 0, 0, 0)))
    args.until = time.strftime("%Y-%m-%d", until)
    return args


def main():
    args = arguments()
    work = args.keep.resolve() if args.keep else Path(tempfile.mkdtemp(prefix="audit-bench."))
    work.mkdir(exist_ok=True)
    work.chmod(0o711)
    estate = work / "estate"
    try:
        make_estate(args, estate)
        manifest = json.loads((estate / "manifest.json").read_text())
        print(f"{args.gpus} GPUs, {args.days} days from {args.start}, seed {args.seed}, {manifest['noise']} other rows for each GPU row\n")
        spent = audit(args, work, estate)
        if not args.no_peers:
            compare(peers(args.kit, estate, work, [str(p) for p in sorted((estate / "focus").glob("*.csv.gz"))]), spent)
    finally:
        if not args.keep:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()

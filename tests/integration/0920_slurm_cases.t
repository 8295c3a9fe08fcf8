#!/bin/sh
# Real accounting of two Slurm clusters, and single jobs with a published answer: their GPU-hours.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3
need_cases real/xdmod-slurm
real=${cases%/*}
pg_start

config() {
    config_name=$1
    shift
    printf '[audit]\ncurrency = USD\n[scheduler %s]\nformat = slurm\n' "$config_name" >"$work/$config_name.conf"
    printf '%s\n' "$@" >>"$work/$config_name.conf"
}
expected() {
    python3 -c '
import json, sys
at = json.load(open(sys.argv[1]))["files"][sys.argv[2]]
print(*(at[key] for key in sys.argv[3:]), sep="|")' "$real/EXPECTED.json" "$@"
}
of() {
    pg_query "select $2 from audit.allocation a join audit.slice l using (slice_id) join audit.source o using (source_id) where o.name = '$1' and ${3:-true}"
}
hours='round(sum(a.gpus * extract(epoch from a.to_time - a.from_time)) / 3600, 6)'
# Phillips, December 2016
config phillips "path = $real/xdmod-slurm/phillips.log" 'time-zone = UTC' \
    'columns = jobid, jobidraw, cluster, partition, qos, account, group, gid, user, uid, submit, eligible, start, end, elapsed, exitcode, state, nnodes, ncpus, reqcpus, reqmem, reqtres, alloctres, timelimit, nodelist, jobname'
ok 'phillips' gpu-audit --config "$work/phillips.conf" --database "$pg_url" --days 12 --until 2017-01-02 ingest
is 'phillips: GPU-hours and GPU jobs' "$(of phillips "$hours, count(distinct job_key)")" "$(expected xdmod-slurm/phillips.log gpu_hours gpu_jobs)"
both=$(awk -F'|' '$13 < "2017-01-01T00:00:00" && $14 > "2017-01-01T00:00:00"' "$real/xdmod-slurm/phillips.log" | grep -c .)
is 'phillips: each record is kept or totalled, those of two months in both' "$(pg_query "select sum(rows_read) - $both, sum(rows_rejected)
    from audit.load join audit.slice using (slice_id) join audit.source o using (source_id) where o.name = 'phillips'")" "$(expected xdmod-slurm/phillips.log rows)|0"
is 'phillips: ten and a half days of two GPUs on one node' "$(of phillips "min(host), max(job_gpus), max(job_to - job_from), min(end_state)" "job_key = '163485'")" 'cpn-f11-31|2|10 days 13:27:06|CANCELLED'

# Fox, 13 November 2024
config fox "path = $real/sonar-slurm/src_testdata_sacct-output.txt" 'time-zone = Europe/Oslo' \
    'columns = JobID, JobIDRaw, User, Account, State, Start, End, AveCPU, AveDiskRead, AveDiskWrite, AveRSS, AveVMSize, ElapsedRaw, ExitCode, Layout, MaxRSS, MaxVMSize, MinCPU, ReqCPUS, ReqMem, ReqNodes, Reservation, Submit, Suspended, SystemCPU, TimelimitRaw, UserCPU, NodeList, Partition, AllocTRES, Priority, JobName'
ok 'fox' gpu-audit --config "$work/fox.conf" --database "$pg_url" --quarter 2024Q4 ingest
fox() {
    expected sonar-slurm/src_testdata_sacct-output.txt "$@"
}
is 'fox: GPU-hours and allocations' "$(of fox "$hours, count(*)")" "$(fox gpu_hours gpu_allocations)"
is 'fox: by type' "$(of fox "$hours" "gpu_type = 'a100'")|$(of fox "$hours" "gpu_type = 'rtx30'")|$(of fox "$hours" 'gpu_type is null')" \
    "$(fox gpu_hours_a100 gpu_hours_rtx30 gpu_hours_untyped)"
is 'fox: by partition' "$(of fox "$hours" "partition = 'accel'")|$(of fox "$hours" "partition = 'ifi_accel'")|$(of fox "$hours" "partition = 'mig'")" \
    "$(fox gpu_hours_partition_accel gpu_hours_partition_ifi_accel gpu_hours_partition_mig)"
is 'fox: steps are no allocations' "$(pg_query "select sum(rows_read), sum(rows_rejected) from audit.load join audit.slice using (slice_id) join audit.source o using (source_id) where o.name = 'fox'")" "$(fox allocations)|0"

# Single jobs in a window of a quarter of an hour
python3 - "$real/EXPECTED.json" "$work" <<'END_OF_PYTHON'
import json, sys
oracles = json.load(open(sys.argv[1]))["oracles"]
oracles = oracles if isinstance(oracles, dict) else {o["id"]: o for o in oracles}
with open(f"{sys.argv[2]}/wanted", "w") as wanted:
    for n in range(1, 5):
        case = oracles[f"ceems-{n}"]
        with open(f"{sys.argv[2]}/ceems-{n}.txt", "w") as out:
            print(case["input"]["fields"], case["input"]["line"], sep="\n", file=out)
        print(f"ceems-{n}", case["expected"]["gpu_seconds"], file=wanted)
    for n in range(1, 4):
        case = oracles[f"ncsa-delta-{n}"]
        with open(f"{sys.argv[2]}/ncsa-delta-{n}.txt", "w") as out:
            print("JobID|Start|ElapsedRaw|AllocTRES", f"{n}|1676988000|{case['input']['elapsedraw']}|{case['input']['alloctres']}", sep="\n", file=out)
        print(f"ncsa-delta-{n}", case["expected"]["gpu_hours"], file=wanted)
    cases = json.load(open(sys.argv[1].replace("EXPECTED.json", "tricky/alloctres_gpu_count_cases.json")))
    with open(f"{sys.argv[2]}/tricky.txt", "w") as out:
        print("JobID|Start|End|AllocTRES", file=out)
        for n, case in enumerate(cases):
            print(n + 1, 1676988000, 1676991600, case["tres"], sep="|", file=out)
            print("tricky", n + 1, case["gpus"], file=wanted)
END_OF_PYTHON
: >"$work/got"
for name in ceems-1 ceems-2 ceems-3 ceems-4 ncsa-delta-1 ncsa-delta-2 ncsa-delta-3; do
    config "$name" "path = $work/$name.txt"
    gpu-audit --config "$work/$name.conf" --database "$pg_url" --quarter 2023Q1 -q ingest >"$work/out" 2>"$work/err" || diag "$(cat "$work/err")"
    case $name in
    ceems-*) sum="coalesce(trim_scale(sum(a.gpus * greatest(0, extract(epoch from least(a.to_time, '2023-02-21T15:15:00+0100') - greatest(a.from_time, '2023-02-21T15:00:00+0100'))))), 0)" ;;
    *) sum=$hours ;;
    esac
    printf '%s %s\n' "$name" "$(of "$name" "$sum")" >>"$work/got"
done
config tricky "path = $work/tricky.txt"
gpu-audit --config "$work/tricky.conf" --database "$pg_url" --quarter 2023Q1 -q ingest >"$work/out" 2>"$work/err" || diag "$(cat "$work/err")"
pg_query "select 'tricky ' || n || ' ' || coalesce(trim_scale(sum(a.gpus)), 0) from generate_series(1, $(grep -c tricky "$work/wanted")) n
    left join (select a.* from audit.allocation a join audit.slice using (slice_id) join audit.source o using (source_id) where o.name = 'tricky') a on a.job_key = n::text
    group by n order by n" >>"$work/got"
same 'single jobs, published answers' "$work/got" "$work/wanted"
done_testing

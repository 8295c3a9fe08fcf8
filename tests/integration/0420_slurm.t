#!/bin/sh
# Saved accounting of Slurm: months, nodes, runs, what is no allocation, zones, replacement; and
# commands that are no sacct.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need gpu-audit python3
pg_start
fixtures=$top/tests/fixtures/slurm
cp -R "$fixtures/saved" "$work/saved"
chmod -R u+w "$work/saved"

# config NAME LINE...: a scheduler of that name
config() {
    config_name=$1
    shift
    printf '[audit]\ncurrency = USD\n[scheduler %s]\nformat = slurm\n' "$config_name" >"$work/$config_name.conf"
    printf '%s\n' "$@" >>"$work/$config_name.conf"
}
audit() {
    audit_name=$1
    shift
    gpu-audit --config "$work/$audit_name.conf" --database "$pg_url" --quarter 2026Q3 --as-of 2026-10-01T00:00:00Z "$@"
}
# of NAME SQL-LIST [WHERE]: of its allocations
of() {
    pg_query "select $2 from audit.allocation a join audit.slice l using (slice_id) join audit.source o using (source_id) where o.name = '$1' and ${3:-true}"
}
loads() {
    pg_query "select sum(rows_read), sum(rows_kept), sum(rows_totalled), sum(rows_rejected) from audit.load join audit.slice using (slice_id) join audit.source o using (source_id) where o.name = '$1' and status = 'done'"
}
gpu_hours() {
    pg_query "select l.period, trim_scale(round(sum(a.gpus * extract(epoch from a.to_time - a.from_time)) / 3600, 9))
        from audit.allocation a join audit.slice l using (slice_id) join audit.source o using (source_id) where o.name = '$1' group by 1 order by 1"
}

config saved "path = $work/saved" 'time-zone = UTC'
ok 'a folder of answers' audit saved ingest
is 'GPU-hours by month' "$(gpu_hours saved)" '2026-07|132.142857143
2026-08|24
2026-09|14.5'
is 'the same by the hour' "$(pg_query "select to_char(hour at time zone 'UTC', 'YYYY-MM'), trim_scale(round(sum(gpu_seconds) / 3600, 9)) from audit.allocation_hour group by 1 order by 1")" "$(gpu_hours saved)"
is 'no hour is longer than an hour' "$(pg_query 'select max(held_seconds), min(held_seconds) from audit.allocation_hour')" '3600|1800'
is 'the same by account' "$(pg_query "select account, trim_scale(round(sum(gpu_hours), 9)), sum(jobs_started), trim_scale(sum(gpu_hours_low_confidence)), trim_scale(sum(gpu_hours_unplaced)), sum(jobs_gpus_unknown), trim_scale(sum(gpu_hours_waited)) from audit.allocation_use group by 1 order by 1")" \
    'nlp|70.5|3|||0|4
small|2.142857143|4|1||1|0.285714285714
vision|98|10||6|0|8.5'
is 'records add up' "$(loads saved)" '25|19|4|2'
is 'what they were' "$(pg_query 'select l.period, t.reason, t.row_count from audit.allocation_total t join audit.slice l using (slice_id) order by 1, 2')" \
    '2026-07|no GPU|1
2026-07|no time|1
2026-07|not started|1
2026-09|repeated|1'
is 'what cannot be used, and where' "$(pg_query 'select line, reason from audit.reject order by 1')" \
    '23|Start is no time of this zone
24|6 fields, where there are 18 columns'
is 'two nodes have four each' "$(of saved "string_agg(host || ' ' || trim_scale(gpus) || ' ' || is_job_start, ', ' order by host), min(queue_wait_seconds)" "job_id = '102'")" 'gpu01 4 true, gpu02 4 false|3600'
is 'three on two nodes are somewhere' "$(of saved "count(*), count(host), trim_scale(sum(gpus)), min(placement), min(node_list)" "job_id = '103'")" '1|0|3|unknown|gpu[01-02]'
is 'a requeued job ran twice' "$(of saved "string_agg(host || ' ' || end_state, ', ' order by job_from)" "job_key = '104'")" 'gpu01 NODE_FAIL, gpu02 COMPLETED'
is 'tasks and components' "$(of saved "string_agg(job_id || ' ' || coalesce(array_job_id || ' ' || array_task, het_job_id || ' ' || het_offset), ', ' order by job_id)" "job_id ~ '[_+]'")" \
    '105_1 105 1, 105_2 105 2, 120+0 120 0, 120+1 120 1'
is 'suspended time counts, and is told' "$(of saved 'suspended_seconds, end_state, extract(epoch from a.to_time - a.from_time)::int' "job_id = '130'")" '3600|CANCELLED|10800'
is 'shards are a share nobody knows' "$(of saved 'gpus is null, confidence' "job_id = '150'")" 't|high'
is 'a request is no allocation' "$(of saved 'gpu_source, confidence' "job_id = '160'")" 'ReqTRES|low'
is 'names stay names' "$(of saved 'job_name, count(*) over ()' "job_id = '210'")" "a|b
=cmd()	'\"; drop table audit.allocation; --|1"
is 'the end wins over the snapshot' "$(of saved "count(*), min(a.job_to at time zone 'UTC')" "job_id = '180'")" '1|2026-09-30 14:30:00'
is 'what runs is cut at now' "$(of saved "a.job_to is null, a.to_time at time zone 'UTC', end_state" "job_id = '181'")" 't|2026-10-01 00:00:00|RUNNING'
is 'a job that started before the month starts in none' "$(of saved "a.from_time at time zone 'UTC', a.job_from at time zone 'UTC', is_job_start, project_hint, issue_hint" "job_id = '100'")" \
    '2026-07-01 00:00:00|2026-06-30 22:00:00|f|proj-42|PROJ-42'
is 'one that runs over the end of a month starts once' "$(of saved "string_agg(l.period || ' ' || is_job_start, ', ' order by l.period), max(gpu_util_pct), min(use_source)" "job_id = '101'")" '2026-07 true, 2026-08 false|180|gpuutil'
is 'a key in a comment' "$(of saved 'distinct issue_hint' "job_id = '102'")" 'ML-12'

before=$(pg_query 'select max(load_id) from audit.load')
ok 'again' audit saved ingest
is 'nothing is loaded twice' "$(pg_query 'select max(load_id) from audit.load')" "$before"
printf '182|COMPLETED|2026-09-01T00:00:00|2026-09-01T00:00:00|2026-09-01T01:00:00|01:00:00|gres/gpu=1,node=1|gpu01|ana|nlp|main|late\n' >>"$work/saved/b.txt"
ok 'one more job' audit saved ingest
is 'months are replaced, not added to' "$(gpu_hours saved)" '2026-07|132.142857143
2026-08|24
2026-09|15.5'
is 'earlier loads are told as replaced' "$(pg_query "select status, count(*) from audit.load join audit.slice using (slice_id) join audit.source o using (source_id) where o.kind = 'scheduler' group by 1 order by 1")" 'done|6
replaced|6'

# What cannot be read leaves everything as it was.
gzip -c "$work/saved/a.txt" | head -c 900 >"$work/saved/c.txt.gz"
exits 'a file cut short' 4 audit saved ingest
like 'is named' "$(cat "$work/err")" 'saved/c\.txt\.gz'
is 'and nothing has changed' "$(gpu_hours saved)" '2026-07|132.142857143
2026-08|24
2026-09|15.5'
is 'but that it is told' "$(pg_query "select count(*), min(object) from audit.load where status = 'failed'")" '3|c.txt.gz, time-zone UTC'
like 'by status too' "$(audit saved status)" 'last load failed: .*c\.txt\.gz'
printf 'what is this\n' >"$work/saved/c.txt"
rm "$work/saved/c.txt.gz"
exits 'a file of something else' 4 audit saved ingest
like 'is told from an answer' "$(cat "$work/err")" 'c\.txt: no accounting data of Slurm'
rm "$work/saved/c.txt"
ok 'without them' audit saved ingest
is 'all is well' "$(pg_query "select count(*) from audit.load where status = 'failed'")" 0

config shards "path = $work/saved" 'time-zone = UTC' 'shards-per-gpu = 8' 'clusters = lab'
ok 'shards of a known size' audit shards ingest
is 'are a share of a GPU' "$(of shards 'trim_scale(gpus), cluster' "job_id = '150'")" '0.5|lab'
is 'and count' "$(gpu_hours shards | head -n 1)" '2026-07|133.142857143'

# Zones
config berlin "path = $fixtures/zone.txt" 'time-zone = Europe/Berlin'
q4() {
    gpu-audit --config "$work/$1.conf" --database "$pg_url" --quarter 2026Q4 --as-of 2026-11-15T00:00:00Z ingest
}
ok 'a zone' q4 berlin
is 'the hour that comes twice' "$(of berlin "job_id, a.job_from at time zone 'UTC', a.job_to at time zone 'UTC'" 'true order by 1')" \
    '1|2026-10-24 22:30:00|2026-10-25 03:30:00
2|2026-10-25 00:15:00|2026-10-25 01:45:00
3|2026-10-26 11:00:00|2026-10-26 12:00:00'
config berlin "path = $fixtures/zone.txt"
ok 'another zone' q4 berlin
like 'no zone is said' "$(cat "$work/err")" 'times without a zone are taken for UTC; set time-zone'
like 'and what does not fit it' "$(cat "$work/err")" '2 jobs ran longer than the time between their start and end'
is 'and the file is read again' "$(of berlin "a.job_from at time zone 'UTC'" "job_id = '3'")" '2026-10-26 12:00:00'
config berlin "path = $fixtures/zone.txt" 'time-zone = Europe/Atlantis'
exits 'a zone there is not' 3 q4 berlin
like 'is named with its line' "$(cat "$work/err")" 'berlin\.conf line 6: there is no time zone "Europe/Atlantis"'

# Commands that are no sacct, and sections that say too much or too little
config command 'command = /no/such/sacct'
exits 'a command there is not' 3 audit command ingest
like 'what to do' "$(cat "$work/err")" 'could not run "/no/such/sacct"'
config command 'command = false'
exits 'a command that fails' 6 audit command ingest
like 'its status' "$(cat "$work/err")" 'sacct ended with status 1'
config command 'command = echo'
exits 'a command that is another' 4 audit command ingest
like 'is told' "$(cat "$work/err")" 'does not list the columns of sacct'
printf 'echo $$ >"%s/pid"\nexec sleep 300\n' "$work" >"$work/hangs"
config command "command = sh $work/hangs" 'timeout = 1'
exits 'a command that says nothing' 6 audit command ingest
like 'is not waited for' "$(cat "$work/err")" 'sacct said nothing for 1 seconds'
is 'and is ended' "$(kill -0 "$(cat "$work/pid")" 2>/dev/null && echo there)" ''
config command 'command = sacct; touch /tmp/x'
exits 'no shell' 3 audit command ingest
config command 'command = sacct' 'clusters = a b;'
exits 'clusters that are none' 3 audit command ingest
config both 'command = sacct' "path = $work/saved"
exits 'both' 3 audit both ingest
config none
exits 'neither' 3 audit none ingest

# doctor
config saved "path = $work/saved"
audit saved doctor >"$work/out" 2>"$work/err"
like 'doctor counts and tells what lacks' "$(cat "$work/out")" 'scheduler saved +2 files; 21 of the 28 records are jobs that held GPUs, 2 cannot be read; times have no zone'

# Memory does not grow with the number of jobs. One begins every 100 seconds and holds two nodes for an
# hour: 35 run over the end of July, 35 over that of August.
python3 - "$work/many.txt" <<'END_OF_PYTHON'
import sys
with open(sys.argv[1], "w") as out:
    print("JobID|State|Submit|Start|End|ElapsedRaw|AllocTRES|NodeList|User|Account|JobName", file=out)
    for i in range(60000):
        start = 1782864000 + i * 100
        print(f"{i + 1}|COMPLETED|{start - 60}|{start}|{start + 3600}|3600|billing=1,cpu=8,gres/gpu:h100=2,gres/gpu=2,mem=64G,node=2|gpu[{i % 90 + 1:03}-{i % 90 + 2:03}]|user{i % 50}|account{i % 7}|a name of a job like others", file=out)
END_OF_PYTHON
config many "path = $work/many.txt"
peak() {
    python3 -c '
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)' "$@"
}
# shellcheck disable=SC2046 # two words
set -- $(peak gpu-audit --config "$work/many.conf" --database "$pg_url" --quarter 2026Q3 --as-of 2026-10-01T00:00:00Z -q ingest)
is '60,000 jobs' "$1 $(of many 'count(*), count(distinct job_id), trim_scale(sum(gpus * extract(epoch from a.to_time - a.from_time)) / 3600)')" '0 120140|60000|120000'
is 'in flat memory' "$([ "$2" -lt 96 ] || echo "$2 MiB")" ''
done_testing

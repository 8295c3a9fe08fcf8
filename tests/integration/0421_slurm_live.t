#!/bin/sh
# A real Slurm on the loopback (slurmctld, slurmdbd, two slurmd, MariaDB): jobs, arrays, requeues,
# heterogeneous jobs, cancelled, suspended, held and running ones; what gpu-audit makes of its sacct
# against a sum that another program takes from sacct and scontrol.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
. "${0%/*}/../lib/slurm.sh"
slurm_start
pg_start

submit() {
    (cd "$work" && sbatch --parsable -o /dev/null "$@") || diag "sbatch failed: $*"
}
# Jobs as they are now: "state of job"
state() {
    scontrol show job "$1" -o 2>/dev/null | grep -o 'JobState=[A-Z_]*' | sed 's/.*=//' | sort -u
}
is_state() {
    [ "$(state "$1")" = "$2" ]
}
# until_state JOB STATE
until_state() {
    slurm_tries=150
    while ! is_state "$1" "$2" && [ "$slurm_tries" -gt 0 ]; do
        slurm_tries=$((slurm_tries - 1))
        sleep 0.2
    done
    is_state "$1" "$2" || diag "job $1 is $(state "$1"), wanted $2"
}

# The queue is empty when these come, so each has what it needs at once or soon.
requeued=$(submit --requeue --gres=gpu:1 -w gpu02 --wrap 'sleep 300')
suspended=$(submit --gres=gpu:1 -w gpu02 -J suspended --wrap 'sleep 5')
named=$(submit -A nlp --gres=gpu:2 -w gpu01 --comment='gpu-project:PROJ-42' -J 'train|v2
1|forged|COMPLETED' --wrap 'sleep 2')
array=$(submit -A vision --gres=gpu:1 -w gpu01 --array=1-3 --wrap 'sleep 1')
spread=$(submit -A vision --gres=gpu:1 -N2 --wrap 'sleep 2')
het=$(submit -n1 --gres=gpu:a100:1 : -n1 --gres=gpu:v100:2 --wrap 'sleep 1')
cancelled=$(submit --gres=gpu:1 --wrap 'sleep 300')
failed=$(submit --gres=gpu:1 --wrap 'sleep 1; exit 3')
held=$(submit --hold --gres=gpu:4 --wrap 'true')
without=$(submit --wrap 'sleep 1')
running=$(submit --gres=gpu:1 -w gpu02 --wrap 'sleep 300')

until_state "$requeued" RUNNING
until_state "$suspended" RUNNING
until_state "$cancelled" RUNNING
sleep 1.2
scontrol suspend "$suspended"
scontrol requeue "$requeued"
scancel "$cancelled"
scancel "$held"
sleep 2
scontrol resume "$suspended"
# A requeued job waits two minutes unless it is told otherwise, once its first run is cleared away.
until_state "$requeued" PENDING
scontrol update "JobId=$requeued" StartTime=now
until_state "$requeued" RUNNING
until_state "$running" RUNNING
sleep 1.2
scancel "$requeued"
for job in "$named" "$array" "$spread" "$het" "$suspended" "$without"; do
    until_state "$job" COMPLETED
done
until_state "$failed" FAILED
until_state "$requeued" CANCELLED
# All four GPUs of a node that runs one job: it waits, its tasks still one row.
waiting=$(submit -w gpu02 --gres=gpu:4 --array=5-9 --wrap 'true')
# What happened reaches slurmdbd some seconds later, in order.
slurm_until 30 'accounting lags behind' sh -c "sacct -aDXPn -S now-1hour -E now+1hour -o JobID | grep -q '^${waiting}_\['"

cat >"$work/gpu-audit.conf" <<CONF
[audit]
currency = USD
[scheduler lab]
format = slurm
command = sacct
CONF
until=$(date -u -d '+1 day' +%Y-%m-%d)
audit() {
    gpu-audit --config "$work/$1.conf" --database "$pg_url" --days 3 --until "$until" "$2"
}
# What is in, of one source: a line for each run of a job that is over.
held_by_runs() {
    pg_query "select a.job_id, extract(epoch from a.job_from)::bigint, extract(epoch from a.job_to)::bigint,
        trim_scale(sum(a.gpus * extract(epoch from a.to_time - a.from_time)::bigint)), trim_scale(max(a.job_gpus))
        from audit.allocation a join audit.slice using (slice_id) join audit.source o using (source_id)
        where o.name = '$1' and a.job_to is not null group by 1, 2, 3 order by 2, 1"
}
one() {
    pg_query "select $1 from audit.allocation a join audit.slice using (slice_id) join audit.source o using (source_id) where o.name = 'lab' and $2"
}

ok 'what doctor finds' audit gpu-audit doctor
like 'doctor: sacct answers' "$(cat "$work/out")" 'scheduler lab.*sacct answers; on [0-9-]+ [0-9]+ of the [0-9]+ records are jobs that held GPUs$'
ok 'sacct is asked' audit gpu-audit ingest

# Another program takes the same sum of sacct's own words, told apart by its columns alone.
SLURM_TIME_FORMAT=%s sacct -aDXPn -S now-2days -E now+1hour --delimiter='@@' -o JobID,Start,End,AllocTRES >"$work/sacct.txt"
python3 - "$work/sacct.txt" >"$work/wanted" <<'END_OF_PYTHON'
import re, sys
for row in sorted((line.rstrip("\n").split("@@") for line in open(sys.argv[1])), key=lambda r: (r[1], r[0])):
    job, start, end, tres = row
    gpus = re.search(r"gres/gpu=(\d+)", tres)
    if gpus and start.isdigit() and end.isdigit() and int(end) > int(start):
        print(job, start, end, (int(end) - int(start)) * int(gpus[1]), gpus[1], sep="|")
END_OF_PYTHON
held_by_runs lab >"$work/got"
same 'every run that is over: its time and GPU-seconds as sacct has them' "$work/got" "$work/wanted"
is 'they are all there' "$(grep -c . "$work/wanted")" 12

# scontrol keeps jobs for some minutes: the last run of each.
scontrol -o show job >"$work/scontrol.txt"
python3 - "$work/scontrol.txt" >"$work/wanted" <<'END_OF_PYTHON'
import re, sys
from datetime import datetime, timezone
def at(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp())
total = 0
for line in open(sys.argv[1]).read().split("JobId=")[1:]: # a job's name may hold line breaks
    value = dict(re.findall(r"(\w+)=(\S*)", line))
    gpus = re.search(r" TRES=\S*gres/gpu=(\d+)", line)
    if gpus and value["JobState"] in ("COMPLETED", "FAILED", "CANCELLED") and value["StartTime"] != "Unknown" and "NodeList=gpu" in line:
        total += (at(value["EndTime"]) - at(value["StartTime"])) * int(gpus[1])
print(total)
END_OF_PYTHON
pg_query "select trim_scale(sum(seconds)) from (select distinct on (a.job_key) sum(a.gpus * extract(epoch from a.to_time - a.from_time)::bigint) as seconds
    from audit.allocation a where a.job_to is not null group by a.job_key, a.job_from order by a.job_key, a.job_from desc) last" >"$work/got"
same 'GPU-seconds of last runs as scontrol has them' "$work/got" "$work/wanted"

is 'a requeued job has two runs' "$(one 'count(distinct job_from)' "job_id = '$requeued'")" 2
is 'tasks of an array' "$(one "string_agg(job_id, ' ' order by array_task)" "array_job_id = '$array'")" "${array}_1 ${array}_2 ${array}_3"
is 'components of a heterogeneous job, by type' "$(one "string_agg(job_id || ' ' || gpu_type || ' ' || trim_scale(gpus), ', ' order by het_offset)" "het_job_id = '$het'")" \
    "$het+0 a100 1, $het+1 v100 2"
is 'two nodes: a row for each' "$(one "string_agg(host || ' ' || trim_scale(gpus) || ' ' || placement, ', ' order by host)" "job_id = '$spread'")" \
    'gpu01 1 even, gpu02 1 even'
is 'names cannot forge a record' "$(one "count(*), min(job_name), min(project_hint), min(issue_hint)" "job_id = '$named'")" \
    '1|train|v2
1|forged|COMPLETED|proj-42|PROJ-42'
is 'suspended time is held, and told' "$(one "suspended_seconds between 1 and 5, extract(epoch from a.to_time - a.from_time) >= 5" "job_id = '$suspended'")" 't|t'
is 'how they ended' "$(one "string_agg(distinct end_state, ' ' order by end_state)" "job_id in ('$cancelled', '$failed', '$named')")" 'CANCELLED COMPLETED FAILED'
is 'one that still runs has no end' "$(one "job_to is null, a.to_time > a.from_time, end_state, host" "job_id = '$running'")" 't|t|RUNNING|gpu02'
is 'nobody waited less than nothing' "$(one 'count(*)' "queue_wait_seconds is null or queue_wait_seconds < 0")" 0
is 'held, pending and CPU jobs hold nothing' "$(one 'count(*)' "job_key in ('$held', '$waiting', '$without')")" 0
is 'and are counted' "$(pg_query "select reason, sum(row_count) >= 1 from audit.allocation_total where reason <> 'no time' group by 1 order by 1")" \
    'no GPU|t
not started|t'
is 'accounts and users' "$(one "string_agg(distinct account, ' ' order by account), count(distinct user_name)" "job_id = '$named' or array_job_id = '$array'")" 'nlp vision|1'

# The same from files: text with a header, and JSON.
sacct -aDXP -S now-2days -E now+1hour -o JobID,JobIDRaw,Cluster,User,Account,Partition,State,Submit,Eligible,Start,End,ElapsedRaw,Suspended,AllocTRES,NodeList,JobName >"$work/text.txt"
sacct -aDX --json -S now-2days -E now+1hour >"$work/json.json"
for kind in text json; do
    printf '[audit]\ncurrency = USD\n[scheduler %s]\nformat = slurm\npath = %s\ntime-zone = UTC\n' "$kind" "$work/$kind.$([ $kind = json ] && echo json || echo txt)" >"$work/$kind.conf"
    ok "$kind of sacct" audit "$kind" ingest
    held_by_runs "$kind" >"$work/got"
    held_by_runs lab >"$work/wanted"
    same "$kind: the same runs" "$work/got" "$work/wanted"
done
is 'JSON tells the rest as well' "$(pg_query "select count(*) from (select job_id, job_from, host, gpus, account, user_name, partition, end_state, queue_wait_seconds, suspended_seconds, gpu_type, submit_time, array_task, het_offset
    from audit.allocation a join audit.slice using (slice_id) join audit.source o using (source_id) where o.name = 'lab' and job_to is not null
    except select job_id, job_from, host, gpus, account, user_name, partition, end_state, queue_wait_seconds, suspended_seconds, gpu_type, submit_time, array_task, het_offset
    from audit.allocation a join audit.slice using (slice_id) join audit.source o using (source_id) where o.name = 'json') x")" 0

# Again: the month is not over, so it is asked again and replaced.
scancel "$running"
slurm_until 30 'accounting lags behind' sh -c "sacct -nXP -j $running -o State | grep -q CANCELLED"
ok 'again' audit gpu-audit ingest
is 'the one that ran has its end now, once' "$(one "count(*), count(job_to)" "job_id = '$running'")" '1|1'

# Months that were over for a day when they were asked for are not asked for again.
settled() {
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --days 40 --until "$(date -u -d '-40 days' +%Y-%m-%d)" ingest
}
ok 'months long over' settled
newest=$(pg_query 'select max(load_id) from audit.load')
ok 'the same months again' settled
is 'are in already' "$(pg_query 'select max(load_id) from audit.load')" "$newest"

# slurmdbd is gone: nothing is lost, and it is said.
before=$(one 'count(*), sum(a.gpus * extract(epoch from a.to_time - a.from_time))' true)
kill "$slurm_pid_slurmdbd"
wait "$slurm_pid_slurmdbd"
fake() {
    timeout 60 gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --days 3 --until "$until" ingest
}
exits 'without slurmdbd it fails' 6 fake
like 'and says what sacct said' "$(cat "$work/err")" 'sacct ended with status 1'
is 'what was loaded stands' "$(one 'count(*), sum(a.gpus * extract(epoch from a.to_time - a.from_time))' true)" "$before"
is 'the failure is noted' "$(pg_query "select count(*) > 0 from audit.load where status = 'failed' and problem like '%sacct ended with status 1%'")" t
done_testing

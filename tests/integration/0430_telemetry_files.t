#!/bin/sh
# Logs of nvidia-smi and tables of hours: units, what is absent, headers in mid-file, hours that come
# twice, GPUs without a UUID, lines that are none; each number summed by hand.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3
pg_start
cd "$work" || exit 99

audit() {
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q4 "$@"
}
# config FORMAT PATH [KEY = VALUE …]
config() {
    printf '[audit]\ncurrency = USD\n[telemetry logs]\nformat = %s\npath = %s\n' "$1" "$2" >gpu-audit.conf
    shift 2
    for line; do echo "$line" >>gpu-audit.conf; done
}
rows() {
    pg_query "select $1 from audit.gpu_hour join audit.gpu_series using (slice_id, series_no) join audit.slice using (slice_id) join audit.source using (source_id) $2"
}

# ---- logs
mkdir logs
# 25 October 2026, Berlin: 02:30 comes twice, at 00:30 and at 01:30 UTC
cat >logs/gpu07.csv <<'END'
timestamp, index, uuid, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB], power.draw [W], clocks_event_reasons.sw_power_cap
2026/10/25 02:30:00.000, 0, GPU-a, NVIDIA H100 80GB HBM3, 40 %, 1000 MiB, 81559 MiB, 300.50 W, Active
2026/10/25 02:30:00.000, 1, GPU-b, NVIDIA H100 80GB HBM3, [N/A], [Insufficient Permissions], 81559 MiB, 88.00 W, Not Active
2026/10/25 02:45:00.000, 0, GPU-a, NVIDIA H100 80GB HBM3, 60 %, 2000 MiB, 81559 MiB, 100.50 W, Not Active
2026/10/25 02:30:00.000, 0, GPU-a, NVIDIA H100 80GB HBM3, 99 %, 3000 MiB, 81559 MiB, [Unknown Error], Not Active
2026/10/25 02:45:00.000, 0, GPU-a, NVIDIA H100 80GB HBM3, 97 %, 3000 MiB, 815
timestamp, uuid, utilization.gpu [%]
2026/10/25 04:10:00.000, GPU-a, 7 %
2026/10/25 04:11:00.000, GPU-a, 107 %
2026/10/25 04:12:00.000, GPU-a, many
not a line of it
2026/10/25 04:13:00.000, GPU-a, 9 %
END
printf 'timestamp, index, utilization.gpu [%%]\r\n2026/10/25 04:10:00.000, 3, 50 %%\r\n' >logs/old-host.log
config nvidia-smi "$work/logs" 'time-zone = Europe/Berlin'
ok 'logs of nvidia-smi' audit ingest
is 'an hour that comes twice is two hours' \
    "$(rows "hour at time zone 'UTC', util_samples, util_sum, util_max_pct, memory_max_mib" "where gpu_uuid = 'GPU-a' order by 1")" \
    '2026-10-25 00:00:00|2|100000000|60|2000
2026-10-25 01:00:00|1|99000000|99|3000
2026-10-25 03:00:00|2|16000000|9|'
is 'the mean of power, the share of throttled time as seconds' \
    "$(rows "power_mean_w, throttle_power_s, memory_total_mib" "where gpu_uuid = 'GPU-a' and hour = '2026-10-25 00:00+00'")" '200.5|1800|81559'
is 'an unknown error is no power' "$(rows "coalesce(power_mean_w::text, 'unknown')" "where gpu_uuid = 'GPU-a' and hour = '2026-10-25 01:00+00'")" 'unknown'
is 'what may not be seen is unknown, not zero' \
    "$(rows "coalesce(util_samples::text, '-'), coalesce(util_sum::text, '-'), coalesce(memory_max_mib::text, '-'), power_mean_w" "where gpu_uuid = 'GPU-b'")" \
    '-|-|-|88'
is 'the host is the name of the file, a GPU without UUID its place in it' \
    "$(rows 'distinct host, gpu_uuid, gpu_index, model_name' "order by 1, 2")" \
    'gpu07|GPU-a|0|NVIDIA H100 80GB HBM3
gpu07|GPU-a||
gpu07|GPU-b|1|NVIDIA H100 80GB HBM3
old-host|old-host/3|3|'
is 'what could not be used is kept with its line' \
    "$(pg_query "select line, reason from audit.reject order by line")" \
    '6|not as many cells as the header has names
9|utilization.gpu: not a number, or outside the physical range
10|utilization.gpu
11|not as many cells as the header has names'
is 'and counted' "$(pg_query "select object, rows_rejected from audit.load where status = 'done' and object not like 'catalog/%' order by 1")" 'gpu07.csv|4
old-host.log|0'
before=$(rows 'count(*), sum(util_sum), sum(util_samples)' '')
ok 'again' audit ingest
is 'changes nothing' "$(rows 'count(*), sum(util_sum), sum(util_samples)' '')" "$before"

config nvidia-smi "$work/logs"
exits 'a clock without a zone is refused' 3 audit ingest
like 'and the remedy said' "$(cat "$work/err")" 'time-zone'
config nvidia-smi "$work/logs" 'time-zone = Mars/Olympus'
exits 'a zone that is none is refused' 3 audit ingest
like 'by its name' "$(cat "$work/err")" 'Mars/Olympus'

mkdir bare
printf '2026/10/02 10:05:00.000, GPU-c, 30, 500\n2026/10/02 10:06:00.000, GPU-c, 50, 400\n' >bare/n1.csv
config nvidia-smi "$work/bare" 'time-zone = UTC' 'columns = timestamp, uuid, utilization.gpu, memory.used' 'host = node-9'
ok 'a log without header and units' audit ingest
is 'by the columns of the configuration' "$(rows 'host, util_samples, util_sum, memory_max_mib' "where gpu_uuid = 'GPU-c'")" 'node-9|2|80000000|500'
config nvidia-smi "$work/bare" 'time-zone = UTC' 'columns = timestamp, uuid'
exits 'columns without a measurement are refused' 3 audit ingest

# ---- tables of hours
mkdir hours
cat >hours/q4.csv <<'END'
gpu_uuid,hour,samples,host,instance_id,mig_id,mig_profile,util_mean_pct,util_max_pct,sm_mean_pct,sm_samples,power_mean_w,xid_changes,note
GPU-h,2026-10-01T00:00:00Z,60,n1,i-0aa,,,12.5,40,,,300,2,x
GPU-h,2026-10-01T01:00:00Z,30,n1,i-0aa,,,0,0,0.25,10,,,
GPU-m,2026-10-01 00:00,60,n1,,1,3g.40gb,,,50,,,,
GPU-h,yesterday,60,n1,,,,1,1,,,,,
GPU-h,2026-10-01T02:00:00Z,60,n1,,,,101,1,,,,,
END
config csv "$work/hours"
ok 'a table of hours' audit ingest
is 'each hour as it stands, unknown where it is empty' \
    "$(rows "gpu_uuid, hour at time zone 'UTC', coalesce(util_samples::text, '-'), coalesce(util_sum::text, '-'), coalesce(sm_samples::text, '-'), coalesce(sm_sum::text, '-'), samples, coalesce(xid_changes::text, '-')" "where format = 'csv' and instance_id is not null or mig_id is not null order by 1, 2")" \
    'GPU-h|2026-10-01 00:00:00|60|750000000|-|-|60|2
GPU-h|2026-10-01 01:00:00|30|0|10|2500000|30|-
GPU-m|2026-10-01 00:00:00|-|-|60|3000000000|60|-'
is 'what cannot be is kept apart' "$(pg_query "select line, reason from audit.reject join audit.load using (load_id) where object = 'q4.csv' order by 1")" \
    '5|hour is no time
6|util_mean_pct: not a number, or outside the physical range'
mkdir short
printf 'gpu_uuid,hour\nGPU-x,2026-10-01\n' >short/a.csv
config csv "$work/short"
exits 'a table without samples is refused' 4 audit ingest
like 'which names the column' "$(cat "$work/err")" 'no column samples'

done_testing

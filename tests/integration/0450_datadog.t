#!/bin/sh
# Datadog: a server that checks both keys, groups and rolls up by itself, widens its steps, limits the
# rate and cuts answers. Each number is summed by hand: see the comments.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3
pg_start
cd "$work" || exit 99
unset http_proxy https_proxy
api=0123456789abcdefapikey0123456789 app=fedcba9876543210applicationkey01234567
printf '%s\n' "$api" >api
printf '%s\n' "$app" >app
DATADOG_APP=$app
export DATADOG_APP

# rules [JSON MEMBER...]: what the server does from now on.
rules() {
    {
        printf '{"api": "%s", "app": "%s"' "$api" "$app"
        [ $# -eq 0 ] || printf ', %s' "$@"
        printf '}\n'
    } >control.tmp
    mv control.tmp control.json
    : >log
}
# config [LINE...]
config() {
    printf '[audit]\ncurrency = USD\n[telemetry fleet]\nformat = datadog\nurl = http://127.0.0.1:%s\napi-key-file = api\napp-key-env = DATADOG_APP\n' \
        "$port" >gpu-audit.conf
    printf '%s\n' "$@" >>gpu-audit.conf
}
audit() {
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 --as-of 2026-10-05T00:00:00Z "$@"
}
rows() {
    pg_query "select $1 from audit.gpu_hour join audit.gpu_series using (slice_id, series_no) $2"
}
everything() {
    rows "gpu_uuid, instance_id, gpu_index, host, model_name, mig_id, mig_profile, hour, util_samples, util_sum, util_max_pct, samples,
        memory_max_mib, power_mean_w, temperature_max_c" 'order by gpu_uuid, mig_id, host, hour'
}
anew() {
    pg_query "update audit.load set finished = from_time where from_time is not null"
}

# What is measured: [sum, count, maximum] of an hour of one series.
#   gpu-aa  on i-0123456789abcdef0: 1 July 00:00 under two pods, 20 samples of 90 and 40 of 15 (sum 2400: mean 40, and
#           not 52.5, the mean of the means), 01:00 nothing, 02:00 sixty zeros; 30 September 23:00
#   gpu-bb  a slice of a MIG GPU
#   a GPU without uuid is its host and index; one without an index as well is none
cat >fixture.py <<'END'
import json, sys
def gpu(metric, hours, host="i-0123456789abcdef0", uuid="gpu-aa", gpu="0", modelname="nvidia_a100-sxm4-40gb", **more):
    tags = {"host": host, "hostname": "gpu01", "uuid": uuid, "gpu": gpu, "modelname": modelname, "env": "prod"} | more
    return {"metric": metric, "tags": {k: v for k, v in tags.items() if v}, "hours": hours}
util = "dcgm.gpu_utilization"
series = [
    gpu(util, {"2026-07-01T00": [1800, 20, 90], "2026-07-01T02": [0, 60, 0], "2026-09-30T23": [60, 60, 1],
               "2026-10-01T00": [6000, 60, 100], "2026-06-30T23": [6000, 60, 100]}, pod_name="one"),
    gpu(util, {"2026-07-01T00": [600, 40, 15]}, pod_name="two"),
    gpu("dcgm.fb_used", {"2026-07-01T00": [1, 60, 30000]}),
    gpu("dcgm.power_usage", {"2026-07-01T00": [12000, 60, 300]}),
    gpu("dcgm.temperature", {"2026-07-01T00": [1, 60, 61]}),
    gpu(util, {"2026-07-09T00": [3000, 60, 50]}, uuid="gpu-cc", gpu="1"),
    gpu(util, {"2026-08-31T05": [3000, 60, 50]}, uuid="gpu-bb", gpu="2", gpu_i_id="3", gpu_i_profile="3g.20gb"),
    gpu(util, {"2026-08-31T05": [120, 60, 2]}, host="box", uuid="", gpu="4", modelname=""),
    gpu(util, {"2026-08-31T05": [6000, 60, 100]}, host="box", uuid="", gpu=""),
    gpu(util, {"2026-08-31T05": [6000, 60, 100]}, host="test", uuid="gpu-test", env="test"),
]
if "wrong" in sys.argv:
    series[0]["hours"]["2026-07-01T03"] = [7000, 60, 130]
json.dump(series, open("fixture.tmp", "w"))
END
fixture() {
    /usr/bin/python3 fixture.py "$@" && mv fixture.tmp fixture.json
}
fixture
rules
background python3 "$top/tests/lib/datadog_server.py" "$work/port" "$work/log" "$work/fixture.json" "$work/control.json"
wait_for "$work/port"
port=$(cat port)

# ---- what is asked, and what comes of it

config 'tags = env:prod'
ok 'a quarter of hours' audit ingest -vv
cp err first.err
is 'sums, counts and maxima over all pods of a GPU; an hour stands under its beginning, a gap is no hour' \
    "$(rows "hour at time zone 'UTC', util_samples, util_sum, util_max_pct, samples" "where gpu_uuid = 'GPU-aa' order by 1")" \
    '2026-07-01 00:00:00|60|2400000000|90|60
2026-07-01 02:00:00|60|0|0|60
2026-09-30 23:00:00|60|60000000|1|60'
is 'gauges: highest memory and temperature, mean power' \
    "$(rows 'memory_max_mib, power_mean_w, temperature_max_c' "where gpu_uuid = 'GPU-aa' and hour = '2026-07-01 00:00+00'")" '30000|200|61'
is 'who they are: UUIDs as everywhere else, the instance by its id, a slice, a host and index' \
    "$(rows "distinct gpu_uuid, coalesce(instance_id, '-'), host, coalesce(gpu_index, '-'), coalesce(model_name, '-'), coalesce(mig_id, '-'), coalesce(mig_profile, '-')" 'order by 1')" \
    'GPU-aa|i-0123456789abcdef0|gpu01|0|nvidia_a100-sxm4-40gb|-|-
GPU-bb|i-0123456789abcdef0|gpu01|2|nvidia_a100-sxm4-40gb|3|3g.20gb
GPU-cc|i-0123456789abcdef0|gpu01|1|nvidia_a100-sxm4-40gb|-|-
box/4|-|gpu01|4|-|-|-'
is 'a series that names no GPU is refused and shown' "$(pg_query "select distinct reason from audit.reject")" \
    'dcgm.gpu_utilization: no label holds the UUID of the GPU'
is 'in twelve parts' "$(pg_query "select count(*) from audit.load where status = 'done' and is_complete and object ~ 'http'")" 12
like 'where no two hours follow each other, the single hour tells that its step is no wider' "$(cat log)" \
    'rollup.count, 3600.* from=1788152400000 to=1788155999999 '
like 'grouped by what makes a GPU, in hours, without invented values' "$(cat log)" \
    'sum:dcgm.gpu_utilization\{env:prod\} by \{host,hostname,uuid,gpu,modelname,gpu_i_id,gpu_i_profile\}.rollup\(count, 3600\).fill\(null\) from=1782864000000 to=1783555199999'
everything >first
rules
ok 'again' audit ingest
is 'asks for nothing' "$(wc -l <log)" 0
everything >again
same 'and changes nothing' again first
config
ok 'without tags' audit ingest
is 'what is settled stays' "$(wc -l <log)" 0
anew
ok 'but asked anew' audit ingest
is 'everything is there' "$(rows 'count(*)' "where gpu_uuid = 'GPU-test'")" 1
config 'tags = env:prod'

# ---- faults

for fault in '"limit": 2, "reset": 1' '"limit": 1, "period": 1' '"busy": 2' '"cut": 2' '"wide": [4, 48]' '"pad": [9000000, 100]'; do
    anew
    pg_query 'delete from audit.gpu_hour'
    rules "$fault"
    ok "with $fault" audit ingest
    everything >again
    same 'the same rows' again first
done
anew
rules '"wide": [2, 0]'
exits 'steps wider than an hour, however small the piece' 6 audit ingest
like 'are refused' "$(cat err)" 'the answer is in steps of more than an hour, even for one hour'
everything >again
same 'what is loaded stays' again first
rules '"limit": 9, "reset": 86400'
exits 'a limit that lasts a day' 6 audit ingest
like 'is not waited for' "$(cat err)" 'the rate limit is used up, and is set anew in 86400 s'
rules '"limit": 99, "reset": 0'
exits 'a limit without end' 6 audit ingest
is 'is given up after some tries' "$(grep -c '^429' log)" 6
rules '"odd": "short"'
exits 'fewer values than times' 6 audit ingest
like 'are no answer' "$(cat err)" 'a series has not as many values as there are times'
rules '"odd": "page"'
exits 'a login page' 6 audit ingest
like 'is none either' "$(cat err)" 'the answer is no JSON object'

anew
pg_query 'delete from audit.gpu_hour; delete from audit.reject'
rules '"drop": "count"'
ok 'sums without counts' audit ingest
is 'are no hours' "$(rows 'count(*)' 'where util_samples is not null or util_sum is not null or samples is not null')" 0
like 'and shown as refused' "$(pg_query "select distinct reason from audit.reject order by 1")" 'dcgm.gpu_utilization: no count of samples for this series and hour'
anew
rules
fixture wrong
ok 'more than a hundred percent' audit ingest
is 'is refused' "$(rows 'count(*)' "where hour = '2026-07-01 03:00+00' and util_sum is not null")" 0
fixture
anew
pg_query 'delete from audit.gpu_hour'

# ---- keys and doctor

rules
ok 'the doctor' audit doctor
like 'says which signals there are' "$(cat out)" 'has on 2026-09-30 util of 1 GPUs, fb of 0 GPUs, power of 0 GPUs, temp of 0 GPUs; SM activity is not in'
rules '"denied": true'
exits 'keys that may not query' 6 audit ingest -vv
cat out err >>first.err
like 'are told' "$(cat err)" 'status 403: the keys of \[telemetry fleet\] may not query'
like 'with the permission it takes' "$(cat err)" 'permission timeseries_query'
rules
sed -i '/^app-key/d' gpu-audit.conf
exits 'one key of two' 3 audit ingest
like 'is not enough' "$(cat err)" '\[telemetry fleet\] has no app-key'
config 'site = datadoghq.eu'
exits 'both site and url' 3 audit ingest
like 'are one too many' "$(cat err)" 'has both site and url'
sed -i '/^url/d; s/^site.*/site = https:\/\/app.datadoghq.eu/' gpu-audit.conf
exits 'an address for a site' 3 audit ingest
like 'is none' "$(cat err)" 'site of \[telemetry fleet\] is no site'
sed -i '/^site/d' gpu-audit.conf
exits 'neither' 3 audit ingest
config 'tags = a}b{c'
exits 'tags that would be another query' 3 audit ingest

# ---- killed at any moment

config 'tags = env:prod'
pg_query 'delete from audit.gpu_hour'
anew
rules '"stall": 0.02'
for wait in 0.3 0.6 0.9 1.2 1.5; do
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 --as-of 2026-10-05T00:00:00Z ingest >/dev/null 2>&1 &
    pid=$!
    sleep "$wait"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
done
ok 'after kill -9' audit ingest
everything >again
same 'the same rows' again first
anew
rules '"halt": 80'
exits 'a server that breaks down' 6 audit ingest
rules
ok 'is gone on with' audit ingest
is 'for the parts left over' "$(grep -c 'from=1782864000000' log) $(grep -c 'from=1784246400000 ' log)" '0 6'
everything >again
same 'to the same rows' again first

"$pg_bin/pg_dump" "$pg_url" >dump.sql
unlike 'no key in any message' "$(cat first.err)" "$api|$app"
unlike 'nor in the database' "$(cat dump.sql)" "$api|$app"

done_testing

#!/bin/sh
# Amazon CloudWatch: a server that checks every signature, counts queries and values, pages, throttles,
# leaves answers incomplete and cuts them. Each number is summed by hand: see the comments.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3
pg_start
cd "$work" || exit 99
unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_REGION AWS_DEFAULT_REGION AWS_CONFIG_FILE \
    AWS_SHARED_CREDENTIALS_FILE http_proxy https_proxy
HOME=$work
secret='wJalrXUtnFEMI+K7MDENG/bPxRfiCYEXAMPLEKEY'
AWS_ACCESS_KEY_ID=AKIAEXAMPLE AWS_SECRET_ACCESS_KEY=$secret
export HOME AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY

# rules [JSON MEMBER...]: what the server does from now on.
rules() {
    {
        printf '{"keys": {"AKIAEXAMPLE": "%s"}, "region": "eu-central-1"' "$secret"
        [ $# -eq 0 ] || printf ', %s' "$@"
        printf '}\n'
    } >control.tmp
    mv control.tmp control.json
    : >log
}
# config [LINE...]
config() {
    printf '[audit]\ncurrency = USD\n[telemetry fleet]\nformat = cloudwatch\nregion = eu-central-1\nendpoint = http://127.0.0.1:%s\ncredentials = env\n' \
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
    rows "gpu_uuid, instance_id, gpu_index, host, model_name, hour, util_samples, util_sum, util_max_pct, samples, memory_max_mib,
        memory_total_mib, power_mean_w, temperature_max_c, tensor_mean_pct" 'order by gpu_uuid, host, hour'
}
calls() {
    grep -c "^$1 200" log
}
anew() {
    pg_query "update audit.load set finished = from_time where from_time is not null"
}

# What is measured: [sum, count, maximum] of an hour.
#   i-0aaa, GPU 0  1 July 00:00 30 samples of 10 and 30 of 50 (sum 1800), 01:00 sixty zeros, 30 September 23:00 one of 100
#   i-0aaa, GPU 1  1 July 00:00 sixty of 7.5 (sum 450)
#   i-0bbb, GPU 0  10 July, gone since: listed in the first run only
#   node, GPU 0    by Container Insights, memory in bytes
cat >fixture.py <<'END'
import json, sys
def agent(instance, index, metric, hours, **more):
    names = {"InstanceId": instance, "index": str(index), "name": "Tesla T4", "arch": "Turing", "host": "ip-10-0-0-" + instance[-1:]}
    names.update(more)
    return {"namespace": "CWAgent", "metric": metric, "dimensions": {k: v for k, v in names.items() if v}, "hours": hours}
def node(metric, hours, device="nvidia0"):
    names = {"ClusterName": "c", "InstanceId": "i-0ccc", "InstanceType": "g4dn.xlarge", "NodeName": "node-c", "GpuDevice": device}
    return {"namespace": "ContainerInsights", "metric": metric, "dimensions": {k: v for k, v in names.items() if v}, "hours": hours}
util = "nvidia_smi_utilization_gpu"
metrics = [
    agent("i-0aaa", 0, util, {"2026-07-01T00": [1800, 60, 50], "2026-07-01T01": [0, 60, 0], "2026-09-30T23": [100, 1, 100],
                              "2026-10-01T00": [6000, 60, 100], "2026-06-30T23": [6000, 60, 100]}),
    agent("i-0aaa", 1, util, {"2026-07-01T00": [450, 60, 7.5]}),
    agent("i-0aaa", 0, "nvidia_smi_memory_used", {"2026-07-01T00": [1, 60, 15000]}),
    agent("i-0aaa", 0, "nvidia_smi_memory_total", {"2026-07-01T00": [1, 60, 15360]}),
    agent("i-0aaa", 0, "nvidia_smi_power_draw", {"2026-07-01T00": [4200, 60, 99]}),
    agent("i-0aaa", 0, "nvidia_smi_temperature_gpu", {"2026-07-01T00": [1, 60, 71]}),
    agent("i-0aaa", "", util, {"2026-07-01T00": [2250, 120, 50]}, name="", arch="", host=""),
    # the same samples once more, rolled up to fewer dimensions
    agent("i-0aaa", 0, util, {"2026-07-01T00": [1800, 60, 50], "2026-07-01T02": [60, 60, 1]}, name="", arch="", host=""),
    agent("", 1, util, {"2026-07-01T00": [450, 60, 7.5]}, host="ip-10-0-0-a"),
    agent("", 3, util, {"2026-07-01T05": [120, 60, 2]}, host="lab-box"),
    # the host got another name within an hour: the halves add up
    agent("i-0ddd", 0, util, {"2026-08-05T10": [300, 30, 10]}, host="old-name"),
    agent("i-0ddd", 0, util, {"2026-08-05T10": [1500, 30, 50]}, host="new-name"),
    node("node_gpu_utilization", {"2026-08-01T00": [600, 60, 20]}),
    node("node_gpu_utilization", {"2026-08-01T00": [6000, 60, 100]}, device=""),
    node("node_gpu_memory_used", {"2026-08-01T00": [1, 60, 2147483648]}),
    node("node_gpu_tensor_core_utilization", {"2026-08-01T00": [300, 60, 9]}),
    {"namespace": "ContainerInsights", "metric": "pod_gpu_utilization", "dimensions": {"PodName": "p", "GpuDevice": "nvidia0"},
     "hours": {"2026-08-01T00": [6000, 60, 100]}},
]
gone = agent("i-0bbb", 0, util, {"2026-07-10T00": [120, 60, 4], "2026-07-10T01": [90, 30, 6]})
what = sys.argv[1:]
if "gone" in what:
    gone["listed"] = False
metrics.append(gone)
if "news" in what:
    metrics.append(agent("i-0eee", 0, util, {"2026-07-20T00": [60, 60, 1]}))
if "forbidden" in what:
    metrics[1]["forbidden"] = True
if "wrong" in what:
    metrics[1]["hours"]["2026-07-01T03"] = [7000, 60, 130]
if "fleet" in what:  # 60 GPUs, 120 hours each: four batches a month, many pages
    hours = {f"2026-07-{1 + h // 24:02d}T{h % 24:02d}": [60 * (h % 100), 60, h % 100] for h in range(120)}
    metrics = [agent(f"i-{n:04d}", g, util, hours) for n in range(15) for g in range(4)]
json.dump(metrics, open("fixture.tmp", "w"))
END
fixture() {
    /usr/bin/python3 fixture.py "$@" && mv fixture.tmp fixture.json
}
fixture
rules
background python3 "$top/tests/lib/cloudwatch_server.py" "$work/port" "$work/log" "$work/fixture.json" "$work/control.json"
wait_for "$work/port"
port=$(cat port)

# ---- what is asked, and what comes of it

config
ok 'a quarter of hours' audit ingest -vv
cp err first.err
is 'sums, counts and maxima; an hour stands under its beginning, and hours beside the quarter of another month do not come' \
    "$(rows "hour at time zone 'UTC', util_samples, util_sum, util_max_pct, samples" "where gpu_uuid = 'i-0aaa/0' order by 1")" \
    '2026-07-01 00:00:00|60|1800000000|50|60
2026-07-01 01:00:00|60|0|0|60
2026-07-01 02:00:00|60|60000000|1|60
2026-09-30 23:00:00|1|100000000|100|1'
is 'gauges: highest memory and temperature, mean power' \
    "$(rows 'memory_max_mib, memory_total_mib, power_mean_w, temperature_max_c' "where gpu_uuid = 'i-0aaa/0' and hour = '2026-07-01 00:00+00'")" \
    '15000|15360|70|71'
is 'two GPUs of one instance are two' \
    "$(rows 'distinct gpu_uuid, instance_id, gpu_index, host, model_name' "where instance_id = 'i-0aaa' order by 1")" \
    'i-0aaa/0|i-0aaa|0|ip-10-0-0-a|Tesla T4
i-0aaa/1|i-0aaa|1|ip-10-0-0-a|Tesla T4'
is 'a set that says less of the same GPU counts where no other says more, and never twice' \
    "$(rows 'count(*), sum(util_samples), sum(util_sum)' "where gpu_uuid = 'i-0aaa/1' or host = 'ip-10-0-0-a' and instance_id is null")" '1|60|450000000'
is 'a GPU without an instance id is known by its host' "$(rows 'gpu_uuid, host, coalesce(instance_id, $$none$$), util_sum' "where host = 'lab-box'")" \
    'lab-box/3|lab-box|none|120000000'
is 'two names of a host in one hour add up' "$(rows 'util_samples, util_sum, util_max_pct' "where instance_id = 'i-0ddd'")" '60|1800000000|50'
is 'Container Insights: node level, a GPU each, memory in bytes, tensor cores' \
    "$(rows 'gpu_uuid, gpu_index, host, util_sum, memory_max_mib, tensor_mean_pct' "where instance_id = 'i-0ccc'")" 'i-0ccc/0|0|node-c|600000000|2048|5'
is 'a load for each month' "$(pg_query "select from_time at time zone 'UTC', rows_rejected, is_complete, problem is null from audit.load where object ~ 'http' and status = 'done' order by 1")" \
    '2026-07-01 00:00:00|0|t|t
2026-08-01 00:00:00|0|t|t
2026-09-01 00:00:00|0|t|t'
is 'one call a month for so few' "$(calls GetMetricData)" 3
like 'by hours of whole months, half-open' "$(cat log)" 'from=1782864000 to=1785542400'
everything >first
before=$(pg_query 'select max(load_id) from audit.load')
rules
ok 'again' audit ingest
is 'asks for nothing' "$(calls GetMetricData)" 0
is 'and loads nothing of it' "$(pg_query "select count(*) from audit.load where load_id > $before and object ~ 'http'")" 0
everything >again
same 'and changes nothing' again first

# ---- terminated instances

fixture gone
anew
rules
began=$(pg_query 'select now()')
ok 'an instance that is listed no more' audit ingest
everything >again
same 'is still asked for' again first
is 'since it is kept by name' "$(pg_query "select dimensions->>'InstanceId', metric from audit.cloudwatch_metric where last_listed < '$began'")" \
    'i-0bbb|nvidia_smi_utilization_gpu'
fixture gone news
rules
ok 'a metric that is listed for the first time' audit ingest
is 'has the months asked for that are loaded' "$(calls GetMetricData)" 3
is 'so that nothing of it is missing' "$(rows 'util_samples, util_sum' "where instance_id = 'i-0eee'")" '60|60000000'
rules
ok 'and then' audit ingest
is 'no more' "$(calls GetMetricData)" 0
pg_query "update audit.cloudwatch_metric set last_listed = '2026-03-01' where dimensions->>'InstanceId' = 'i-0bbb'"
anew
ok 'what ended months before' audit ingest
is 'is asked for no more' "$(rows 'count(*)' "where instance_id = 'i-0bbb'") $(rows 'count(*) > 0' "where instance_id = 'i-0eee'")" '0 t'

# ---- pages, faults

pg_query 'truncate audit.cloudwatch_metric; delete from audit.gpu_hour; delete from audit.gpu_series'
fixture
for fault in '"list": 1' '"page": 1' '"page": 3, "stale": 2' '"throttle": 3' '"busy": 2' '"cut": 2' \
    '"partial": ["nvidia_smi_utilization_gpu", 1]' '"internal": ["nvidia_smi_power_draw", 2]'; do
    anew
    pg_query 'delete from audit.gpu_hour'
    rules "$fault"
    ok "with $fault" audit ingest
    everything >again
    same 'the same rows' again first
done
rules '"page": 1'
anew
ok 'a value a page' audit ingest
like 'is read page by page' "$(cat log)" 'token=data-3$'
is 'a load that came whole is complete' "$(pg_query "select bool_and(is_complete) from audit.load where status = 'done' and object ~ 'http'")" t

anew
rules '"partial": ["nvidia_smi_utilization_gpu", 99]'
ok 'a server that never completes an answer' audit ingest
like 'is told' "$(cat err)" 'CloudWatch left [0-9]+ results incomplete; it will be asked again next time'
is 'and the load is marked' "$(pg_query "select is_complete, problem ~ 'incomplete' from audit.load where status = 'done' and object ~ '2026-07 '")" 'f|t'
is 'what came is right, what did not is unknown' \
    "$(rows "hour at time zone 'UTC', util_samples, util_sum" "where gpu_uuid = 'i-0aaa/0' and hour < '2026-07-01 03:00+00' order by 1")" \
    '2026-07-01 00:00:00|60|1800000000'

anew
rules '"drop": "SampleCount"'
ok 'means without counts' audit ingest
is 'are no hours' "$(rows 'count(*)' 'where util_samples is not null or util_sum is not null')" 0
is 'and shown as refused' "$(pg_query "select distinct reason collate \"C\" from audit.reject order by 1")" \
    'node_gpu_utilization: no count of samples for this series and hour
nvidia_smi_utilization_gpu: no count of samples for this series and hour'
anew
rules '"drop": "Average"'
ok 'counts without means' audit ingest
is 'are neither' "$(rows 'count(*)' 'where util_samples is not null or samples is not null')" 0
like 'and told' "$(cat err)" '[0-9]+ hours have a count of samples and no mean'
anew
rules
fixture wrong
ok 'more than a hundred percent' audit ingest
is 'is refused' "$(rows 'count(*)' "where hour = '2026-07-01 03:00+00' and util_sum is not null")" 0
fixture forbidden
anew
ok 'metrics that are forbidden' audit ingest
like 'are told' "$(cat err)" 'CloudWatch forbids 3 results: cloudwatch:GetMetricData'
fixture
anew
ok 'and with the right' audit ingest
everything >again
same 'all is there' again first

# ---- refusals

anew
rules '"denied": "GetMetricData"'
exits 'no right to read' 6 audit ingest
like 'is named' "$(cat err)" 'GetMetricData: status 403 \(AccessDenied\)'
like 'with the rights it takes' "$(cat err)" 'cloudwatch:ListMetrics and cloudwatch:GetMetricData. The credentials of \[telemetry fleet\] are those of the environment'
everything >again
same 'what is loaded stays' again first
rules '"ahead": 3600'
exits 'clocks apart' 6 audit ingest
like 'are named as such' "$(cat err)" 'the clock of this machine is (59|60) minutes behind that of 127.0.0.1'
rules '"token": "session-token-123"'
exits 'a session without its token' 6 audit ingest
like 'is told' "$(cat err)" 'UnrecognizedClientException'
AWS_SESSION_TOKEN=session-token-123
export AWS_SESSION_TOKEN
ok 'with its token' audit ingest -vv
cat out err >>first.err
unset AWS_SESSION_TOKEN
rules
AWS_SECRET_ACCESS_KEY=wrong-secret-wrong-secret
exits 'a wrong secret' 6 audit ingest -vv
like 'is told as such' "$(cat err)" 'The secret does not belong to the access key'
cat out err >>first.err
AWS_SECRET_ACCESS_KEY=$secret
config 'credentials = none'
sed -i '/^credentials = env/d' gpu-audit.conf
exits 'nobody' 6 audit ingest
like 'is told that nothing was signed' "$(cat err)" 'MissingAuthenticationToken'
sed 's/^region.*/region = us-east-1/' gpu-audit.conf >other.conf
config
sed -i 's/^region.*/region = us-east-1/' gpu-audit.conf
exits 'another region' 6 audit ingest
like 'is told' "$(cat err)" 'region is not that of endpoint'
sed -i '/^region/d' gpu-audit.conf
exits 'no region' 3 audit ingest
like 'is a fault of the configuration' "$(cat err)" 'region of \[telemetry fleet\] is missing'
config
rules '"throttle": 99'
exits 'a server that throttles without end' 6 audit ingest
like 'is given up with what to do' "$(cat err)" 'CloudWatch wants fewer requests: run the command again later'
is 'after some tries' "$(grep -c ' 400' log)" 7

# ---- doctor

rules
ok 'the doctor' audit doctor
like 'counts GPUs and signals' "$(cat out)" '127.0.0.1:[0-9]+ lists 6 GPUs: util of 6, fb of 2, power of 1, temp of 1'
like 'says what CloudWatch will not have' "$(cat out)" 'SM activity is none of its metrics.*minutes are kept for 15 days only'
rules '"denied": "GetMetricData"'
audit doctor >out 2>&1 </dev/null
like 'finds out who may list and not read' "$(cat out)" 'GetMetricData: status 403 \(AccessDenied\)'

# ---- a fleet: several calls, killed at any moment

fixture fleet
rules '"page": 700'
config 'namespace = CWAgent'
sed -i 's/^.telemetry fleet./[telemetry big]/' gpu-audit.conf
ok 'sixty GPUs' audit ingest
like 'as many queries as 100,800 values allow' "$(cat log)" 'queries=135 .*token=None'
is 'every hour of them' "$(rows "count(*), sum(util_samples), (sum(util_sum) / 1000000)::bigint, max(util_max_pct)" "where gpu_uuid ~ '^i-00'")" \
    "7200|432000|$(((4950 + 190) * 60 * 60))|99"
rows 'gpu_uuid, hour, util_samples, util_sum, util_max_pct' "where gpu_uuid ~ '^i-00' order by 1, 2" >whole
sed -i 's/^.telemetry big./[telemetry killed]/' gpu-audit.conf
pg_query "delete from audit.gpu_hour where slice_id in (select slice_id from audit.slice join audit.source using (source_id) where name = 'big')"
rules '"stall": 0.05' '"page": 700'
for wait in 0.3 0.6 0.9 1.2 1.5 2; do
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 --as-of 2026-10-05T00:00:00Z ingest >/dev/null 2>&1 &
    pid=$!
    sleep "$wait"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
done
ok 'after kill -9' audit ingest
rows 'gpu_uuid, hour, util_samples, util_sum, util_max_pct' "where gpu_uuid ~ '^i-00' order by 1, 2" >killed
same 'the same rows as without' killed whole
anew
rules '"halt": 24' '"page": 700'
exits 'a server that breaks down in between' 6 audit ingest
rules '"page": 700'
ok 'is gone on with' audit ingest
rows 'gpu_uuid, hour, util_samples, util_sum, util_max_pct' "where gpu_uuid ~ '^i-00' order by 1, 2" >killed
same 'to the same rows' killed whole

# ---- secrets

"$pg_bin/pg_dump" "$pg_url" >dump.sql
unlike 'no secret in any message' "$(cat first.err)" "$secret|wrong-secret-wrong-secret|session-token-123"
unlike 'nor in the database' "$(cat dump.sql)" "wJalrXUtnFEMI|wrong-secret-wrong-secret|session-token-123"

done_testing

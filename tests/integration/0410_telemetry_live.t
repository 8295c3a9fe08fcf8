#!/bin/sh
# A live Prometheus: the same rows as its saved answers, never asked twice, killed and gone on with,
# too much asked, warnings, wrong tokens, nobody there.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3 prometheus promtool curl
/usr/bin/python3 -c 'import numpy' 2>/dev/null || skip_all 'python3-numpy is not installed'
kit=${AUDIT_SHARED:-$top/../shared}/kit
[ -x "$kit/fleetgen.py" ] || skip_all 'no kit beside the source tree'
pg_start
cd "$work" || exit 99

mkdir estate
(cd "$kit" && ./fleetgen.py --gpus 8 --days 4 --start 2026-07-30 --resolution 300 --parts openmetrics prom_json inventory --out "$work/estate") >kit.log 2>&1 &&
    "$kit/prometheus.sh" backfill "$work/estate" >>kit.log 2>&1 || { diag "$(cat kit.log)"; skip_all 'no estate'; }
upstream=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
at_exit "$kit/prometheus.sh stop $work/estate"
"$kit/prometheus.sh" start "$work/estate" "$upstream" >>kit.log 2>&1 || { diag "$(cat kit.log)"; skip_all 'no Prometheus'; }
python3 "$top/tests/lib/http_server.py" port log "http://127.0.0.1:$upstream" &
server=$!
at_exit "kill $server"
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -s port ] && break
    sleep 0.2
done
site=http://127.0.0.1:$(cat port)
printf 'right-token-1234\n' >token

audit() {
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --days 6 --until 2026-08-04 "$@"
}
# config KEY VALUE-LINE...
config() {
    printf '[audit]\ncurrency = USD\n[telemetry t]\nformat = prometheus\n' >gpu-audit.conf
    printf '%s\n' "$@" >>gpu-audit.conf
}
# rows LOCATION: everything but numbers of our own, in order
rows() {
    pg_query "select gpu_uuid, mig_id, mig_profile, host, instance_id, gpu_index, model_name, namespace, pod, hour, util_samples, util_sum,
        util_max_pct, sm_samples, sm_sum, sm_max_pct, memory_max_mib, round(power_mean_w::numeric, 2), samples
        from audit.gpu_hour join audit.gpu_series using (slice_id, series_no) join audit.slice using (slice_id)
        join audit.source using (source_id) where location = '$1' order by gpu_uuid, mig_id, pod, hour"
}
asked() {
    grep -c "POST $1/" log
}

config "path = $work/estate/prom_json"
ok 'saved answers' audit ingest
rows "$work/estate/prom_json" >saved
is 'there are some' "$([ "$(wc -l <saved)" -gt 500 ] && echo yes)" yes

config "url = $site/proxy"
ok 'a live server' audit ingest
rows "$site/proxy" >live
same 'the same rows, whatever the way' live saved
is 'a load for each day' "$(pg_query "select count(*) from audit.load join audit.slice using (slice_id) join audit.source using (source_id) where location = '$site/proxy' and status = 'done' and is_complete")" 6
is 'empty first days are told' "$(pg_query "select count(*) from audit.load where problem like 'no samples before 2026-07-30: %'")" 1
before=$(asked /proxy)
ok 'again' audit ingest
is 'nothing is asked twice' "$(asked /proxy)" "$before"

config "url = $site/limit-5"
ok 'a server that answers five hours at most' audit ingest
rows "$site/limit-5" >limited
same 'gives the same rows, in smaller pieces' limited saved

config "url = $site/warn"
ok 'warnings' audit ingest
like 'are told' "$(cat err)" 'a store was away'
is 'and make the days incomplete' "$(pg_query "select count(*), bool_or(is_complete) from audit.load join audit.slice using (slice_id) join audit.source using (source_id) where location = '$site/warn' and status = 'done' and problem like '%a store was away%'")" '6|f'
before=$(asked /warn)
ok 'incomplete days' audit ingest
is 'are asked again' "$(($(asked /warn) / before))" 2
rows "$site/warn" >warned
same 'and replace what was there' warned saved

# Stops in the third day: what is done stays, the next run goes on.
config "url = $site/halt-20"
exits 'a server that breaks down' 6 audit ingest
done_days=$(pg_query "select count(*) from audit.load join audit.slice using (slice_id) join audit.source using (source_id) where location = '$site/halt-20' and status = 'done'")
is 'days before are in' "$done_days" 2
pg_query "update audit.source set location = '$site/proxy/.' where location = '$site/halt-20'"
config "url = $site/proxy/."
before=$(asked /proxy)
ok 'the rest' audit ingest
is 'only the days left over' "$(($(asked /proxy) - before))" 32
rows "$site/proxy/." >rest
same 'the same rows' rest saved

# Killed at any moment.
config "url = $site/proxy//"
for wait in 0.05 0.1 0.15 0.2 0.25 0.3 0.4 0.5; do
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --days 6 --until 2026-08-04 ingest >/dev/null 2>&1 &
    pid=$!
    sleep "$wait"
    kill -9 "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
done
ok 'after kill -9' audit ingest
rows "$site/proxy//" >killed
same 'the same rows as without' killed saved

# Several commands at once: each day is one's, and series keep their numbers.
config "url = $site/proxy///"
pids=
for number in 1 2 3 4; do
    audit ingest >"beside$number" 2>&1 &
    pids="$pids $!"
done
failed=0
for pid in $pids; do
    wait "$pid" || failed=$((failed + 1))
done
is 'four at once' "$failed" 0
[ "$failed" -eq 0 ] || diag "$(cat beside1 beside2 beside3 beside4)"
rows "$site/proxy///" >beside
same 'the same rows as one' beside saved
is 'no number twice' "$(pg_query "select count(*) from (select 1 from audit.gpu_series group by slice_id, series_no having count(*) > 1) d")" 0

config "url = $site/auth" 'token-file = token'
ok 'a token' audit ingest
printf 'wrong-token-1234\n' >token
config "url = $site/auth/." 'token-file = token'
audit ingest >out 2>err </dev/null
is 'a wrong token: exit status' $? 6
like 'says so' "$(cat err)" 'status 401'
like 'and where it is from' "$(cat err)" 'token-file in \[telemetry t\]'
unlike 'and never what it is' "$(cat out err)" 'wrong-token-1234'
is 'nor does the database hold it' "$(pg_query "select count(*) from audit.load where problem like '%wrong-token%'")" 0

config 'url = http://127.0.0.1:1/nobody'
exits 'nobody there' 6 audit ingest
like 'which URL' "$(cat err)" 'http://127.0.0.1:1/nobody'
like 'what to do' "$(cat err)" 'url in \[telemetry t\]'

done_testing

#!/bin/sh
# A real Prometheus: the same figures as from its saved answers, and the truth's; killed, and gone.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3 prometheus promtool curl setsid
need_kit

estate=$work/estate
make_estate "$estate" --gpus 12 --days 12 --start 2026-08-26 --seed 5 --noise 0.1 --resolution 600 \
    --parts focus prom_json openmetrics jira inventory
ok 'Prometheus has the samples' "$kit/prometheus.sh" backfill "$estate"
port=$(free_port)
url=http://127.0.0.1:$port
at_exit "kill \$(cat '$estate/prometheus.pid')"
ok 'and serves them' "$kit/prometheus.sh" start "$estate" "$port"

estate_config "$estate" "$work/saved.conf"
sed -i 's/^sample-interval.*/sample-interval = 600/' "$work/saved.conf"
sed "s|^path = $estate/prom_json.*|url = $url|" "$work/saved.conf" >"$work/live.conf"
ingest() {
    audit "$work/live.conf" 2026Q3 ingest
}

fresh_home saved
ok 'saved answers' audit "$work/saved.conf" 2026Q3 ingest
figures_are_true 'saved answers' "$work/saved.conf" 2026Q3 "$estate/truth.json"
cp "$work/figures.json" "$work/saved.json"

fresh_home live
began=$(date +%s%3N)
ok 'a live server' ingest
millis=$(($(date +%s%3N) - began))
figures_are_true 'a live server' "$work/live.conf" 2026Q3 "$estate/truth.json"
cp "$work/figures.json" "$work/live.json"
same_figures 'both ways the same figures' "$work/live.json" "$work/saved.json"

# Killed while it pulls, at several moments one after another.
fresh_home killed
hits=0
for percent in 15 30 45 60 75; do
    killed_after "$(printf '%d.%03d' $((millis * percent / 100000)) $((millis * percent / 100 % 1000)))" \
        gpu-audit --config "$work/live.conf" --quarter 2026Q3 ingest && hits=$((hits + 1))
done
like 'killed in the middle' "$hits" '[1-5]'
ok 'and then left alone' ingest
figures_are_true 'after that' "$work/live.conf" 2026Q3 "$estate/truth.json"
same_figures 'nothing is missing or twice' "$work/figures.json" "$work/live.json"

# Several at once load one slice.
fresh_home several
for number in 1 2 3; do
    ingest >"$work/several.$number" 2>&1 </dev/null &
    eval "several_$number=\$!"
done
ok 'one of several at once' wait "$several_1"
ok 'another' wait "$several_2"
ok 'and another' wait "$several_3"
figures_are_true 'several at once' "$work/live.conf" 2026Q3 "$estate/truth.json"

# Gone.
ok 'Prometheus stops' "$kit/prometheus.sh" stop "$estate"
ok 'what is complete needs no server' ingest
figures_are_true 'what is complete needs no server' "$work/live.conf" 2026Q3 "$estate/truth.json"
fresh_home alone
status=0
ingest >"$work/out" 2>"$work/err" || status=$?
like 'a server that is gone is exit status 6 or 8' "$status" '^[68]$'
like 'the error names it' "$(cat "$work/err")" "error: .*$url"
audit "$work/live.conf" 2026Q3 figures --format json >"$work/figures.json" 2>"$work/err" || diag "$(cat "$work/err")"
is 'and the bills are there' "$(figure total running_gpu_hours)" "$(python3 -c '
import json, sys
print(json.load(open(sys.argv[1]))["total"]["running_gpu_hours"])' "$work/live.json")"
is 'with nothing known of use' "$(figure total covered_gpu_hours) $(figure total idle_gpu_hours)" '0 None'

done_testing

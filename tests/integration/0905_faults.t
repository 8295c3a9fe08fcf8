#!/bin/sh
# Faults of the input: each is an error or a line on data quality that a user can act on, and
# nothing else is lost.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3 gzip
fresh_home one
bundled_piece "$work/piece"
conf=$work/piece/gpu-audit.conf
bill=$work/piece/focus/lambda-2026-07.csv
gzip -dc "$bill.gz" >"$work/whole.csv"
rm "$bill.gz"
cp "$work/whole.csv" "$bill"

ingest() {
    audit "$conf" 2026Q3 ingest
}
# What stands in the database of everything but the bill of Lambda in July.
rest() {
    gpu-audit sql "SELECT s.kind, s.name, l.period, count(*), sum(i.rows_read), sum(i.rows_kept), sum(i.rows_totalled)
        FROM audit.load i JOIN audit.slice l USING (slice_id) JOIN audit.source s USING (source_id)
        WHERE i.status = 'done' AND NOT (s.kind = 'billing' AND l.period = '2026-07') GROUP BY 1, 2, 3 ORDER BY 1, 2, 3" --format csv
}
figures() {
    audit "$conf" 2026Q3 figures --format json >"$work/figures.json" 2>"$work/figures.err" || diag "$(cat "$work/figures.err")"
}
# quality CHECK: its line in the newest audit.
quality() {
    gpu-audit sql "SELECT finding, items, gpu_hours, cost, remedy FROM audit.audit_quality
        WHERE check_name = '$1' AND audit_id = (SELECT max(audit_id) FROM audit.audit)" --format csv | tail -n +2
}

ok 'no fault' ingest
figures
cp "$work/figures.json" "$work/wanted.json"
wanted=$(rest)
cost=$(figure total billed_cost)

awk 'NR == 5 { sub(/^us-west-1,[0-9.]+/, "us-west-1,abc") } 1' "$work/whole.csv" >"$bill"
ok 'a broken row stops nothing' ingest
like 'it is named by file, line and fault' "$(cat "$work/out")" "lambda-2026-07.csv line 5: BilledCost is no number"
like 'and what to do' "$(cat "$work/out")" 'gpu-audit ingest bills'
figures
like 'it is a line on data quality' "$(quality 'rejected records')" 'could not be used,1,'
like 'and can be looked up' "$(gpu-audit sql rejects --format csv)" 'lambda-2026-07.csv,5,BilledCost is no number,.*us-west-1,abc'
is 'its money is missing, no other' "$(python3 -c '
import sys
from decimal import Decimal
print((Decimal(sys.argv[1]) - Decimal(sys.argv[2])).normalize())' "$cost" "$(figure total billed_cost)")" \
    "$(sed -n 5p "$work/whole.csv" | cut -d, -f2)"
is 'nothing else is lost' "$(rest)" "$wanted"

sed 's/gpu_8x_a100_80gb_sxm4/gpu_8x_future_900gb/g' "$work/whole.csv" >"$bill"
ok 'an unknown instance type stops nothing' ingest
figures
like 'it is a line on data quality with its cost' "$(quality 'unknown instance type')" 'gpu_8x_future_900gb,1,[0-9.]+,[0-9.]+,.*Add the type'
is 'its money is there' "$(figure total billed_cost)" "$cost"

sed '1s/BilledCost/BuiltCost/' "$work/whole.csv" >"$bill"
exits 'a missing column fails the source, exit status 8' 8 ingest
like 'file and column are named' "$(cat "$work/err")" 'error: .*lambda-2026-07.csv: no column BilledCost'
like 'and what to do' "$(cat "$work/err")" 'hint: FOCUS'
figures
is 'the bill from before stands' "$(figure total billed_cost)" "$cost"
is 'nothing else is lost' "$(rest)" "$wanted"

rm "$bill"
head -c 5000 "$bundled/focus/lambda-2026-07.csv.gz" >"$bill.gz"
exits 'a truncated gzip file fails the source' 8 ingest
like 'file and place are named' "$(cat "$work/err")" 'error: .*lambda-2026-07.csv.gz.* cut short at byte 5000'
like 'and what to do' "$(cat "$work/err")" 'hint: Fetch the file again'
like 'status says it' "$(audit "$conf" 2026Q3 status 2>&1)" 'billing bills +2026-07 .*last load failed: .*cut short'
figures
is 'the bill from before stands' "$(figure total billed_cost)" "$cost"
is 'nothing else is lost' "$(rest)" "$wanted"

cp "$bundled/focus/lambda-2026-07.csv.gz" "$bill.gz"
ok 'all is mended' ingest
figures
same_figures 'and all is as it was' "$work/figures.json" "$work/wanted.json"

# Servers.
port=$(free_port)
sed "s|^path = prom_json.*|url = http://127.0.0.1:$port|" "$conf" >"$work/piece/gone.conf"
exits 'a server that is not there fails its source' 8 audit "$work/piece/gone.conf" 2026Q3 ingest
like 'the URL is named' "$(cat "$work/err")" "error: .telemetry dcgm.*http://127.0.0.1:$port"
like 'and what to do' "$(cat "$work/err")" 'hint: Check that the server runs'
like 'the others are done' "$(cat "$work/out")" 'billing bills +(done|unchanged)'

background python3 "$top/tests/lib/jira_server.py" "$work/port" "$work/log" --issues 3
wait_for "$work/port"
sleep 0.2
site=http://127.0.0.1:$(cat "$work/port")/good
printf 'not-the-token-77\n' >"$work/token"
sed "s|^path = jira .*|url = $site\nuser = audit@example.com\njql = labels = gpu\ntoken-file = $work/token|" "$conf" >"$work/piece/token.conf"
exits 'a wrong token fails its source' 8 audit "$work/piece/token.conf" 2026Q3 ingest
like 'the section is named' "$(cat "$work/err")" "error: .tracker jira.*$site.*HTTP 401"
unlike 'the token is not' "$(cat "$work/err" "$work/out")" 'not-the-token-77'
like 'the others are done' "$(cat "$work/out")" 'telemetry dcgm +(done|unchanged)'
figures
same_figures 'the audit of the whole sources is as it was' "$work/figures.json" "$work/wanted.json"

done_testing

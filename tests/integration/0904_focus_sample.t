#!/bin/sh
# A real bill of AWS, September 2024: its totals to the last digit, its three GPU rows, none of its
# decoys; the same bytes as CRLF with a byte order mark, and as two gzip members.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3
need_cases real/focus-sample
real=${cases%/*}
fresh_home one

bill() {
    printf '[audit]\ncurrency = USD\n[billing %s]\nformat = focus\npath = %s\n' "$1" "$2" >"$work/$1.conf"
}
bill plain "$real/focus-sample/visible_first500.csv"
bill crlf "$real/tricky/DERIVED_focus_first500_crlf_bom.csv"
bill members "$real/tricky/DERIVED_focus_first500_multimember.csv.gz"

for name in plain crlf members; do
    conf=$work/$name.conf
    ok "$name: is taken in" audit "$conf" 2024Q3 ingest
    like "$name: every row is kept or totalled" "$(cat "$work/out")" 'done +500 +3 +497 +0 '
    audit "$conf" 2024Q3 figures --format json >"$work/figures.json" 2>"$work/err" || diag "$(cat "$work/err")"
    is "$name: kept + totalled = the file" "$(python3 -c '
import json, sys
from decimal import Decimal as D
[months] = json.load(open(sys.argv[1]))["invoices"].values()
[[month, i]] = months.items()
print(month, i["rows"], D(i["kept"]) + D(i["totalled"]), D(i["billed_cost"]), D(i["kept"]), D(i["totalled"]))' "$work/figures.json")" \
        '2024-09 500 5.9883937432 5.9883937432 3.244884264 2.7435094792'
    is "$name: three GPU rows and no decoy" "$(figure total running_gpu_hours) $(figure total billed_cost) $(figure total effective_cost) $(figure total instances)" \
        "2.296111 3.244884264 3 3"
    is "$name: nothing is known of their use" "$(figure total idle_gpu_hours) $(figure total avg_util_pct) $(figure total unknown_gpu_hours)" \
        'None None 2.296111'
    cp "$work/figures.json" "$work/$name.json"
done
# (the names of the sources differ)
for name in crlf members; do
    sed "s/\"$name\"/\"plain\"/g" "$work/$name.json" >"$work/renamed.json"
    same_figures "$name: the same figures" "$work/renamed.json" "$work/plain.json"
done
done_testing

#!/bin/sh
# The shared estates through CUR 2.0 instead of FOCUS: the same truth. And real reports of AWS, read in
# place: their totals to the last digit.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3
need_cases estate-a
shared=${cases%/*}
fresh_home one

# In estate-b other providers have bills too, in FOCUS.
for estate in estate-a estate-b estate-c; do
    folder=$shared/$estate
    conf=$work/$estate.conf
    estate_config "$folder" "$work/focus.conf"
    sed -e "s|^path = $folder/focus|path = $folder/cur2|" -e 's|^format = focus|format = aws-cur2|' "$work/focus.conf" >"$conf"
    for provider in azure gcp; do
        [ -e "$folder/focus/$provider-2026-09.csv.gz" ] || continue
        printf '[billing %s]\nformat = focus\npath = %s/focus/%s-*.csv.gz\n' "$provider" "$folder" "$provider" >>"$conf"
    done
    ok "$estate as CUR 2.0 is taken in" audit "$conf" 2026Q3 ingest
    figures_are_true "$estate as CUR 2.0" "$conf" 2026Q3 "$folder/truth.json"
done

# ---- real ones

real=$shared/real
query() {
    gpu-audit sql "$1" --format csv | tr -d '\r' | sed 1d
}
# real_bill NAME FORMAT PATH QUARTER CURRENCY
real_bill() {
    printf '[audit]\ncurrency = %s\n[billing %s]\nformat = %s\npath = %s\n' "$5" "$1" "$2" "$3" >"$work/$1.conf"
    ok "$1: is taken in" audit "$work/$1.conf" "$4" ingest
    cat "$work/out" "$work/err" >"$work/said"
}
# totals NAME: period, currency, rows, billed and effective cost of what it holds.
totals() {
    query "SELECT l.period, t.currency, sum(t.row_count), trim_scale(sum(t.billed_cost)), trim_scale(sum(t.effective_cost))
           FROM audit.billing_total t JOIN audit.slice l USING (slice_id) JOIN audit.source s USING (source_id)
           WHERE s.name = '$1' GROUP BY l.period, t.currency ORDER BY l.period"
    query "SELECT 'kept ' || count(*) FROM audit.billing_line l JOIN audit.source s USING (source_id) WHERE s.name = '$1'"
}
# expected FILE KEY: of EXPECTED.json.
expected() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["files"][sys.argv[2]][sys.argv[3]])' "$real/EXPECTED.json" "$1" "$2"
}

if [ -e "$real/focus-converters" ]; then
    file=focus-converters/sample-anonymous-aws-export-dataset.csv
    real_bill converters aws-cur "$real/$file" 2023Q4 USD
    is 'converters: E notation and tax, every digit' "$(totals converters)" "2023-11,USD,$(expected $file rows),$(expected $file unblended_cost),$(expected $file unblended_cost)
kept 0"
    is 'converters: tax apart' "$(query "SELECT sum(t.row_count), trim_scale(sum(t.billed_cost)) FROM audit.billing_total t JOIN audit.slice USING (slice_id)
        JOIN audit.source s USING (source_id) WHERE s.name = 'converters' AND t.charge_category = 'Tax'")" "$(expected $file tax_rows),$(expected $file tax_unblended_cost)"
else
    skip 'a real legacy report' 'real/focus-converters'
fi
if [ -e "$real/koku-fixtures/aws" ]; then
    koku=koku-fixtures/aws
    file=$koku/koku-local-1.csv.gz
    months="2018-06,USD,$(expected $file rows_2018-06),$(expected $file unblended_cost_2018-06),$(expected $file unblended_cost_2018-06)
2018-07,USD,$(expected $file rows_2018-07),$(expected $file unblended_cost_2018-07),$(expected $file unblended_cost_2018-07)
2018-08,USD,$(expected $file rows_2018-08),$(expected $file unblended_cost_2018-08),$(expected $file unblended_cost_2018-08)
kept 0"
    real_bill koku aws-cur "$real/$file" 2018Q2 USD
    is 'koku: three billing periods in one file, by the rows' "$(totals koku)" "$months"
    real_bill crossed aws-cur2 "$real/$file" 2018Q2 USD
    is 'koku: a legacy report where CUR 2.0 is named' "$(totals crossed)" "$months"
    mkdir "$work/delivery"
    cp "$real/$file" "$real/$koku/koku-local-Manifest.json" "$work/delivery"
    real_bill delivery aws-cur "$work/delivery" 2018Q2 USD
    is 'koku: a manifest that claims one month is believed less than the rows' "$(totals delivery)" "$months"
    for name in test_cur.csv test_cur.csv.gz; do
        file=$koku/$name
        real_bill "$(printf %s "$name" | tr ._ -)" aws-cur "$real/$file" 2018Q2 USD
        is "$name: 131 names, 130 cells" "$(totals "$(printf %s "$name" | tr ._ -)")" "2018-06,USD,$(expected $file rows),$(expected $file unblended_cost),$(expected $file unblended_cost)
kept 0"
        like "$name: the cell that is not there is named" "$(cat "$work/said")" '131 columns and every row 130 cells.*costCategory/CostCenter'
    done
    for name in 2023-06-01 2023-06-01-not-final; do
        file=$koku/$name.csv
        real_bill "d$name" aws-cur "$real/$file" 2023Q2 NOK
        is "$name: the sum of the file, and what was paid" "$(totals "d$name")" "2023-06,NOK,$(expected $file rows),$(expected $file unblended_cost),$(expected $file savings_plan_effective_cost)
kept 0"
        like "$name: Negation rows that are missing are spoken of" "$(cat "$work/said")" '30 NOK are not taken back'
        is "$name: rows with an invoice" "$(query "SELECT p.rows_invoiced FROM audit.billing_period p JOIN audit.slice USING (slice_id)
            JOIN audit.source s USING (source_id) WHERE s.name = 'd$name'")" "$(expected $file rows_with_invoice_id)"
    done
    file=$koku/2022-07-01-alt-columns.csv
    real_bill alt aws-cur "$real/$file" 2022Q3 USD
    is 'snake case, milliseconds, Marketplace: money of no machine' "$(totals alt)" "2022-07,USD,$(expected $file rows),$(expected $file unblended_cost),0
kept 0"
    real_bill empty aws-cur "$real/$koku/empty_frame.csv" 2023Q2 USD
    like 'a report without a row is no error, and is said to be one' "$(cat "$work/said")" 'empty_frame.csv: no rows'
else
    skip 'real reports of koku' 'real/koku-fixtures/aws'
fi
done_testing

#!/bin/sh
# Azure cost details: actual and amortized exports alone and together, agreements old and new, other
# currencies and other languages; the answers are worked out in the fixtures' README.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3
pg_start

fixtures=$top/tests/fixtures/azure
# ingest SOURCE PATH QUARTER [SETTING...]
ingest() {
    printf '[billing %s]\nformat = azure\npath = %s\n' "$1" "$2" >"$work/gpu-audit.conf"
    ingest_quarter=$3
    shift 3
    [ $# -eq 0 ] || printf '%s\n' "$@" >>"$work/gpu-audit.conf"
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter "$ingest_quarter" ingest
}
# of SOURCE SQL: over its rows: kept lines c, totals t, slices s, periods p.
of() {
    pg_query "with s as (select * from audit.slice join audit.source using (source_id) where name = '$1' and period <> 'unknown'),
        c as (select * from audit.billing_line where slice_id in (select slice_id from s)),
        t as (select * from audit.billing_total where slice_id in (select slice_id from s)) $2"
}
# sums SOURCE: rows, billed and effective, kept + totalled.
sums() {
    of "$1" "select (select count(*) from c) + (select coalesce(sum(row_count), 0) from t),
        trim_scale(coalesce((select sum(billed_cost) from c), 0) + coalesce((select sum(billed_cost) from t), 0)),
        trim_scale(coalesce((select sum(effective_cost) from c), 0) + coalesce((select sum(effective_cost) from t), 0))"
}
sum_of() {
    python3 - "$1" "$2" <<'PY'
import csv, sys
from decimal import Decimal
rows = list(csv.DictReader(open(sys.argv[1], encoding="utf-8-sig", newline="")))
print(f"{sum(Decimal(row[sys.argv[2]]) for row in rows):f}".rstrip("0").rstrip("."))
PY
}
kept="select coalesce(nullif(resource_name, ''), regexp_replace(resource_key, '.*/', '')) as name, role, instance_type, pricing, trim_scale(quantity),
    trim_scale(round(gpu_hours, 6)), trim_scale(billed_cost), trim_scale(effective_cost), trim_scale(list_cost), commitment_id, commitment_status
    from c order by role, name, line"

# ---------------------------------------------------------------- the two exports of an enterprise agreement
mkdir "$work/both" "$work/amortized" "$work/actual"
cp "$fixtures/ea-actual.csv" "$fixtures/ea-amortized.csv" "$work/both"
cp "$fixtures/ea-amortized.csv" "$work/amortized"
cp "$fixtures/ea-actual.csv" "$work/actual"

ok 'both exports load' ingest both "$work/both" 2026Q3
is 'billed is the actual export, effective the amortized one' "$(of both "select
        trim_scale((select sum(billed_cost) from c) + (select sum(billed_cost) from t)) = $(sum_of "$fixtures/ea-actual.csv" Cost),
        trim_scale((select sum(effective_cost) from c) + (select sum(effective_cost) from t)) = $(sum_of "$fixtures/ea-amortized.csv" Cost)")" 't|t'
of both "$kept" >"$work/kept.out"
same 'what is kept, and as what' "$work/kept.out" "$fixtures/ea-both.out"
is 'what is no GPU is totalled, in its own categories' "$(of both "select charge_category, trim_scale(sum(billed_cost)) from t group by 1 order by 1" | tr '\n' ' ')" \
    'Adjustment|0.004 Credit|-50 Purchase|40 Refund|0 Tax|100.1 Usage|27.43600125 '
is 'tags without braces are tags' "$(of both "select distinct tags from c where resource_name = 'train-1' and role = 'gpu_use'")" \
    '{"team": "vision", "Project": "alpha"}'
is 'a day of use each, in its place' "$(of both "select distinct account_id, account_name, region, charge_from = '2026-08-03', charge_to = '2026-08-04'
    from c where resource_name = 'train-1' and role = 'gpu_use'")" '0a0a0a0a-0000-4000-8000-000000000001|Research|westeurope|t|t'

# ---------------------------------------------------------------- one of them alone
exits 'GPU use that nobody prices is not taken in' 4 ingest actual "$work/actual" 2026Q3
like 'the month and the rows are named' "$(cat "$work/err")" 'ea-actual.csv: 2026-08 has 2 rows of GPU use that a reservation or savings plan covers'
like 'and what to do' "$(cat "$work/err")" 'hint: Put the amortized export of the same months beside'
is 'nothing of it stays' "$(of actual 'select (select count(*) from c), (select count(*) from t)')" '0|0'
cp "$fixtures/ea-amortized.csv" "$work/actual/later.csv"
ok 'with the other export it loads' ingest actual "$work/actual" 2026Q3
is 'as if they had come together' "$(sums actual)" "44|2447.75800125|918.55800125"
rm "$work/actual/later.csv"
head -n 1 "$fixtures/ea-actual.csv" >"$work/actual/ea-actual.csv"
grep -v ',desk-2,\|,train-2,' "$fixtures/ea-actual.csv" | tail -n +2 >>"$work/actual/ea-actual.csv"
ok 'an actual export in which no GPU is covered stands alone' ingest alone "$work/actual" 2026Q3
is 'purchases are billed, and no effective cost' "$(sums alone)" '21|2447.75800125|829.75800125'

ok 'an amortized export loads alone' ingest amortized "$work/amortized" 2026Q3
like 'it is said that the invoice is not in it' "$(cat "$work/err")" 'only amortized exports: what the invoice asks for reservations'
is 'effective is its sum, billed is without what is covered' "$(sums amortized)" '21|829.75800125|918.55800125'

mkdir "$work/older"
cp "$fixtures/ea-actual.csv" "$work/older"
grep -v ',pool,' "$fixtures/ea-amortized.csv" >"$work/older/ea-amortized.csv"
exits 'an amortized export of fewer days than the actual one is not taken for all of its use' 4 ingest older "$work/older" 2026Q3
like 'and it is said what is wrong' "$(cat "$work/err")" 'export of 2026-08 do not agree on use that no commitment covers'

# ---------------------------------------------------------------- which export a file is
mkdir "$work/named" "$work/parts"
sed '/,Reservation,\|,SavingsPlan,/d' "$fixtures/ea-actual.csv" >"$work/named/one.csv"
cp "$fixtures/ea-amortized.csv" "$work/named/two.csv"
cp "$fixtures/ea-actual.csv" "$work/named/three.csv"
exits 'a file that may be either is not counted beside the amortized export' 8 ingest named "$work/named" 2026Q3
like 'and is named' "$(cat "$work/err")" 'one.csv: nothing tells whether it belongs to the amortized export of 2026-08'
mv "$work/named/one.csv" "$work/named/actual-one.csv"
rm "$work/named/three.csv"
ok 'its name tells' ingest named "$work/named" 2026Q3
is 'and its use is the amortized export'\''s' "$(sums named)" '38|829.75800125|918.55800125'
# a month without commitments is the same in both exports: their manifests tell
deliver() {
    mkdir -p "$work/store/$1/20260801-20260831/run"
    sed '/,Reservation,\|,SavingsPlan,/d' "$fixtures/ea-actual.csv" >"$work/store/$1/20260801-20260831/run/part_0.csv"
    printf '{"exportConfig": {"exportName": "%s", "resourceId": "/providers/x", "type": "%s"}, "runInfo": {"runId": "%s",
        "startDate": "2026-08-01T00:00:00", "endDate": "2026-08-31T00:00:00", "submittedTime": "2026-09-02T01:00:00Z"},
        "blobs": [{"blobName": "%s/20260801-20260831/run/part_0.csv", "byteCount": %d}]}' "$1" "$2" "$1" "$1" \
        "$(wc -c <"$work/store/$1/20260801-20260831/run/part_0.csv")" >"$work/store/$1/20260801-20260831/run/manifest.json"
}
deliver one ActualCost
deliver two AmortizedCost
ok 'two exports with manifests load' ingest store "$work/store" 2026Q3
is 'and count once' "$(sums store)" "34|$(sum_of "$work/store/one/20260801-20260831/run/part_0.csv" Cost)|$(sum_of "$work/store/one/20260801-20260831/run/part_0.csv" Cost)"
# an export in parts: only one of them has a row that tells which export it is
head -n 10 "$fixtures/ea-amortized.csv" >"$work/parts/part_0.csv"
(head -n 1 "$fixtures/ea-amortized.csv"; tail -n +11 "$fixtures/ea-amortized.csv") >"$work/parts/part_1.csv"
ok 'an export in parts loads' ingest parts "$work/parts" 2026Q3
is 'to the same sums' "$(sums parts)" '21|829.75800125|918.55800125'
cat "$fixtures/ea-actual.csv" >"$work/mixed.csv"
tail -n 4 "$fixtures/ea-amortized.csv" >>"$work/mixed.csv"
exits 'a file that holds both is refused' 4 ingest mixed "$work/mixed.csv" 2026Q3
like 'with the reason' "$(cat "$work/err")" 'mixed.csv: holds purchases, as the actual-cost export does, and shares of them'

# ---------------------------------------------------------------- customer agreement: two currencies
ok 'a customer agreement loads' ingest mca "$fixtures/mca.csv" 2026Q3
is 'each currency for itself' "$(of mca "select currency, count(*), trim_scale(sum(billed_cost)), trim_scale(sum(effective_cost)), trim_scale(sum(list_cost)),
    trim_scale(round(sum(gpu_hours), 6)) from c group by 1 order by 1" | tr '\n' ' ')" 'EUR|2|226.8|226.8|272.16|36 USD|1|24|24|24|7.999992 '
is 'what is no GPU' "$(of mca "select currency, trim_scale(billed_cost), trim_scale(list_cost) from t")" 'EUR|4.32|4.8'
is 'the rate that the bill carries' "$(of mca "select from_currency, to_currency, rate, row_count from audit.billing_fx join s using (slice_id)")" 'USD|EUR|0.9|3'
is 'rows with and without an invoice' "$(of mca "select rows_invoiced, rows_uninvoiced from audit.billing_period join s using (slice_id)")" '3|1'
is 'keys of tags in their own case' "$(of mca "select distinct tags from c")" '{"Team": "speech", "team": "Speech"}'

# ---------------------------------------------------------------- pay-as-you-go, old columns
ok 'old pay-as-you-go columns load' ingest payg "$fixtures/payg-old.csv" 2026Q3
is 'a machine'\''s quantity is hours, whatever the unit; the month is that of the use' "$(of payg "select billing_period, resource_key, instance_type,
    trim_scale(quantity), trim_scale(gpu_hours), trim_scale(billed_cost), trim_scale(effective_cost), tags->>'team' from c order by line" |
    sed 's|/subscriptions/[^|]*/||' | tr '\n' ' ')" \
    '2026-08|lab-1|Standard_NC6s_v3|24|24|73.44|73.44|bio 2026-08|lab-1|Standard_NC6s_v3|7.5|7.5|22.95|22.95|bio 2026-09|lab-2|Standard_NC6s_v3|2|2|6.12|6.12|bio '
is 'kept + totalled is the file' "$(sums payg)" '4|102.51|102.51'

# ---------------------------------------------------------------- dates and languages
german='2026-08-03|24|88.152 2026-08-11|5|18.365 2026-08-09|1|3.673 '
for name in day-first german; do
    ok "$name: loads" ingest "$name" "$fixtures/$name.csv" 2026Q3
    is "$name: the period's end proves that the day comes first" "$(of "$name" "select charge_from::date, trim_scale(gpu_hours), trim_scale(billed_cost)
        from c order by line" | tr '\n' ' ')" "$german"
    is "$name: kept + totalled is the file" "$(sums "$name")" '4|112.69|112.69'
done
sed 's/,BillingPeriodStartDate,BillingPeriodEndDate,/,x,y,/; s/31\/08\/2026/-/; s/01\/08\/2026/-/' "$fixtures/day-first.csv" >"$work/unproved.csv"
ok 'without a proof the month comes first' ingest unproved "$work/unproved.csv" 2026Q1
is 'as Azure writes it' "$(of unproved "select charge_from::date from c order by 1 limit 1")" '2026-03-08'
ok 'or as the section says, and what was read is read again' ingest unproved "$work/unproved.csv" 2026Q1 'date-order = day-first'
is 'for all rows' "$(of unproved "select min(charge_from)::date, max(charge_from)::date from c")" '2026-08-03|2026-08-11'
(cat "$fixtures/day-first.csv"; sed -n '2s|03/08/2026|08/23/2026|p' "$fixtures/day-first.csv") >"$work/torn.csv"
exits 'a file that proves both is refused' 4 ingest torn "$work/torn.csv" 2026Q3
like 'with the reason' "$(cat "$work/err")" 'torn.csv: some dates begin with the day and others with the month'
exits 'a word nobody knows' 3 ingest torn "$work/torn.csv" 2026Q3 'dataset = gross'
like 'is named with the two there are' "$(cat "$work/err")" 'dataset is "gross"'

# ---------------------------------------------------------------- more hours than a day has
sed 's/,24,3.673,88.152,/,48,3.673,176.304,/' "$fixtures/ea-amortized.csv" >"$work/long-amortized.csv"
ok 'a machine of 48 hours a day loads' ingest long "$work/long-amortized.csv" 2026Q3
like 'and is pointed out; the scale set is not' "$(cat "$work/err")" '1 days of a virtual machine have more than 24 hours, the first: .*/train-1 on 08/03/2026'

# a price by the hour and a cost of ten times as much: said, not corrected
sed 's/,48,3.673,176.304,/,48,0.3673,176.304,/' "$fixtures/ea-amortized.csv" >"$work/blocks-amortized.csv"
ok 'a quantity that may count blocks of hours loads' ingest blocks "$work/blocks-amortized.csv" 2026Q3
like 'and is pointed out' "$(cat "$work/err")" '1 rows of GPU use cost so many times their price and quantity as their unit has hours'

done_testing

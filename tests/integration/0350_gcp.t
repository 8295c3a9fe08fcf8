#!/bin/sh
# Google Cloud's exports: every part of a machine, credits, commitments, invoice months, the same rows as
# CSV and as JSON lines; the answers are worked out in the fixtures' README.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3
pg_start

fixtures=$top/tests/fixtures/gcp
# ingest SOURCE PATH QUARTER
ingest() {
    printf '[billing %s]\nformat = gcp\npath = %s\n' "$1" "$2" >"$work/gpu-audit.conf"
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter "$3" ingest
}
# of SOURCE SQL: over its rows: kept lines c, totals t, slices s.
of() {
    pg_query "with s as (select * from audit.slice join audit.source using (source_id) where name = '$1' and period <> 'unknown'),
        c as (select * from audit.billing_line where slice_id in (select slice_id from s)),
        t as (select * from audit.billing_total join s using (slice_id)) $2"
}
# sums SOURCE: of each invoice month, kept + totalled: billed, effective.
sums() {
    of "$1" "select period, trim_scale(sum(billed_cost)), trim_scale(sum(effective_cost)) from
        (select billing_period as period, billed_cost, effective_cost from c union all select period, billed_cost, effective_cost from t) u
        group by 1 order by 1" | tr '\n' ' '
}
kept="select billing_period, coalesce(resource_name, '') as name, role, instance_type, pricing, trim_scale(quantity) || '/' || unit_seconds,
    trim_scale(round(gpu_hours, 6)), trim_scale(billed_cost), trim_scale(effective_cost), trim_scale(list_cost), commitment_id, commitment_status
    from c order by 1, 3, 2, line"

for file in detailed.csv detailed.jsonl; do
    ok "$file loads" ingest "$file" "$fixtures/$file" 2026Q3
    of "$file" "$kept" >"$work/kept.out"
    same "$file: what is kept, and as what" "$work/kept.out" "$fixtures/detailed.out"
done
for file in detailed.csv detailed.jsonl; do
    is "$file: each invoice month, billed with every credit, effective without vouchers" "$(sums "$file")" \
        '2026-06|5.86|5.86 2026-07|140.840003|151.340003 2026-08|-5.87|-5.87 '
    is "$file: what is no GPU" "$(of "$file" "select service, charge_category, row_count, trim_scale(billed_cost), trim_scale(effective_cost) from t
        order by 1, 2" | tr '\n' ' ')" \
        'Cloud Storage|Usage|1|0.25|0.75 Compute Engine|Purchase|1|1.5|1.5 Compute Engine|Usage|4|0.450002|0.450002 Invoice|Adjustment|1|0.000001|0.000001 Invoice|Tax|1|5.55|5.55 TPU v5e|Usage|1|9.6|9.6 '
    is "$file: labels in their own case, the project's where there are none" "$(of "$file" "select distinct resource_name, tags from c
        where resource_name in ('legacy', 'train-a', 'train-b', 'infer') order by 1" | tr '\n' ' ')" \
        'infer| legacy|{"team": "bio"} train-a|{"team": "vision"} train-b|{"Team": "lm", "team": "LM"} '
    is "$file: the same name in bills and telemetry" "$(of "$file" "select distinct resource_key, account_id, account_name, region, zone from c
        where resource_name = 'train-a'")" 'projects/123456/zones/us-central1-a/instances/9684|ml-prod|Ml-Prod|us-central1|us-central1-a'
done
is 'the sum of the file' "$(python3 - "$fixtures/detailed.csv" <<'PY'
import csv, json, sys
from decimal import Decimal
rows = list(csv.DictReader(open(sys.argv[1])))
print(sum(Decimal(r["cost"]) for r in rows) + sum(c["amount"] for r in rows for c in json.loads(r["credits"], parse_float=Decimal, parse_int=Decimal)))
PY
)" "$(of detailed.csv "select trim_scale((select sum(billed_cost) from c) + (select sum(billed_cost) from t))")"

# ---------------------------------------------------------------- the quarter and the invoice months
is 'an invoice month begins in California' "$(of detailed.csv "select period, from_time, to_time from s order by 1 limit 1")" \
    '2026-06|2026-06-01 08:00:00+00|2026-07-01 08:00:00+00'
gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 figures --format json >"$work/figures.json" 2>"$work/err" || diag "$(cat "$work/err")"
is 'the quarter holds the first hours that the month before billed, and no others of it' "$(python3 - "$work/figures.json" <<'PY'
import json, sys
total = json.load(open(sys.argv[1]))["total"]
print(*(total[k] for k in ("running_gpu_hours", "corrected_gpu_hours", "unused_commitment_gpu_hours", "unused_commitment_cost")))
PY
)" '22.75 -1 2 7.18'

# ---------------------------------------------------------------- the standard export, in another currency, flattened by underscores
ok 'a standard export loads' ingest standard "$fixtures/standard.csv" 2026Q3
is 'without resources a family is a machine; an A2 core says no model' "$(of standard "select c.role, c.resource_key, i.gpu_model, i.instance_type,
        trim_scale(c.gpu_hours), trim_scale(c.billed_cost), c.currency from c join audit.billing_item i using (slice_id)
        join audit.billing_charge h using (slice_id, item_no) where h.line = c.line order by c.line" | tr '\n' ' ')" \
    'gpu_money|unnamed/ml-prod/us-central1/a2||||0.45|EUR gpu_money|unnamed/ml-prod/us-central1/a2||||0.35|EUR gpu_use|unnamed/ml-prod/us-central1/a2|A100-80GB||2|10|EUR gpu_use|unnamed/ml-prod/europe-west1/n1+nvidia-tesla-t4x1||n1+nvidia-tesla-t4x1|2|0.8|EUR '
is 'the rate the bill carries' "$(of standard "select from_currency, to_currency, rate, row_count from audit.billing_fx join s using (slice_id)")" 'USD|EUR|0.9|5'

# ---------------------------------------------------------------- what cannot be read
for cell in '[{""name"":""x"",""amount"":1' '[{""name"":""x""}]' "[{'amount': -1}]" 'none' '[{""amount"":""NaN""}]'; do
    (head -n 1 "$fixtures/detailed.csv"; sed -n 4p "$fixtures/detailed.csv"; sed -n 4p "$fixtures/detailed.csv" | sed "s/,\[\],202607/,\"$cell\",202607/") >"$work/broken.csv"
    ok "credits $cell: the row is rejected" ingest broken "$work/broken.csv" 2026Q3
    is "credits $cell: and the reason kept" "$(pg_query "select distinct reason from audit.reject")" 'credits are no array of amounts'
done

done_testing

#!/bin/sh
# FOCUS: a real bill to the last digit in every packing, and one row of each kind of charge.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
pg_start

fixtures=$top/tests/fixtures/focus
# ingest FILE QUARTER: as the only bill of a source of that name.
ingest() {
    printf '[billing %s]\nformat = focus\npath = %s\n' "${1##*/}" "$1" >"$work/gpu-audit.conf"
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter "$2" ingest
}
# of FILE SQL: over rows of that source: line, item and charge as c, totals as t.
of() {
    pg_query "with s as (select slice_id from audit.slice join audit.source using (source_id) where name = '$1'),
        c as (select * from audit.billing_charge join audit.billing_item using (slice_id, item_no) where slice_id in (select * from s)),
        t as (select * from audit.billing_total where slice_id in (select * from s)) $2"
}

sed 's/$/\r/; 1s/^/\xef\xbb\xbf/' "$fixtures/sample.csv" >"$work/bom-crlf.csv"
head -n 251 "$fixtures/sample.csv" | gzip -n >"$work/members.csv.gz"
tail -n +252 "$fixtures/sample.csv" | gzip -n >>"$work/members.csv.gz"
cp "$fixtures/sample.csv" "$work/plain.csv"
for file in plain.csv bom-crlf.csv members.csv.gz; do
    ok "$file loads" ingest "$work/$file" 2024Q3
    is "$file: GPU rows" "$(of $file "select instance_type, count(*), sum(quantity) + 0.000000, sum(billed_cost) from c
        where role = 'gpu_use' group by 1 order by 1" | tr '\n' ' ')" \
        'g3.4xlarge|1|1.000000000000000|1.14000000000 g5.4xlarge|2|1.296111000000000|2.10488426400 '
    is "$file: kept + totalled is the bill" "$(of $file "select (select count(*) from c) + (select sum(row_count) from t),
        trim_scale((select sum(billed_cost) from c) + (select sum(billed_cost) from t)),
        trim_scale((select sum(effective_cost) from c) + (select sum(effective_cost) from t)),
        trim_scale((select sum(list_cost) from c) + (select sum(list_cost) from t))")" \
        '500|5.9883937432|2|6.1310727654'
    is "$file: GPU and not GPU" "$(of $file "select trim_scale((select sum(billed_cost) from c)),
        trim_scale((select sum(billed_cost) from t))")" '3.244884264|2.7435094792'
done

ok 'a row of each kind loads' ingest "$fixtures/kinds.csv" 2026Q3
of kinds.csv "select resource_name, role, provider, resource_key, instance_type, gpu_count, counts_gpus, unit_seconds,
    quantity, pricing, commitment_id, billed_cost, effective_cost, list_cost, tags from c order by line" >"$work/kinds.out"
same 'what is kept, and as what' "$work/kinds.out" "$fixtures/kinds.out"
is 'what is not a GPU is totalled' "$(of kinds.csv "select sum(row_count), sum(billed_cost), sum(list_cost) from t")" \
    "$(grep -c 'not: ' "$fixtures/kinds.csv")|0.014|0.028"
is 'nothing is rejected' "$(pg_query "select coalesce(sum(rows_rejected), 0) from audit.load")" 0

# Other versions and no FOCUS at all.
printf 'ChargeType,Cost\na,1\n' >"$work/draft.csv"
exits 'a missing column stops' 4 ingest "$work/draft.csv" 2026Q3
like 'and is named with its file' "$(cat "$work/err")" 'draft.csv: no column BillingPeriodStart'
like 'and with the versions there are' "$(cat "$work/err")" 'hint: FOCUS 1.0 to 1.4 and 1.0-preview are read'
sed '1s/ProviderName/ServiceProviderName/' "$fixtures/kinds.csv" >"$work/newer.csv"
ok 'FOCUS 1.3 names the provider otherwise' ingest "$work/newer.csv" 2026Q3
is 'and is read the same' "$(of newer.csv "select count(*) from c")" 24

# What providers make of it: FOCUS 1.3 columns, Oracle, Alibaba, Tencent, Azure, corrections of both
# styles, allocated parts, unused hours of a commitment. README.md of the fixtures says what must come of it.
ok 'dialects load' ingest "$fixtures/dialects.csv" 2026Q3
of dialects.csv "select resource_name, role, provider, instance_type, gpu_model, gpu_count, counts_gpus, unit_seconds, quantity, commitment_id,
    billed_cost, effective_cost, currency, region, tags from c order by line" >"$work/dialects.out"
same 'dialects: what is kept, and as what' "$work/dialects.out" "$fixtures/dialects.out"
is 'dialects: nothing is rejected, the rest is totalled' "$(of dialects.csv "select sum(row_count), sum(billed_cost), (select sum(rows_rejected) from audit.load where object like '%dialects.csv') from t")" '2|2.14|0'
is 'dialects: kept + totalled is the bill, in each currency' "$(of dialects.csv "select currency, trim_scale(sum(b)) from (
    select currency, billed_cost b from c union all select currency, billed_cost from t) a group by 1 order by 1" | tr '\n' ' ')" 'CNY|3 USD|43.29 '
is 'allocated parts are hours of their resource, once' "$(of dialects.csv "select trim_scale(sum(quantity)), trim_scale(sum(billed_cost)) from c where resource_key = 'i-split'")" '1|11'
is 'a reversal and a new row correct as much as their difference' "$(of dialects.csv "select resource_key, trim_scale(sum(quantity)), trim_scale(sum(billed_cost)) from c
    where role = 'correction' group by 1 order by 1" | tr '\n' ' ')" 'i-delta|-0.1|-0.5 i-ledger|-0.1|-0.5 '
is 'one commitment in two cases is one' "$(of dialects.csv "select count(distinct commitment_id), sum(effective_cost) from c where provider = 'azure'")" '1|25'

# A column that FOCUS does not know, carried as a tag.
ingest_carried() {
    printf '[billing carried]\nformat = focus\npath = %s\ncolumn.tags.cost_center = %s\n' "$fixtures/dialects.csv" "$1" >"$work/gpu-audit.conf"
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 ingest
}
ok 'a column is carried as a tag' ingest_carried x_CostCenter
is 'beside the others' "$(of carried "select tags from c where resource_name = 'allocated part'")" \
    '{"team": "vision", "cost_center": "cc-7", "AllocatedResourceId": "pod/train"}'
exits 'a column that is not there' 4 ingest_carried x_Nobody
like 'is named' "$(cat "$work/err")" 'no column x_Nobody'
like 'with those there are' "$(cat "$work/err")" 'the file has 40 columns: BilledCost, BillingAccountId'

# 1.0-preview has other words; drafts before it have other columns.
ok '1.0-preview loads' ingest "$fixtures/preview.csv" 2026Q3
is 'and its commitments are told apart' "$(of preview.csv "select role, pricing, quantity, effective_cost from c order by line" | tr '\n' ' ')" \
    'gpu_use|on-demand|1|1 gpu_use|committed|1|2 commitment_unused|committed|1|4 '

# Files of the specification's validator, where they lie beside this tree: all of them drafts before 1.0.
validator=${AUDIT_SHARED:-$top/../shared}/cases/real/focus-spec-validator
if [ -d "$validator" ]; then
    for file in "$validator"/*.csv; do
        exits "${file##*/}: is refused" 4 ingest "$file" 2026Q3
        like "${file##*/}: with its reason and a way" "$(cat "$work/err")" "${file##*/}: no column [A-Z]"
        is "${file##*/}: leaves nothing" "$(of "${file##*/}" "select (select count(*) from c) + (select count(*) from t)")" 0
    done
else
    skip 'files of the validator are refused' 'no shared cases beside the source tree'
fi

# Two currencies in one file are two totals, never one.
awk -F, -v OFS=, 'NR > 1 && NR % 2 { $3 = "AUD" } { print }' "$fixtures/kinds.csv" >"$work/two.csv"
ok 'two currencies load' ingest "$work/two.csv" 2026Q3
is 'and stay two' "$(of two.csv "select currency, trim_scale(sum(b)), count(*) from (select currency, billed_cost b from c union all
    select currency, billed_cost from t) a group by 1 order by 1" | cut -d'|' -f1 | tr '\n' ' ')" 'AUD USD '
done_testing

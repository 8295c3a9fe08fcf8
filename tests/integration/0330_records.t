#!/bin/sh
# The same bill as CSV, JSON lines and a JSON array: the same rows, the same money. The figures are
# those of 0310_focus.t.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need_python csv
pg_start

fixtures=$top/tests/fixtures/focus
ingest() {
    printf '[billing %s]\nformat = focus\npath = %s\n' "${1##*/}" "$1" >"$work/gpu-audit.conf"
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter "$2" ingest
}
of() {
    pg_query "with s as (select slice_id from audit.slice join audit.source using (source_id) where name = '$1'),
        c as (select * from audit.billing_charge join audit.billing_item using (slice_id, item_no) where slice_id in (select * from s)),
        t as (select * from audit.billing_total where slice_id in (select * from s)) $2"
}
# as FORM NAME: a fixture in another form.
as() {
    python3 "$top/tests/lib/records.py" "$1" "$fixtures/$2.csv"
}

as lines sample >"$work/sample.jsonl"
as array sample >"$work/sample.json"
as lines sample | gzip -n >"$work/sample.jsonl.gz"
for file in sample.jsonl sample.json sample.jsonl.gz; do
    ok "$file loads" ingest "$work/$file" 2024Q3
    is "$file: GPU rows" "$(of $file "select instance_type, count(*), sum(quantity) + 0.000000, sum(billed_cost) from c
        where role = 'gpu_use' group by 1 order by 1" | tr '\n' ' ')" \
        'g3.4xlarge|1|1.000000000000000|1.14000000000 g5.4xlarge|2|1.296111000000000|2.10488426400 '
    is "$file: kept + totalled is the bill" "$(of $file "select (select count(*) from c) + (select sum(row_count) from t),
        trim_scale((select sum(billed_cost) from c) + (select sum(billed_cost) from t)),
        trim_scale((select sum(effective_cost) from c) + (select sum(effective_cost) from t)),
        trim_scale((select sum(list_cost) from c) + (select sum(list_cost) from t))")" \
        '500|5.9883937432|2|6.1310727654'
done

for file in kinds.jsonl kinds.json; do
    form=lines
    [ $file = kinds.jsonl ] || form=array
    as $form kinds >"$work/$file"
    ok "$file loads" ingest "$work/$file" 2026Q3
    of $file "select resource_name, role, provider, resource_key, instance_type, gpu_count, counts_gpus, unit_seconds,
        quantity, pricing, commitment_id, billed_cost, effective_cost, list_cost, tags from c order by line" >"$work/kinds.out"
    same "$file: what is kept, and as what" "$work/kinds.out" "$fixtures/kinds.out"
done
is 'nothing is rejected' "$(pg_query "select coalesce(sum(rows_rejected), 0) from audit.load")" 0

# A broken line costs itself; a file that is no bill says why.
sed '3s/}$//; 5s/"BilledCost":[^,]*/"BilledCost":0x1/' "$work/sample.jsonl" >"$work/broken.jsonl"
ok 'broken lines are rejected' ingest "$work/broken.jsonl" 2024Q3
is 'as many as are broken' "$(of broken.jsonl "select (select count(*) from c) + (select sum(row_count) from t),
    (select string_agg(line || ': ' || reason, '; ' order by line) from audit.reject join audit.load using (load_id)
        join s using (slice_id))")" '498|3: the object does not end on its line; 5: no comma and no end after a value'
head -c 20000 "$work/sample.json" >"$work/cut.json"
exits 'an array that is cut short fails' 4 ingest "$work/cut.json" 2024Q3
like 'and says so' "$(cat "$work/err")" 'cut.json: line [0-9]+: the array is cut short'
printf '{"a":1}\n' >"$work/other.jsonl"
exits 'no bill fails' 4 ingest "$work/other.jsonl" 2024Q3
like 'and names what is missing' "$(cat "$work/err")" 'other.jsonl: no column BillingPeriodStart'
printf '\377\376a\0,\0' >"$work/utf16.csv"
exits 'UTF-16 fails' 4 ingest "$work/utf16.csv" 2024Q3
like 'and says what to do' "$(cat "$work/err")" 'hint: Save it as UTF-8'

# Every row lacks the last cell of the header.
sed '1s/$/,NeverThere/' "$fixtures/sample.csv" >"$work/short.csv"
ok 'rows that all lack the last column load' ingest "$work/short.csv" 2024Q3
like 'and the column is named' "$(cat "$work/err")" 'every row 44 cells: taken as not there: NeverThere'
is 'and are all there' "$(of short.csv "select (select count(*) from c) + (select sum(row_count) from t)")" 500
done_testing

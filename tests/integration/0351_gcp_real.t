#!/bin/sh
# A real export of Google Cloud: its sum, to the last digit.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need_cases real
pg_start

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

ok 'a real export loads' ingest real "$cases/koku-fixtures/gcp/2022-08-01_5.csv" 2022Q3
is 'to its sum' "$(of real "select sum(row_count), trim_scale(sum(billed_cost)), trim_scale(sum(effective_cost)), (select count(*) from c) from t")" '9|0.000012|0.000012|0'
done_testing

#!/bin/sh
# Real cost details of Azure, old and new: rows and sums as their sources publish them.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need_cases real
pg_start

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

real() {
    ok "$1: loads" ingest "$1" "$cases/$2" "$3" "currency = EUR"
    is "$1: its rows and its sum" "$(sums "$1")" "$4"
    is "$1: no GPU in it" "$(of "$1" "select count(*) from c where role <> 'commitment_purchase'")" 0
    is "$1: nothing rejected" "$(of "$1" "select sum(rows_rejected) from audit.load join s using (slice_id)")" 0
}
real koku-v2 koku-fixtures/azure/azure_version_2.csv 2020Q3 '5|19.998413754|19.998413754'
real koku-payg koku-fixtures/azure/costreport_a243c6f2-199f-4074-9a2c-40e671cf1584.csv 2019Q3 '3|0.00011016|0.00011016'
real opencost-payg opencost-azure/headersets_PayAsYouGo.csv 2021Q1 '1|0.075|0.075'
real opencost-ea opencost-azure/headersets_Enterprise.csv 2021Q2 '1|0|0'
real opencost-vm opencost-azure/values_VirtualMachine.csv 2021Q1 '1|4|4'
real finops-ea finops-toolkit-ea/EA_ActualCost_Small.csv 2023Q3 '11|8.5450077867419368|5.2950077867419368'
is 'list price and period of the machine whose parse is published' "$(of opencost-vm "select period, trim_scale(list_cost), currency from s, t")" '2021-02|5|EUR'
is 'a purchase of no GPU machine is no hour' "$(of finops-ea "select charge_category, row_count, trim_scale(billed_cost) from t
    where charge_category = 'Purchase'")" 'Purchase|1|3.25'
done_testing

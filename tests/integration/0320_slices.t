#!/bin/sh
# Slices of bills: replaced whole, unchanged when nothing changed, untouched when a file is broken.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
pg_start

cd "$work" || exit 99
mkdir bills
printf '[billing b]\nformat = focus\npath = %s/bills\n' "$work" >gpu-audit.conf
ingest() {
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter "${1:-2026Q3}" ingest
}
header='BilledCost,BillingCurrency,BillingPeriodStart,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ConsumedQuantity,ConsumedUnit,EffectiveCost,ProviderName,ResourceId,ServiceName,x_UsageType'
# row PERIOD COST [QUANTITY]
row() {
    printf '%s,USD,%s-01,Usage,%s-03T00:00:00Z,%s-03 01:00:00 UTC,%s,Hours,%s,AWS,i-1,AmazonEC2,BoxUsage:p4d.24xlarge\n' \
        "$2" "$1" "$1" "$1" "${3:-1}" "$2"
}
other() {
    printf '%s,USD,%s-01,Usage,%s-03,%s-04,1,GB,%s,AWS,b,AmazonS3,Storage\n' "$2" "$1" "$1" "$1" "$2"
}
# What is in: period, kept and totalled cost, loads of the slice.
facts() {
    pg_query "select period, (select sum(billed_cost) from audit.billing_charge c where c.slice_id = s.slice_id),
        (select sum(billed_cost) from audit.billing_total t where t.slice_id = s.slice_id),
        (select string_agg(regexp_replace(object, '.*/', ''), '+' order by load_id) from audit.load l
         where l.slice_id = s.slice_id and status = 'done')
        from audit.slice s join audit.source using (source_id) where kind = 'billing' order by 1" | tr '\n' ' '
}
last_load() {
    pg_query "select max(load_id) from audit.load join audit.slice using (slice_id) join audit.source using (source_id)
        where kind = 'billing'"
}

{ echo "$header"; row 2026-07 10; other 2026-07 1.5; } | gzip -n >bills/july.csv.gz
{ echo "$header"; row 2026-08 20; row 2026-07 5; } >bills/mixed.csv
{ echo "$header"; row 2026-05 99; } >bills/may.csv
echo "$header" >bills/empty.csv
ok 'files of several periods load' ingest
want='2026-05|||  2026-07|15|1.5|july.csv.gz+mixed.csv 2026-08|20||mixed.csv '
want=$(echo "$want" | sed 's/  / /')
is 'each row in the slice of its period' "$(facts)" "$want"
like 'a file without rows is told' "$(cat err)" 'empty.csv: no rows'
is 'a period before the window is passed over, and noted' \
    "$(pg_query "select period, rows_kept from audit.load join audit.slice using (slice_id) where status = 'skipped'")" '2026-05|0'

before=$(last_load)
ok 'again' ingest
is 'nothing is loaded again' "$(last_load)" "$before"
is 'nothing changes' "$(facts)" "$want"

{ echo "$header"; row 2026-08 21; row 2026-07 6; } >bills/mixed.csv
ok 'a changed file' ingest
is 'wins in all its slices, with its unchanged neighbours' "$(facts)" \
    '2026-05||| 2026-07|16|1.5|mixed.csv+july.csv.gz 2026-08|21||mixed.csv '
is 'rows stand under their file' "$(pg_query "select load_no, billed_cost from audit.billing_charge c
    join audit.slice using (slice_id) where period = '2026-07' order by 1" | tr '\n' ' ')" '0|6 1|10 '

cp bills/july.csv.gz whole.gz
{ echo "$header"; for n in $(seq 200); do row 2026-07 "$n.$n"; done; } | gzip -n >damaged.gz
head -c 700 damaged.gz >bills/july.csv.gz
{ echo "$header"; row 2026-09 30; } >bills/september.csv
exits 'a gzip cut short: the rest is done' 8 ingest
like 'the file and the place are named' "$(cat err)" 'july.csv.gz. is cut short at byte 700'
is 'its slice stays as it was, others load' "$(facts)" \
    '2026-05||| 2026-07|16|1.5|mixed.csv+july.csv.gz 2026-08|21||mixed.csv 2026-09|30||september.csv '
is 'the failure is on record' "$(pg_query "select period, problem ~ 'cut short', rows_read from audit.load
    join audit.slice using (slice_id) where status = 'failed'")" '2026-07|t|0'
is 'no table is left over' "$(pg_query "select count(*) from pg_class where relname like '%new'")" 0
mv whole.gz bills/july.csv.gz
ok 'the whole file is back' ingest
is 'and the failure is over' "$(pg_query "select count(*) from audit.load where status = 'failed'")" 0

{
    echo "$header"
    row 2026-10 1
    row 2026-10 much
    row 2026-10 2 lots
    row 2026-10 ''
    row 2026-10 3 | sed 's/2026-10-03T00/2026-13-03T00/'
    row 2026-10 4 | sed 's/AWS,/AWS,one,too,many,/'
    row 2026-10 5 | sed 's/i-1/i"1/'
    row soon 6
    row 2026-10 7 | sed 's/Usage,/,/'
    row 2026-10 1e400
    row 2026-10 8
} >bills/broken.csv
ok 'broken rows' ingest
is 'good rows load' "$(pg_query "select sum(billed_cost) from audit.billing_charge join audit.slice using (slice_id)
    where period = '2026-10'")" 9
is 'the others are kept with line and reason' "$(pg_query "select line, reason from audit.reject order by 1")" \
"3|BilledCost is no number
4|quantity is no number
5|BilledCost is empty
6|ChargePeriodStart is no time
7|16 columns where the header has 13
8|quotes are not closed
9|BillingPeriodStart is no time
10|ChargeCategory is empty
11|BilledCost is no number"
is 'and counted' "$(pg_query "select rows_read, rows_kept, rows_rejected from audit.load join audit.slice using (slice_id)
    where period = '2026-10' and status = 'done'")" '11|2|9'
like 'and told' "$(cat err)" 'broken.csv: 9 rows rejected, the first on line 3: BilledCost is no number'

rm bills/july.csv.gz
ok 'a file goes away' ingest
is 'its slice is what is there now' "$(facts | grep -o '2026-07[^ ]*')" '2026-07|6||mixed.csv'
rm bills/*
{ echo "$header"; row 2026-11 1; } >bills/next.csv
ok 'all others go away' ingest
is 'what was loaded stays' "$(facts | grep -o '2026-0[789][^ ]*' | tr '\n' ' ')" \
    '2026-07|6||mixed.csv 2026-08|21||mixed.csv 2026-09|30||september.csv '

cp bills/next.csv next.csv
{ echo "$header"; row 2026-05 99; } >bills/may.csv
ok 'an earlier window' ingest 2026Q2
is 'loads what was passed over' "$(facts | grep -o '2026-05[^ ]*')" '2026-05|99||may.csv'
done_testing

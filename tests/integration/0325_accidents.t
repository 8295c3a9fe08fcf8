#!/bin/sh
# What happens to files on their way: copied, cut, packed twice, written by another system. Each is a
# clear refusal that leaves its periods as they were, or loads right; none is a silent zero.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need_python zipfile
pg_start

cd "$work" || exit 99
header='BilledCost,BillingCurrency,BillingPeriodStart,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ConsumedQuantity,ConsumedUnit,EffectiveCost,ProviderName,ResourceId,ServiceName,x_UsageType'
# row PERIOD COST [QUANTITY]
row() {
    printf '%s,USD,%s-01,Usage,%s-03T00:00:00Z,%s-03T01:00:00Z,%s,Hours,%s,AWS,i-1,AmazonEC2,BoxUsage:p4d.24xlarge\n' \
        "$2" "$1" "$1" "$1" "${3:-1}" "$2"
}
# ingest NAME [LINE]: the folder of that name.
ingest() {
    printf '[billing %s]\nformat = focus\npath = %s\n%s\n' "$1" "$work/$1" "${2:-}" >gpu-audit.conf
    gpu-audit --config gpu-audit.conf --database "$pg_url" --quarter 2026Q3 ingest
}
# facts NAME: of each period, rows and cost.
facts() {
    pg_query "select period, (select count(*) || '=' || trim_scale(sum(billed_cost)) from audit.billing_charge c where c.slice_id = s.slice_id)
        from audit.slice s join audit.source using (source_id) where name = '$1' and period <> 'unknown' order by 1" | tr '\n' ' '
}
rejects() {
    pg_query "select line || ': ' || reason from audit.reject join audit.load using (load_id) join audit.slice using (slice_id)
        join audit.source using (source_id) where name = '$1' and status = 'done' order by 1" | tr '\n' ' '
}

# ---- the same file twice
mkdir copy folders
{ echo "$header"; row 2026-07 10; row 2026-08 20; } >copy/bill.csv
echo "$header" >copy/header.csv
cp copy/header.csv copy/header2.csv
ok 'a bill, and two files of nothing but the header' ingest copy
want='2026-07|1=10 2026-08|1=20 '
is 'load' "$(facts copy)" "$want"
cp copy/bill.csv 'copy/bill (1).csv'
exits 'fetched twice into one folder' 8 ingest copy
like 'is refused with both names' "$(cat err)" 'two files hold the same bill: .*/bill \(1\).csv", .*/bill.csv"'
is 'every month of it stays as it was' "$(facts copy)" "$want"
rm 'copy/bill (1).csv'
gzip -nc copy/bill.csv >copy/packed.csv.gz
exits 'once plain and once packed' 8 ingest copy
is 'is the same' "$(facts copy)" "$want"
rm copy/packed.csv.gz
mkdir -p copy/2026-07 copy/2026-08
mv copy/bill.csv copy/2026-07
cp copy/2026-07/bill.csv copy/2026-08
exits 'in the folders of two months' 8 ingest copy 'folders = all'
is 'too, whatever folders says' "$(facts copy)" "$want"
rm -r copy/2026-08
ok 'one of them alone' ingest copy
is 'loads' "$(facts copy)" "$want"
mkdir folders/a folders/b
{ echo "$header"; row 2026-07 1; row 2026-08 2; row 2026-09 3; } >folders/a/bill.csv
{ echo "$header"; row 2026-07 4; row 2026-08 5; row 2026-09 6; } >folders/b/bill.csv
exits 'two folders with three months' 8 ingest folders
is 'none of them is added up' "$(facts folders)" '2026-07| 2026-08| 2026-09| '

# ---- cut short
mkdir cut lines
{ echo "$header"; row 2026-07 10; row 2026-07 11; } >cut/bill.csv
cp cut/bill.csv whole.csv
ok 'a whole file' ingest cut
for bytes in 60 26 5; do
    head -c -"$bytes" whole.csv >cut/bill.csv
    [ "$bytes" -gt 25 ] || { head -c -1 whole.csv; printf '\n12,USD,"2026'; } >cut/bill.csv
    exits "$bytes bytes less" 4 ingest cut
    like 'the file is cut short' "$(cat err)" 'bill.csv: the file is cut short in line [34]: '
    is 'its month stays as it was' "$(facts cut)" '2026-07|2=21 '
done
head -c -1 whole.csv >cut/bill.csv
ok 'a last line without an end, and all its cells' ingest cut
is 'loads' "$(facts cut)" '2026-07|2=21 '
{ echo "$header"; row 2026-07 10; echo 'Total,10'; } >cut/bill.csv
ok 'a broken line with an end' ingest cut
is 'costs itself' "$(rejects cut)" '3: 2 columns where the header has 13 '
python3 "$top/tests/lib/records.py" lines whole.csv >whole.jsonl
head -c -20 whole.jsonl >lines/bill.jsonl
exits 'JSON lines' 4 ingest lines
like 'are no other' "$(cat err)" 'bill.jsonl: the file is cut short in line 2: '

# ---- what would otherwise be nothing at all
mkdir return long longer
tr '\n' '\r' <whole.csv >return/bill.csv
exits 'lines that end in carriage returns' 4 ingest return
like 'are told with the next step' "$(cat err)" "hint: .*tr '.r' '.n' does that"
python3 - whole.jsonl long/bill.jsonl long/bill.json longer/bill.jsonl <<'END'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
rows[0] = {"Notes": "x" * 900000, **rows[0]}
open(sys.argv[2], "w").write("".join(json.dumps(row) + "\n" for row in rows))
for row in rows:
    row["BillingPeriodStart"] = "2026-08-01"
json.dump(rows, open(sys.argv[3], "w"))
rows[0]["Notes"] *= 2
open(sys.argv[4], "w").write("".join(json.dumps(row) + "\n" for row in rows))
END
ok 'JSON whose first record is of nearly a megabyte' ingest long
is 'loads, as lines and as array' "$(facts long)" '2026-07|2=21 2026-08|2=21 '
exits 'a first record that is too long' 4 ingest longer
like 'is told' "$(cat err)" 'bill.jsonl: line 1: record is longer than 1 MiB'

# ---- rows that nobody can place
mkdir period
{ echo "$header"; row 2026-06 1; row 2026-99 2; row 2026-07 3; row 2026-08 4; row 2026-06 5; row 2026-99 6; } >period/bill.csv
ok 'unreadable months among rows before the window' ingest period
is 'are rejected, not passed over' "$(rejects period)" '3: BillingPeriodStart is no time 7: BillingPeriodStart is no time '
{ cat period/bill.csv; row 2026-08 7; } >bill.csv
mv bill.csv period
{ echo "$header"; row 2026-08 8; } >period/more.csv
ok 'a file beside it' ingest period
is 'rejects them no second time' "$(rejects period)" '3: BillingPeriodStart is no time 7: BillingPeriodStart is no time '
{ echo "$header"; row 2026-06 1; row 2026-99 2; } >period/bill.csv
rm period/more.csv
ok 'nothing but rows before the window' ingest period
like 'they are told' "$(cat err)" 'bill.csv: 1 rows rejected among those before the window, the first on line 3'

# ---- numbers that no bill has
mkdir huge
{ echo "$header"; row 2026-07 1 1e400; row 2026-07 2 99999999999999999999999999999999999999; } >huge/bill.csv
ok 'a quantity beyond all bounds' ingest huge
is 'is none' "$(rejects huge)" '2: quantity is no number '

# ---- zip
mkdir zip
python3 -W ignore - zip/bill.zip whole.csv <<'END'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w") as pack:
    pack.write(sys.argv[2], "bill.csv")
    pack.writestr("bill.csv", open(sys.argv[2]).read() + open(sys.argv[2]).readlines()[1])
END
exits 'a member that stands twice in a zip file' 4 ingest zip
like 'is refused' "$(cat err)" 'member "bill.csv" stands twice'
done_testing

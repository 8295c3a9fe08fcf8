# Where bills lie: folders beneath folders, patterns, zip files, deliveries with manifests. A delivery
# replaces the one before it whole; one that is not whole changes nothing.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"

need python3
pg_start
cd "$work" || exit 99
header='BilledCost,BillingCurrency,BillingPeriodStart,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ConsumedQuantity,ConsumedUnit,EffectiveCost,ProviderName,ResourceId,ServiceName,x_UsageType'
# bill FILE PERIOD COST...: a row for each cost.
bill() {
    mkdir -p "$(dirname "$1")"
    bill_file=$1 bill_period=$2
    shift 2
    {
        echo "$header"
        for bill_cost in "$@"; do
            printf '%s,USD,%s-01,Usage,%s-03T00:00:00Z,%s-03T01:00:00Z,1,Hours,%s,AWS,i-1,AmazonEC2,BoxUsage:p4d.24xlarge\n' \
                "$bill_cost" "$bill_period" "$bill_period" "$bill_period" "$bill_cost"
        done
    } >"$bill_file.plain"
    case $bill_file in
    *.gz) gzip -nc "$bill_file.plain" >"$bill_file" ;;
    *) cp "$bill_file.plain" "$bill_file" ;;
    esac
    rm "$bill_file.plain"
}
# config PATH [LINE...]: each path is a source of its own.
config() {
    printf '[billing b]\nformat = focus\npath = %s\n' "$1" >gpu-audit.conf
    shift
    [ $# -eq 0 ] || printf '%s\n' "$@" >>gpu-audit.conf
}
ingest() {
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 ingest
}
doctor() {
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 doctor
}
# What is in of the source that was loaded last: period, sum, objects.
facts() {
    pg_query "with last as (select source_id from audit.source where kind = 'billing' order by 1 desc limit 1)
        select period, (select sum(billed_cost) from audit.billing_charge c where c.slice_id = s.slice_id),
        (select string_agg(regexp_replace(object, '^$work/[a-z0-9]*/', ''), '+' order by object) from audit.load l
         where l.slice_id = s.slice_id and status = 'done')
        from audit.slice s join last using (source_id) where exists (select from audit.load l where l.slice_id = s.slice_id
        and status = 'done') order by 1" | tr '\n' ' '
}
failures() {
    pg_query "select count(*) from audit.load l join audit.slice using (slice_id) join audit.source using (source_id)
        where kind = 'billing' and l.status = 'failed'"
}

# ---- folders and patterns

bill tree/2026/07/a.csv 2026-07 1
bill tree/2026/08/b.csv.gz 2026-08 2 3
bill tree/2026/08/late.csv 2026-07 10
bill tree/.hidden/c.csv 2026-07 99
config tree
ok 'folders beneath folders' ingest
is 'of years and months are one bill' "$(facts)" '2026-07|11|2026/07/a.csv+2026/08/late.csv 2026-08|5|2026/08/b.csv.gz '
ln -s .. tree/2026/loop
exits 'a link that goes round' 3 ingest
like 'is told' "$(cat err)" 'is a link to a folder it lies in'
rm tree/2026/loop
bill glob/y-1/z1.csv.gz 2026-07 1
bill glob/y-1/other.csv.gz 2026-07 50
bill glob/y-2/z2.csv.gz 2026-08 2
config "glob/y-*/z*.csv.gz"
ok 'a pattern' ingest
is 'takes what matches' "$(facts)" '2026-07|1|y-1/z1.csv.gz 2026-08|2|y-2/z2.csv.gz '
config 'glob/x-*'
exits 'a pattern that nothing matches' 3 ingest
like 'is told' "$(cat err)" 'nothing matches ".*/glob/x-\*"'

# ---- two folders of one month

bill two/east/july.csv 2026-07 1
bill two/east/august.csv 2026-08 5
config two
ok 'one folder' ingest
bill two/west/july.csv 2026-07 2
bill two/west/september.csv 2026-09 7
exits 'another that holds the same month' 8 ingest
like 'is told with both' "$(cat err)" 'two folders hold bills of 2026-07: ".*/two/west/july.csv", ".*/two/east/july.csv"'
like 'and the way out' "$(cat err)" 'set "folders = all" in \[billing b\]'
is 'the month stays as it was, others load' "$(facts)" '2026-07|1|east/july.csv 2026-08|5|east/august.csv 2026-09|7|west/september.csv '
exits 'again the same' 8 ingest
is 'with the same outcome' "$(facts)" '2026-07|1|east/july.csv 2026-08|5|east/august.csv 2026-09|7|west/september.csv '
config two 'folders = all'
ok 'parts of one bill' ingest
is 'are added up' "$(facts | cut -d' ' -f1)" '2026-07|3|east/july.csv+west/july.csv'
is 'and the failure is over' "$(failures)" 0

# ---- a file of two months, one of which fails

bill mixed/both.csv 2026-07 1
bill mixed/next.csv 2026-08 2
tail -n +2 mixed/next.csv >>mixed/both.csv
rm mixed/next.csv
bill mixed/july.csv.gz 2026-07 4 5 6 7 8 9
cp mixed/july.csv.gz july.whole
config mixed
ok 'two files' ingest
head -c 150 july.whole >mixed/july.csv.gz
bill mixed/extra.csv 2026-07 100
tail -n +2 mixed/extra.csv | sed 's/2026-07/2026-08/g; s/^100,/300,/; s/,100,AWS/,300,AWS/' >>mixed/extra.csv
exits 'one of them cut, and a third of two months' 8 ingest
is 'the month that fails stays, the other gets its rows' "$(facts)" '2026-07|40|both.csv+july.csv.gz 2026-08|302|both.csv+extra.csv '
cp july.whole mixed/july.csv.gz
ok 'mended' ingest
is 'the rows that had to wait are in' "$(facts)" '2026-07|140|both.csv+extra.csv+july.csv.gz 2026-08|302|both.csv+extra.csv '

# ---- zip

zip_of() {
    python3 - "$@" <<'END'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as out:
    for name in sys.argv[2:]:
        out.write(name, name.removeprefix("parts/"))
END
}
bill parts/july.csv 2026-07 1 2
bill parts/august.csv 2026-08 4
sed -i 's/^BilledCost,BillingCurrency/x_Extra,BillingCurrency/; s/EffectiveCost,Prov/BilledCost,EffectiveCost,Prov/; 2,$s/Hours,\([0-9]*\),AWS/Hours,\1,\1,AWS/' parts/august.csv
echo '{}' >parts/readme.json
mkdir zip
zip_of zip/bills.zip parts/july.csv parts/august.csv parts/readme.json
bill zip/more.csv 2026-08 8
config zip
ok 'a zip file of several bills, with columns in another order' ingest
is 'is read member by member' "$(facts)" '2026-07|3|bills.zip/july.csv 2026-08|12|bills.zip/august.csv+more.csv '
like 'the doctor counts the file' "$(doctor; cat out)" '^ok +billing b +2 files'
ok 'again' ingest
like 'nothing is read' "$(cat err)" 'unchanged'
bill zip/more.csv 2026-08 9
ok 'a neighbour changes' ingest
is 'its members come along' "$(facts)" '2026-07|3|bills.zip/july.csv 2026-08|13|bills.zip/august.csv+more.csv '
zip_of zip/bills.zip parts/july.csv
ok 'a zip file with less in it' ingest
is 'replaces all of what it was' "$(facts)" '2026-07|3|bills.zip/july.csv 2026-08|9|more.csv '
cp zip/bills.zip whole.zip
python3 - <<'END'
data = bytearray(open("zip/bills.zip", "rb").read())
data[60] ^= 0xff
open("zip/bills.zip", "wb").write(data)
END
bill zip/more.csv 2026-08 10
exits 'a damaged one' 8 ingest
like 'is told by its member' "$(cat err)" 'zip member ".*bills.zip/july.csv" (is damaged|does not match)'
is 'its month stays as it was' "$(facts)" '2026-07|3|bills.zip/july.csv 2026-08|10|more.csv '
printf 'PK\3\4 cut' >zip/bills.zip
exits 'one cut short' 8 ingest
like 'is told' "$(cat err)" 'zip file ".*bills.zip" is cut short'
python3 - <<'END'
import zipfile
with zipfile.ZipFile("zip/bills.zip", "w") as out:
    out.writestr("../../x.csv", "a\n1\n")
END
exits 'a member that points out of its folder' 8 ingest
like 'is refused' "$(cat err)" 'is refused: member "../../x.csv" points out of its folder'
bill parts/packed.csv.gz 2026-07 1
zip_of zip/bills.zip parts/packed.csv.gz
exits 'a packed file in it' 8 ingest
like 'is told' "$(cat err)" 'member "packed.csv.gz" is packed itself'
cp whole.zip zip/bills.zip
ok 'whole again' ingest
is 'and the failure is over' "$(failures)" 0

mkdir plainly
cp whole.zip plainly/bill.csv
config plainly/bill.csv
ok 'a zip file by another name' ingest
is 'is known by its beginning' "$(facts)" '2026-07|3|bill.csv/july.csv '

# ---- CUR

# cur REPORT PERIOD ASSEMBLY FILE...: the manifests of a delivery.
cur() {
    cur_folder=cur/$1/$2
    cur_keys=$(shift 3; printf '"bucket/pre/%s", ' "$@")
    mkdir -p "$cur_folder/$3"
    printf '{"assemblyId": "%s", "reportName": "%s", "billingPeriod": {"start": "%sT000000.000Z", "end": "%sT000000.000Z"}, "columns": [], "reportKeys": [%s]}\n' \
        "$3" "$1" "${2%-*}" "${2#*-}" "${cur_keys%, }" >"$cur_folder/$1-Manifest.json"
    [ -z "$3" ] || cp "$cur_folder/$1-Manifest.json" "$cur_folder/$3/$1-Manifest.json"
}
july=20260701-20260801 august=20260801-20260901
bill cur/r/$july/aaa/r-1.csv.gz 2026-07 1 2
bill cur/r/$july/aaa/r-2.csv.gz 2026-07 4
cur r $july aaa "r/$july/aaa/r-1.csv.gz" "r/$july/aaa/r-2.csv.gz"
bill cur/r/$august/r-1.csv.gz 2026-08 8
cur r $august '' "r/$august/r-1.csv.gz"
config cur
ok 'a delivery with a manifest' ingest
is 'loads' "$(facts)" "2026-07|7|r/$july/aaa/r-1.csv.gz+r/$july/aaa/r-2.csv.gz 2026-08|8|r/$august/r-1.csv.gz "
is 'its time is that of the manifest' "$(pg_query "select delivered = to_timestamp($(stat -c %Y cur/r/$july/r-Manifest.json))
    from audit.billing_period join audit.slice using (slice_id) join audit.source using (source_id)
    where period = '2026-07' order by source_id desc limit 1")" t
bill cur/r/$july/bbb/r-1.csv.gz 2026-07 3
cur r $july bbb "r/$july/bbb/r-1.csv.gz"
ok 'a newer delivery, with less' ingest
is 'replaces the older whole' "$(facts)" "2026-07|3|r/$july/bbb/r-1.csv.gz 2026-08|8|r/$august/r-1.csv.gz "
ok 'again' ingest
like 'nothing is read' "$(cat err)" 'unchanged'
bill cur/r/$august/r-2.csv.gz 2026-08 100
ok 'a chunk that the manifest does not name' ingest
is 'is old' "$(facts)" "2026-07|3|r/$july/bbb/r-1.csv.gz 2026-08|8|r/$august/r-1.csv.gz "
bill cur/r/$july/ccc/r-1.csv.gz 2026-07 50
cur r $july ccc "r/$july/ccc/r-1.csv.gz" "r/$july/ccc/r-2.csv.gz"
bill cur/r/$august/r-1.csv.gz 2026-08 9
exits 'a manifest that names a missing file' 8 ingest
like 'is told with both' "$(cat err)" "\"[^\"]*cur/r/$july/r-Manifest.json\" names \"bucket/pre/r/$july/ccc/r-2.csv.gz\", which is not there"
is 'its month stays as it was, the other loads' "$(facts)" "2026-07|3|r/$july/bbb/r-1.csv.gz 2026-08|9|r/$august/r-1.csv.gz "
is 'the failure is on record under the month' "$(pg_query "select period from audit.load l join audit.slice using (slice_id) where l.status = 'failed'")" 2026-07
exits 'the doctor finds it too' 1 doctor
like 'and tells the same' "$(cat out)" '^FAULT +billing b .*which is not there$'
bill cur/r/$july/ccc/r-2.csv.gz 2026-07 60
ok 'complete' ingest
is 'it loads' "$(facts | cut -d' ' -f1)" "2026-07|110|r/$july/ccc/r-1.csv.gz+r/$july/ccc/r-2.csv.gz"
is 'and the failure is over' "$(failures)" 0
head -c 60 cur/r/$july/ccc/r-2.csv.gz >cut && mv cut cur/r/$july/ccc/r-2.csv.gz
bill cur/r/$july/ccc/r-1.csv.gz 2026-07 51
exits 'a delivery cut in the middle of a file' 8 ingest
is 'changes nothing' "$(facts | cut -d' ' -f1)" "2026-07|110|r/$july/ccc/r-1.csv.gz+r/$july/ccc/r-2.csv.gz"
bill cur/r/$july/ddd/r-1.csv.gz 2026-07
cur r $july ddd "r/$july/ddd/r-1.csv.gz"
ok 'a delivery that shrank to nothing' ingest
is 'empties its month' "$(pg_query "select coalesce(sum(billed_cost), 0) from audit.billing_charge join audit.slice using (slice_id)
    where period = '2026-07' and source_id = (select max(source_id) from audit.source where kind = 'billing')")" 0
bill cur/q/$july/q-1.csv.gz 2026-07 1
cur q $july '' "q/$july/q-1.csv.gz"
before=$(facts)
exits 'two reports of one month' 3 ingest
like 'are told' "$(cat err)" 'two exports of 2026-07: ".*-Manifest.json" and ".*-Manifest.json"'
like 'with the choice' "$(cat err)" 'choose with "export = [qr]" or "export = [qr]"'
is 'nothing changes' "$(facts)" "$before"
config cur 'export = q'
ok 'one of them chosen' ingest
is 'is read alone' "$(facts | cut -d' ' -f1)" "2026-07|1|q/$july/q-1.csv.gz"

# ---- Data Exports and Azure

# shellcheck disable=SC2016
exports() {
    mkdir -p "de/e/metadata/BILLING_PERIOD=$1"
    printf '{"executionId": "x", "exportArn": "a", "columns": [], "dataFiles": ["s3://b/e/data/BILLING_PERIOD=%s/%s"]}\n' "$1" "$2" \
        >"de/e/metadata/BILLING_PERIOD=$1/e-Manifest.json"
}
bill de/e/data/BILLING_PERIOD=2026-07/e-00001.csv.gz 2026-07 1
bill de/e/data/BILLING_PERIOD=2026-07/e-00002.csv.gz 2026-07 99
exports 2026-07 e-00001.csv.gz
bill de/e/data/BILLING_PERIOD=2026-08/e-00001.csv.gz 2026-08 5
config de
exits 'a period whose manifest is not written yet' 8 ingest
like 'is not complete' "$(cat err)" 'BILLING_PERIOD=2026-08/e-00001.csv.gz" is of a delivery that has no manifest yet'
is 'the other loads, what its manifest names' "$(facts)" '2026-07|1|e/data/BILLING_PERIOD=2026-07/e-00001.csv.gz '
exports 2026-08 e-00001.csv.gz
ok 'now it is' ingest
is 'it loads' "$(facts)" '2026-07|1|e/data/BILLING_PERIOD=2026-07/e-00001.csv.gz 2026-08|5|e/data/BILLING_PERIOD=2026-08/e-00001.csv.gz '
is 'and the failure is over' "$(failures)" 0

# azure EXPORT TYPE RUN SUBMITTED COST
azure() {
    azure_folder=az/$1/20260701-20260731/$3
    bill "$azure_folder/part_0_0001.csv" 2026-07 "$5"
    printf '{"exportConfig": {"exportName": "%s", "resourceId": "/subscriptions/1", "type": "%s"}, "runInfo": {"runId": "%s", "submittedTime": "%s", "startDate": "2026-07-01T00:00:00", "endDate": "2026-07-31T00:00:00"}, "blobs": [{"blobName": "%s", "byteCount": %d}]}\n' \
        "$1" "$2" "$3" "$4" "${azure_folder#az/}/part_0_0001.csv" "$(wc -c <"$azure_folder/part_0_0001.csv")" >"$azure_folder/manifest.json"
}
azure focus FocusCost b1 2026-07-20T04:00:00.123Z 10
azure focus FocusCost a2 2026-08-02T04:00:00.123Z 20
config az
ok 'runs of an export' ingest
is 'the one submitted last counts' "$(facts)" '2026-07|20|focus/20260701-20260731/a2/part_0_0001.csv '
is 'and says when the bill was delivered' "$(pg_query "select delivered at time zone 'UTC' from audit.billing_period join audit.slice using (slice_id)
    order by source_id desc limit 1")" '2026-08-02 04:00:00'
azure focus FocusCost c3 2026-08-03T04:00:00Z 30
echo more >>az/focus/20260701-20260731/c3/part_0_0001.csv
exits 'a run that is not as its manifest says' 4 ingest
like 'is told' "$(cat err)" 'says that ".*part_0_0001.csv" has [0-9]+ bytes; it has [0-9]+'
is 'and changes nothing' "$(facts)" '2026-07|20|focus/20260701-20260731/a2/part_0_0001.csv '
azure amortized AmortizedCost x 2026-08-02T04:00:00Z 20
exits 'actual and amortized cost of one scope' 3 ingest
like 'are not added up' "$(cat err)" 'Both would count twice: choose with "export = '
done_testing

# Faults that were once found by trying to break the program: each ends in a clear word and at once.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need_python gzip
pg_start

header=BillingPeriodStart,ChargePeriodStart,ChargePeriodEnd,ConsumedQuantity,ConsumedUnit,PricingQuantity,PricingUnit
header=$header,BilledCost,EffectiveCost,ListCost,ProviderName,BillingCurrency,ChargeCategory,ServiceCategory,ServiceName
header=$header,PricingCategory,RegionId,ResourceId,ResourceType,ChargeDescription,SubAccountId,Tags

# row FROM TO RESOURCE TEAM
row() {
    printf '2026-08-01T00:00:00Z,%s,%s,1,Hours,1,Hours,2,2,2,AWS,USD,Usage,Compute,' "$1" "$2"
    printf 'Amazon Elastic Compute Cloud,Standard,us-east-1,%s,Instance,$1 per g5.xlarge Linux Instance Hour,1,"{""team"": ""%s""}"\n' "$3" "$4"
}

audit() {
    timeout -k 1 20 gpu-audit "$@" --quarter 2026Q3 --as-of 2026-11-15T00:00:00Z
}

bill() {
    printf '[billing b]\nformat = focus\npath = %s\n[tags]\nteam = team\n' "$1" >"$work/conf"
    audit ingest --config "$work/conf" --database "$pg_url"
}

# ---------------------------------------------------------------- words nobody asked for

exits 'a word that a command does not take is an error' 2 audit figures 2026Q2 --database "$pg_url"
like 'and is named' "$(cat "$work/err")" 'figures takes no "2026Q2"'
exits 'a time before 1970 is an error' 2 gpu-audit status --as-of 0001-01-01T00:00:00Z --database "$pg_url"

# ---------------------------------------------------------------- passwords

for url in 'postgresql://u:se@cret@127.0.0.1:1/x' 'postgresql://u:my/secret@127.0.0.1:1/x'; do
    exits 'a password that is not encoded makes the address malformed' 3 audit status --database "$url"
    unlike 'and no part of it is shown' "$(cat "$work/out" "$work/err")" 'cret'
done

background gpu-audit sql --database "$pg_url&password=hide-me-123" 'select pg_sleep(20)'
tries=100
while [ "$tries" -gt 0 ] && [ "$(pg_query "select count(*) from pg_stat_activity where query = 'select pg_sleep(20)'")" != 1 ]; do
    tries=$((tries - 1))
    sleep 0.1
done
like 'its command line can be read' "$(tr '\0' ' ' <"/proc/$background/cmdline")" 'gpu-audit sql'
unlike 'a password of the command line is not seen in the list of processes' \
    "$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n')" '^[^ ]*password=hide-me-12[3]'

# ---------------------------------------------------------------- files that are none

mkfifo "$work/pipe.csv"
exits 'a pipe for a bill does not hang' 4 bill "$work/pipe.csv"
like 'and is named' "$(cat "$work/err")" 'pipe.csv": it is a pipe or a device'
printf '[telemetry t]\nformat = prometheus\nurl = http://127.0.0.1:1\ntoken-file = %s\n' "$work/pipe.csv" >"$work/conf"
start=$(date +%s)
timeout -s INT -k 10 1 gpu-audit ingest --config "$work/conf" --quarter 2026Q3 --database "$pg_url" >"$work/out" 2>&1
ok 'waiting for a token from a pipe can be interrupted' test $(($(date +%s) - start)) -lt 8

# ---------------------------------------------------------------- bills

mkdir "$work/names"
name=$(printf '%s/d\377.csv' "$work/names")
{ echo "$header"; row 2026-08-01T00:00:00Z 2026-08-01T01:00:00Z i-1 a; } >"$name"
ok 'a name of a file that is no UTF-8 is no obstacle' bill "$work/names"
is 'its row is kept' "$(pg_query 'select count(*) from audit.billing_charge')" 1

{
    echo "$header"
    row 2026-08-01T00:00:00Z 2026-08-01T01:00:00Z i-1 a
    row 1970-01-01T00:00:00Z 9999-12-31T00:00:00Z i-2 a
} >"$work/ages.csv"
ok 'a charge period of thousands of years is set aside' bill "$work/ages.csv"
like 'and told' "$(cat "$work/out")" 'line 3: the charge period is longer than ten years'
ok 'and analysis ends' audit analyze --config "$work/conf" --database "$pg_url"

python3 - "$work/long.csv" "$header" "$(row 2026-08-01T00:00:00Z 2026-08-01T01:00:00Z RESOURCE TEAM)" <<'END'
import hashlib, sys
noise = lambda seed: "".join(hashlib.sha512(b"%s %d" % (seed, i)).hexdigest() for i in range(400))
with open(sys.argv[1], "w") as out:
    print(sys.argv[2], file=out)
    for seed in (b"a", b"b"):
        print(sys.argv[3].replace("RESOURCE", "i-" + noise(seed)).replace("TEAM", noise(seed)), file=out)
END
ok 'tags and names of 50 KB are taken' bill "$work/long.csv"
ok 'and analysed' audit analyze --config "$work/conf" --database "$pg_url"
is 'each apart' "$(pg_query "select count(distinct team) || ' ' || max(length(team)) from audit.audit_subject")" '3 500'

escape=$(printf '\033')
printf 'host,provider,resource_id,instance_type,valid_from,valid_to\nh,aws,i-1,g5.xlarge,%s[31mred,\n' "$escape" >"$work/map.csv"
printf '[binding m]\npath = %s\n' "$work/map.csv" >"$work/conf"
ok 'a record with an escape sequence is set aside' audit ingest --config "$work/conf" --database "$pg_url"
like 'and shown' "$(cat "$work/out")" 'line 2: valid_from is'
unlike 'without its escape' "$(cat "$work/out" "$work/err")" "$escape"

# ---------------------------------------------------------------- another's schema

pg_query 'create database other'
"$pg_bin/psql" -XAtq -d other -c 'create schema audit; create table audit.load (x int)'
exits 'a schema of somebody else is left alone' 5 audit status --config "$work/conf" --database "$(printf %s "$pg_url" | sed 's,///audit,///other,')"
like 'and the next step is told' "$(cat "$work/err")" 'hint: .*a database of its own'

done_testing

#!/bin/sh
# Inventory, host bindings, cost model, own catalog and exchange rates: loaded whole, unchanged the
# second time, replaced when they change, refused row by row, and what a broken file leaves behind.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
pg_start

cd "$work" || exit 99
cat >gpu-audit.conf <<END
[audit]
currency = EUR
[inventory dc]
path = inventory.csv
[binding hosts]
path = hostmap.csv
[model plan]
path = cost-model.csv
[prices own]
path = catalog
[fx rates]
path = fx.csv
END
mkdir catalog
audit() {
    gpu-audit --config "$work/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 "$@"
}

cat >inventory.csv <<END
asset,host,gpu_model,gpu_count,gpu_uuids,site,pool,team,project,jira,in_service_from,in_service_to,cost_per_hour,currency,capex,life_years,power_w,power_price_per_kwh,staff_per_year
a1,h1,L40S,4,GPU-1  GPU-2,dc1,train,ml,LLM,LLM-1,2026-07-01T00:00:00Z,2026-08-01T00:00:00Z,2.2000,usd,,,,,
a1,h1,L40S,4,,dc1,train,ml,LLM,LLM-1,2026-08-15T00:00:00Z,,2.2000,,,,,,
a2,h2,H100-80GB,8,,dc1,,,,,2026-01-01,,,,350640,4,10000,0.25,8766
a3,h3,H100-80GB,8,,dc1,,,,,2026-01-01,,,,350640,,,,
a4,h4,H100-80GB,8,,dc1,,,,,2026-01-01,,,,350640,4,10000,,
a1,h1,L40S,4,,dc1,,,,,2026-07-31T12:00:00Z,2026-08-02T00:00:00Z,1,USD,,,,,
a5,h5,L40S,0,,,,,,,2026-07-01,,1,USD,,,,,
a6,h6,L40S,2,,,,,,,2026-07-01,2026-06-01,1,USD,,,,,
a7,h7,L40S,2,,,,,,,soon,,1,USD,,,,,
a8,"h8
second line",L40S,2,,,,,,,2026-07-01,,1,dollar,,,,,
,h9,L40S,2,,,,,,,2026-07-01,,1,USD,,,,,
END
cat >hostmap.csv <<END
host,provider,resource_id,instance_type,valid_from,valid_to
n1,AWS,i-0AB,g5.xlarge,2026-07-01T00:00:00Z,2026-08-01T00:00:00Z
n1,AWS,i-0cd,g5.xlarge,2026-08-01T00:00:00Z,
N1,AWS,i-0ef,g5.xlarge,2026-09-01T00:00:00Z,2026-09-02T00:00:00Z
n2,Google Cloud,//compute.googleapis.com/projects/p/zones/z/instances/vm,a2-highgpu-1g,,
END
cat >cost-model.csv <<END
metric,scope,value,tolerance_pct,valid_from,set_by,reason
util_pct,all,55,10,2026-07-01,fin,"plan, signed"
Idle_pct,team: ml,10,,,,
price_per_gpu_hour,provider:Amazon Web Services,3.10,5,,,
throughput,all,1,,,,
util_pct,galaxy:far,1,,,,
util_pct,ALL,60,,2026-07-01,,
cost,project:LLM,much,,,,
END
cat >catalog/models.csv <<END
model,family,memory_gib
H100-80GB,H100 of ours,80
X9,X9,1
END
cat >catalog/types.csv <<END
provider,instance_type,gpu_model,gpu_count
AWS,p9.48xlarge,X9,16
END
cat >catalog/prices.csv <<END
provider,region,instance_type,pricing,usd_per_hour,as_of
AWS,eu-west-1,p9.48xlarge,on_demand,98.7654321,2026-07-01
END
cat >fx.csv <<END
month,from_currency,to_currency,rate
2026-07,usd,EUR,0.8731
2026-07,USD,EUR,0.9
2026-08,USD,EUR,0
END

ok 'the sources load' audit ingest
out=$(cat out)
like 'read, kept and rejected are printed' "$out" 'inventory dc +done +11 +5 +0 +6'
like 'a reject names file, line and reason' "$out" 'inventory.csv line 8: gpu_count is "0", not a number above 0'
like 'and what to do' "$out" 'gpu-audit ingest dc'

is 'spans of service, open end, cost per hour' "$(pg_query "select asset, in_service_from::date, extract(year from in_service_to), cost_per_hour, currency from audit.owned_gpu order by line")" \
'a1|2026-07-01|2026|2.2000|USD
a1|2026-08-15|9999|2.2000|EUR
a2|2026-01-01|9999|13.5000000000|EUR
a3|2026-01-01|9999||EUR
a4|2026-01-01|9999||EUR'
is 'UUIDs are parted by blanks' "$(pg_query "select gpu_uuids, pool from audit.owned_gpu where line = 1")" '{GPU-1,GPU-2}|train'
is 'what was refused of the inventory' "$(pg_query "select line, reason from audit.reject join audit.load using (load_id) where object = 'inventory.csv' order by line")" \
'7|service of asset "a1" overlaps that of line 2
8|gpu_count is "0", not a number above 0
9|in_service_to is not after in_service_from
10|in_service_from is "soon", not a time such as 2026-07-01T00:00:00Z
11|currency is not a code of three letters such as USD
13|asset is empty'
is 'a record keeps its line break' "$(pg_query "select record like E'a8,\"h8\nsecond line\"%' from audit.reject where line = 11")" t

is 'bindings have normal forms' "$(pg_query "select host, provider, resource_key, valid_from::date, extract(year from valid_to) from audit.host_binding order by host, valid_from")" \
'n1|aws|i-0ab|2026-07-01|2026
n1|aws|i-0cd|2026-08-01|9999
n2|gcp|projects/p/zones/z/instances/vm|1970-01-01|9999'
is 'two bindings of a host at a time: both lines named' "$(pg_query "select line, reason from audit.reject join audit.load using (load_id) where object = 'hostmap.csv'")" \
'4|host "N1" is bound to i-0ef here and to i-0cd on line 3 at the same time'

is 'assumptions' "$(pg_query "select line, metric, scope_kind, scope_key, value, tolerance_pct, valid_from, reason from audit.assumption order by line")" \
'2|util_pct|all||55|10|2026-07-01|plan, signed
3|idle_pct|team|ml|10|10||
4|price_per_gpu_hour|provider|aws|3.10|5||'
like 'an unknown metric is told with the known ones' "$(pg_query "select reason from audit.reject where line = 5 and reason like 'metric%'")" \
    '"throughput" is unknown; known are util_pct, .*commitment_discount_pct$'
is 'unknown scope, repeated assumption, no number' "$(pg_query "select count(*) from audit.reject join audit.load using (load_id) where object = 'cost-model.csv' and line in (6, 7, 8)")" 3

is 'own rows stand beside shipped ones' "$(pg_query "select count(*) filter (where origin = 'user'), count(*) filter (where origin = 'shipped') > 40 from audit.gpu_model")" '2|t'
is 'an own instance type and its price, exact' "$(pg_query "select t.provider, t.gpu_count, p.pricing, p.usd_per_hour from audit.instance_type t join audit.price p using (provider, instance_type) where t.origin = 'user'")" 'aws|16|on-demand|98.7654321'
is 'shipped facts are all there' "$(pg_query "select sum(rows_read) = sum(rows_kept), sum(rows_read) > 400 from audit.load join audit.slice using (slice_id) join audit.source using (source_id) where kind = 'catalog'")" 't|t'
is 'rates' "$(pg_query "select month, from_currency, to_currency, rate from audit.fx_rate")" '2026-07-01|USD|EUR|0.8731'
is 'every load adds up' "$(pg_query "select count(*) from audit.load where rows_read <> rows_kept + rows_totalled + rows_rejected")" 0

# again
before=$(pg_query "select count(*) from audit.load where object not like '%models.csv'")
ok 'a second time' audit ingest dc hosts plan rates
is 'nothing is loaded again' "$(grep -c unchanged out)" 4
is 'no load is written for it' "$(pg_query "select count(*) from audit.load where object not like '%models.csv'")" "$before"

# changed
printf 'asset,gpu_model,gpu_count,in_service_from\nb1,L40S,2,2026-07-01\n' >inventory.csv
printf 'model,family,memory_gib\n' >catalog/models.csv
ok 'changed files are loaded' audit ingest inventory prices
is 'they replace the source whole' "$(pg_query "select asset, cost_per_hour from audit.owned_gpu")" 'b1|'
is 'the own model is gone, the shipped one stays' "$(pg_query "select distinct origin from audit.gpu_model")" shipped
is 'the old loads say so' "$(pg_query "select status, count(*) from audit.load where object = 'inventory.csv' group by 1 order by 1")" 'done|1
replaced|1'

# broken
printf 'asset,gpu_count,in_service_from\nc1,2,2026-07-01\n' >inventory.csv
exits 'a missing column is exit status 4' 4 audit ingest dc
err=$(cat err)
like 'it names the file and the column' "$err" 'inventory.csv line 1: no column "gpu_model"'
like 'the columns there are' "$err" 'its columns are: asset, gpu_count'
is 'the rows from before stand' "$(pg_query "select asset from audit.owned_gpu")" b1
is 'the failure is noted' "$(pg_query "select count(*) from audit.load where status = 'failed'")" 1
exits 'one of several failed: exit status 8' 8 audit ingest
like 'the others were done' "$(cat out)" 'binding hosts +unchanged'
like 'the failed one is told' "$(cat out)" 'inventory dc +failed'
printf 'asset,gpu_model,gpu_count,in_service_from\nb1,L40S,2,2026-07-01\n' >inventory.csv
ok 'mended, the same as before' audit ingest dc
is 'is unchanged, and the failure is over' "$(grep -c unchanged out) $(pg_query "select count(*) from audit.load where status = 'failed'")" '1 0'

gzip -c hostmap.csv | head -c 60 >short.csv.gz
sed -i 's/path = hostmap.csv/path = short.csv.gz/' gpu-audit.conf
exits 'a gzip cut short is exit status 4' 4 audit ingest hosts
like 'it names the file' "$(cat err)" 'short.csv.gz'
sed -i 's/path = short.csv.gz/path = nowhere.csv/' gpu-audit.conf
exits 'a missing file is a fault of the configuration' 3 audit ingest hosts
like 'it names the path' "$(cat err)" 'nowhere.csv'

printf 'asset,gpu_model,gpu_count,in_service_from,cost_per_hr\nd1,L40S,2,2026-07-01,5\n' >inventory.csv
ok 'a column nobody knows' audit ingest dc
like 'is told' "$(cat err)" 'column "cost_per_hr" is not one of the inventory'
exits 'an unknown source is a fault of usage' 2 audit ingest nothere
like 'those there are are told' "$(cat err)" 'dc, hosts, plan, own, rates'

printf 'asset,gpu_model,gpu_count,in_service_from\n' >inventory.csv
ok 'a file without rows' audit ingest dc
is 'empties the source' "$(pg_query "select count(*) from audit.owned_gpu")" 0

awk 'BEGIN { print "asset,gpu_model,gpu_count,in_service_from"; for (i = 0; i < 1500; i++) print "x" i ",L40S,none,2026-07-01" }' >inventory.csv
ok 'very many bad rows' audit ingest dc
is 'are all counted, the first thousand kept' "$(pg_query "select rows_rejected, (select count(*) from audit.reject r where r.load_id = l.load_id) from audit.load l where object = 'inventory.csv' and status = 'done'")" '1500|1000'

printf '[audit]\ncurrency = EUR\n' >gpu-audit.conf
exits 'a configuration without sources' 3 audit ingest
like 'is told' "$(cat err)" 'has no source to read'

done_testing

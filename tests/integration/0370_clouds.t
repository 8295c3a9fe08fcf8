#!/bin/sh
# GPU clouds and invoices by hand: every example of examples/clouds reads a file of its shape, to
# the last digit; quantities without money are priced by a rate card, and what it has no price for
# keeps its hours without a cost. Answers: tests/fixtures/clouds/README.md.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
pg_start

fixtures=$top/tests/fixtures/clouds
# example NAME: its section, on a copy of the fixture.
example() {
    mkdir -p "$work/$1"
    cp "$fixtures/$1.csv" "$work/$1/"
    if [ -f "$fixtures/$1-rates.csv" ]; then cp "$fixtures/$1-rates.csv" "$work/$1/"; fi
    cp "$top/examples/clouds/$1.conf" "$work/$1/gpu-audit.conf"
    ingest "$1"
}
ingest() {
    gpu-audit --config "$work/$1/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 ingest
}
# of NAME SQL: over the rows of that example: c kept, t totalled. Names of sources are looked up by path.
of() {
    pg_query "with s as (select slice_id from audit.slice join audit.source using (source_id) where location like '%/$1.csv'),
        c as (select *, quantity * unit_seconds / 3600 * case when counts_gpus then 1 else coalesce(gpu_count,
                (select y.gpu_count from audit.instance_type y where y.provider = i.provider and lower(y.instance_type) = lower(i.instance_type) limit 1)) end
                as gpu_hours from audit.billing_charge join audit.billing_item i using (slice_id, item_no) where slice_id in (select * from s)),
        t as (select * from audit.billing_total where slice_id in (select * from s)) $2"
}
money='trim_scale(coalesce((select sum(billed_cost) from c), 0) + coalesce((select sum(billed_cost) from t), 0))'
rows='(select count(*) from c) + (select coalesce(sum(row_count), 0) from t)'
rejected() {
    pg_query "select coalesce(sum(rows_rejected), 0) from audit.load where object like '%/$1.csv'"
}

for name in "$top"/examples/clouds/*.conf; do
    name=${name##*/}
    name=${name%.conf}
    ok "$name: the example reads its file" example "$name" || diag "$(cat "$work/err")"
    is "$name: nothing is rejected" "$(rejected "$name")" 0
done

is 'runpod-pods: all rows and all money' "$(of runpod-pods "select $rows, $money")" '5|7.0760000001'
is 'runpod-pods: pods' "$(of runpod-pods "select resource_id, gpu_model, gpu_count, sum(quantity), sum(billed_cost),
    min(charge_to - charge_from) from c group by 1, 2, 3 order by 1" | tr '\n' ' ')" \
    'pod-a1|H100-80GB|1|5400|4.485|01:00:00 pod-b2|A100-PCIe-80GB|1|3599.999|1.8900000001|01:00:00 pod-c3|RTX4090|1|3600|0.69|01:00:00 '
is 'runpod-gpus: GPU time is GPU time' "$(of runpod-gpus "select gpu_model, trim_scale(gpu_hours), billed_cost, charge_to - charge_from from c order by 1" | tr '\n' ' ')" \
    'H100-80GB|72|215.28|1 day L40S|24|20.64|1 day '
is 'lambda: machine hours times GPUs' "$(of lambda "select resource_id, instance_type, trim_scale(gpu_hours), billed_cost, tags->>'team' from c order by 1" | tr '\n' ' ')" \
    '0a1b|gpu_8x_h100_sxm5|96|287.04|vision 0a1c|gpu_1x_a10|0.75|0.5625|nlp 0a1d|1x H100 (80 GB PCIe)|2|4.98|nlp '
is 'lambda: a name the catalog does not have leads to its model' "$(of lambda "select gpu_model from c where resource_id = '0a1d'")" 'H100-PCIe-80GB'
is 'hyperstack: minutes, a length instead of an end' "$(of hyperstack "select gpu_model, gpu_count, trim_scale(round(gpu_hours * 60, 9)), charge_to from c order by resource_id" | tr '\n' ' ')" \
    'H100-80GB|8|720|2026-07-05 07:30:00+00 L40|1|61|2026-07-05 07:01:00+00 '
is 'hyperstack: a volume is no GPU' "$(of hyperstack "select $rows, $money, (select service from t)")" '3|28.4475|Volume'
is 'invoice: marks of thousands, decimal commas, semicolons' "$(of invoice "select $rows, $money, (select currency from c limit 1)")" '5|18070.507|EUR'
is 'invoice: lines' "$(of invoice "select resource_id, gpu_model, gpu_count, trim_scale(gpu_hours), billed_cost, tags->>'team', charge_from, charge_to from c order by 1" | tr '\n' ' ')" \
    'Cluster A|H100-SXM5-80GB|8|5952|14284.80|vision|2026-07-01 00:00:00+00|2026-08-01 00:00:00+00 Cluster B|A100-80GB|2|100.5|150.75|nlp|2026-07-01 00:00:00+00|2026-08-01 00:00:00+00 '
is 'invoice: what is no use' "$(of invoice "select charge_category, service, billed_cost from t order by billed_cost" | tr '\n' ' ')" \
    'Credit|Gutschrift|-250.25 Usage|Support|1000 Tax|USt 19 %|2885.207 '

# A rate card.
is 'fireworks: each price in its time' "$(of fireworks "select charge_from, trim_scale(gpu_hours), billed_cost, effective_cost from c where gpu_model = 'H100-80GB' order by 1" | tr '\n' ' ')" \
    '2026-07-01 10:00:00+00|2|8|8 2026-09-01 00:00:00+00|1|3.5|3.5 '
like 'fireworks: and which line said so' "$(of fireworks "select priced_by from c where billed_cost = 3.5")" 'rate card .*fireworks-rates.csv line 3: price page September'
is 'fireworks: no price is no cost, never 0' "$(of fireworks "select role, quantity, billed_cost is null, effective_cost is null, priced_by is null from c where gpu_model = 'H200'")" \
    'gpu_use|1000|t|t|t'
is 'fireworks: tokens without a price are counted as such' "$(of fireworks "select charge_class, row_count, billed_cost from t")" 'Unpriced|1|0'
is 'coreweave: FOCUS without costs' "$(of coreweave "select resource_key, charge_from, gpu_model, quantity, billed_cost from c order by region desc, 2, quantity desc" | cut -d'|' -f2- | tr '\n' ' ')" \
    '2026-07-10 00:00:00+00|H100-80GB|8|40 2026-07-10 00:00:00+00|H100-80GB|16|98.48 2026-07-10 00:00:00+00|B200-180GB|4| 2026-07-10 01:00:00+00|H100-80GB|4.5|27.6975 2026-07-20 00:00:00+00|H100-80GB|16|81.6 '
is 'coreweave: all of it' "$(of coreweave "select $rows, $money, (select sum(gpu_hours) from c)::numeric(9,1)")" '7|247.8734|48.5'
is 'coreweave: what is totalled' "$(of coreweave "select service, charge_class, row_count, billed_cost from t order by 1" | tr '\n' ' ')" \
    'Distributed File Storage||1|0.0959 Public IP|Unpriced|1|0 '

# The audit says what is computed and what has no price.
ok 'an audit of it' gpu-audit --config "$work/coreweave/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 analyze
gpu-audit --config "$work/coreweave/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 figures >"$work/figures" 2>&1
like 'figures: computed costs are said to be' "$(grep 'rate card' "$work/figures")" '247.78 *USD, computed'
like 'figures: hours without a price' "$(grep 'without a price' "$work/figures")" '4.0 *GPU-hours'
gpu-audit --config "$work/coreweave/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 figures --format json >"$work/figures.json" 2>"$work/err"
is 'figures as JSON' "$(python3 -c '
import json, sys
f = json.load(open(sys.argv[1]))
print(f["priced_by_rate_card"], f["without_a_price"], f["total"]["running_gpu_hours"], f["total"]["billed_cost"])' "$work/figures.json")" \
    "{'gpu_hours': '44.5', 'cost': '247.7775'} {'gpu_hours': '4'} 48.5 247.7775"
is 'data quality: both, with the remedy' "$(pg_query "select check_name, items, gpu_hours, cost, remedy like '%rate card%' from audit.audit_quality
    where check_name in ('priced by rate card', 'no price', 'total without a price') order by check_no" | tr '\n' ' ')" \
    'priced by rate card|2|44.5|247.7775|t no price|1|4||t total without a price|1|||t '

ok 'a workbook of it' gpu-audit --config "$work/coreweave/gpu-audit.conf" --database "$pg_url" --quarter 2026Q3 --out "$work" report

# Another rate card: the bill is read again, though its file is the same.
sed -i 's/6.155/6.000/' "$work/coreweave/coreweave-rates.csv"
ok 'a new price' ingest coreweave
is 'counts' "$(of coreweave "select sum(billed_cost) from c where quantity = 4.5")" '27'
ok 'the same card again' ingest coreweave
like 'changes nothing' "$(cat "$work/err")" 'unchanged'
printf 'CoreWeave,b200-8x,,gpu-hour,8.25,USD,2026-07-01,,offer\n' >>"$work/coreweave/coreweave-rates.csv"
ok 'the missing price' ingest coreweave
is 'ends what is unknown' "$(of coreweave "select count(*) filter (where billed_cost is null), sum(billed_cost) filter (where quantity = 4) from c")" '0|33'

# Prices end, and change within a row.
cat >"$work/coreweave/coreweave-rates.csv" <<'END'
provider,sku,region,unit,price,currency,valid_from,valid_to,source
coreweave,gd-8xh100ib-i128,,gpu-hour,6,USD,2026-07-01,2026-07-15,ended
,b200-8x,,hour,80,USD,2026-01-01,,any provider
coreweave,dfs,,GiB-Hours,1,USD,2026-07-01,2026-07-02,ended
coreweave,ip,,IP-Hours,1,EUR,2026-07-01,,another currency
END
ok 'prices that ended' ingest coreweave
is 'hold no longer' "$(of coreweave "select charge_from::date, quantity, trim_scale(billed_cost) from c where region = 'US-EAST-04' order by 1, 2" | tr '\n' ' ')" \
    '2026-07-10|4|40 2026-07-10|4.5|27 2026-07-10|16|96 2026-07-20|16| '
is 'what is only totalled is rejected then' "$(pg_query "select line, reason from audit.reject join audit.load using (load_id) where object like '%/coreweave.csv'")" \
    '7|it has no cost, and no rate that is valid for all of its time'
is 'a price in another currency is none' "$(of coreweave "select service, charge_class, currency from t")" 'Public IP|Unpriced|USD'
mkdir "$work/change"
printf 'id,start,end,hours\nacross,2026-07-14T12:00:00Z,2026-07-15T12:00:00Z,24\nbefore,2026-07-14T00:00:00Z,2026-07-15T00:00:00Z,24\n' >"$work/change/change.csv"
printf 'provider,sku,unit,price,currency,valid_from,valid_to\nx,L4,gpu-hour,1,USD,2026-07-01,2026-07-15\nx,L4,gpu-hour,2,USD,2026-07-15,\n' >"$work/change/rates.csv"
printf '[billing change]\nformat = csv\npath = change.csv\nprovider = x\nrate-card = rates.csv\nunit = gpu-hours\ngpu-type = NVIDIA L4\nsku = L4\n%s\n' \
    'column.from = start
column.to = end
column.quantity = hours
column.resource = id' >"$work/change/gpu-audit.conf"
ok 'a price that changes within a row' ingest change || diag "$(cat "$work/err")"
is 'is no price for it' "$(of change "select resource_id, billed_cost, currency from c order by 1" | tr '\n' ' ')" 'across||USD before|24|USD '

# A card that cannot be right is refused.
cp "$fixtures/coreweave-rates.csv" "$work/coreweave/"
printf 'coreweave,gd-8xh100ib-i128,,gpu-hour,7,USD,2026-07-14,,twice\n' >>"$work/coreweave/coreweave-rates.csv"
exits 'two prices for one day' 3 ingest coreweave
like 'are refused with their lines' "$(cat "$work/err")" 'coreweave-rates.csv line 6: line 3 gives a price for the same days'
printf 'provider,sku,unit,price,currency,valid_from\ncoreweave,x,hour,1.x,USD,2026-07-01\n' >"$work/coreweave/coreweave-rates.csv"
exits 'a price that is none' 3 ingest coreweave
like 'is named' "$(cat "$work/err")" 'coreweave-rates.csv line 2: price is no number'
done_testing

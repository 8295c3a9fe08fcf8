#!/bin/sh
# Money: every digit from the file to the workbook's cell; several currencies in one file, never one sum; rates by
# rule; what has no rate is unknown and named, and the rest of the audit goes on.
# Answers: tests/fixtures/money/README.md.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3
for python in /usr/bin/python3 python3 ''; do
    [ -n "$python" ] || skip_all 'no Python with openpyxl'
    "$python" -c 'import openpyxl' 2>/dev/null && break
done
pg_start

# figures NAME [CURRENCY]: ingests and audits the folder of that name; the document comes to $work/NAME.json.
figures() {
    gpu-audit --config "$work/$1/audit.conf" --database "$pg_url" --as-of 2026-12-01T00:00:00Z --quarter 2026Q3 ingest >"$work/log" 2>&1 &&
        gpu-audit --config "$work/$1/audit.conf" --database "$pg_url" --as-of 2026-12-01T00:00:00Z --quarter 2026Q3 figures --format json \
            >"$work/$1.json" 2>>"$work/log"
}
# get NAME PATH...: of that document; a step may be the key of a dictionary or the number of a member.
get() {
    python3 - "$work/$1.json" "$@" <<'PY'
import json, sys
for path in sys.argv[3:]:
    at = json.load(open(sys.argv[1]))
    for step in path.split("/"):
        at = None if at is None else at[int(step)] if isinstance(at, list) else at.get(step)
    print("null" if at is None else at, end=" ")
PY
}
conf() {
    mkdir -p "$work/$1"
    { printf '[audit]\ncurrency = %s\n\n' "$2"; cat; } >"$work/$1/audit.conf"
}
head='BillingPeriodStart,ChargePeriodStart,ChargePeriodEnd,ProviderName,BillingCurrency,ServiceName,ServiceCategory,ChargeCategory,ResourceId,ResourceType,RegionId,PricingCategory,ConsumedQuantity,ConsumedUnit,BilledCost,EffectiveCost'
# row MONTH HOUR CURRENCY MACHINE REGION COST: one hour of a machine with one GPU
row() {
    printf '2026-%s-01T00:00:00Z,2026-%s-02T%s:00:00Z,2026-%s-02T%s:59:59Z,Microsoft,%s,Virtual Machines,Compute,Usage,%s,Standard_NC24ads_A100_v4,%s,Standard,1,Hours,%s,%s\n' \
        "$1" "$1" "$2" "$1" "$2" "$3" "$4" "$5" "$6" "$6"
}

# ---------------------------------------------------------------- every digit
conf exact USD <<'END_CONF'
[billing exact]
format = focus
path = bill.csv
END_CONF
{
    echo "$head"
    row 08 00 USD vm-1 eu 1.5E+2
    row 08 01 USD vm-1 eu 2.5e-1
    row 08 02 USD vm-1 eu 0.123456789012345678901234567890
    row 08 03 USD vm-1 eu 1E-30
    echo '2026-08-01T00:00:00Z,2026-08-02T00:00:00Z,2026-08-03T00:00:00Z,Microsoft,USD,Storage,Storage,Usage,disk,,eu,Standard,1,GB,9.87654321e-3,9.87654321e-3'
} >"$work/exact/bill.csv"
ok 'E notation and thirty digits' figures exact
is 'stand in the figures, every one' "$(get exact total/gpu_cost total/billed_cost)" \
    '150.373456789012345678901234567891 150.373456789012345678901234567891 '
is 'and in the invoice' "$(get exact invoices/azure/2026-08/billed_cost invoices/azure/2026-08/kept invoices/azure/2026-08/totalled)" \
    '150.383333332222345678901234567891 150.373456789012345678901234567891 0.00987654321 '
ok 'a workbook of it' gpu-audit --config "$work/exact/audit.conf" --database "$pg_url" --as-of 2026-12-01T00:00:00Z --quarter 2026Q3 \
    report --out "$work/book"
cat >"$work/cells.py" <<'PY'
import glob, sys, openpyxl
sheet = openpyxl.load_workbook(glob.glob(sys.argv[1] + "/**/*.xlsx", recursive=True)[0])[sys.argv[2]]
rows = [[c.value for c in r if c.value is not None] for r in sheet.iter_rows()]
heads = [i for i, r in enumerate(rows) if r and r[0] == sys.argv[3]]
for row in rows[heads[0] + 1:]:
    if not row:
        break
    if row[0] not in ("Provider", "Source"):
        print(*row[:int(sys.argv[4])], sep="|")
PY
is 'its cells are those numbers' "$("$python" "$work/cells.py" "$work/book" 'Data quality' Invoices 7)" \
    'azure|2026-08|USD|150.38|150.37|0.01|agrees'

# ---------------------------------------------------------------- several currencies, some without a rate
conf mixed USD <<'END_CONF'
[billing mixed]
format = focus
path = bill.csv

[inventory cellar]
path = inventory.csv

[fx rates]
path = fx.csv

[model plan]
path = model.csv
END_CONF
{
    echo "$head"
    row 08 00 USD vm-us us 10
    row 08 00 EUR vm-eu eu 10
    row 08 00 CHF vm-ch ch 7
    row 08 00 GBP vm-uk uk 5
    row 09 00 EUR vm-eu eu 10
} >"$work/mixed/bill.csv"
printf 'asset,host,gpu_model,gpu_count,site,in_service_from,in_service_to,cost_per_hour,currency\nbox,box,A100-80GB,1,zurich,2026-08-31T22:00:00Z,2026-09-01T01:00:00Z,1,CHF\n' >"$work/mixed/inventory.csv"
printf 'month,from_currency,to_currency,rate\n2026-08,EUR,USD,1.1\n2026-09,EUR,USD,1.2\n2026-08,USD,CHF,0.9\n' >"$work/mixed/fx.csv"
printf 'metric,scope,value,tolerance_pct\ncost,all,33,10\ncost,region:eu,23,1\n' >"$work/mixed/model.csv"
ok 'four currencies in one file' figures mixed || diag "$(cat "$work/log")"
is 'each is converted once, by its month; what has no rate is left out' "$(get mixed total/running_gpu_hours total/effective_cost total/gpu_cost)" '8 33 33 '
is 'and is unknown where it stands alone' "$(get mixed by_region/ch/gpu_cost by_region/uk/billed_cost by_region/ch/running_gpu_hours by_region/eu/gpu_cost)" 'null null 1 23 '
is 'a price of half the money is none' "$(get mixed total/cost_per_provisioned_gpu_hour by_region/eu/cost_per_provisioned_gpu_hour by_region/us/cost_per_provisioned_gpu_hour)" \
    'null 11.5 10 '
is 'what is left out is told by month and currency' "$(get mixed without_a_rate)" \
    "[{'month': '2026-08', 'currency': 'CHF', 'billed_cost': '9', 'effective_cost': '9'}, {'month': '2026-08', 'currency': 'GBP', 'billed_cost': '5', 'effective_cost': '5'}, {'month': '2026-09', 'currency': 'CHF', 'billed_cost': '1', 'effective_cost': '1'}] "
is 'no sum is taken across currencies' "$(python3 -c 'import json, sys
print(*(k + ":" + v["billed_cost"] for k, v in sorted(json.load(open(sys.argv[1]))["invoices"]["azure"].items())))' "$work/mixed.json")" \
    '2026-08 CHF:7 2026-08 EUR:10 2026-08 GBP:5 2026-08 USD:10 2026-09:10'
last="audit_id = (select max(audit_id) from audit.audit)"
is 'data quality names it, with the lines to give' "$(pg_query "select finding, items, remedy from audit.audit_quality where $last and check_name = 'currency without a rate'")" \
    'money that is missing in every figure: 9 CHF of 2026-08, 5 GBP of 2026-08, 1 CHF of 2026-09|4|Give the rates in an [fx] file: 2026-08,CHF,USD,RATE; 2026-08,GBP,USD,RATE; 2026-09,CHF,USD,RATE'
is 'no verdict on a sum that lacks a part' "$(pg_query "select scope_key, verdict from audit.audit_assumption where $last order by line" | tr '\n' ' ')" \
    '|not enough evidence eu|holds '
gpu-audit --config "$work/mixed/audit.conf" --database "$pg_url" --as-of 2026-12-01T00:00:00Z --quarter 2026Q3 figures >"$work/head" 2>&1
like 'the figures for people say so' "$(grep 'without a rate' "$work/head")" '9 CHF of 2026-08, 5 GBP of 2026-08, 1 CHF of 2026-09 .*missing in every figure'
gpu-audit --config "$work/mixed/audit.conf" --database "$pg_url" --as-of 2026-12-01T00:00:00Z --quarter 2026Q3 report --out "$work/mixed-book" >"$work/log" 2>&1
like 'so does the first page of the workbook' "$("$python" -c 'import glob, sys, openpyxl
for row in openpyxl.load_workbook(glob.glob(sys.argv[1] + "/**/*.xlsx", recursive=True)[0])["Summary"].iter_rows(values_only=True):
    print(*(v for v in row if v is not None))' "$work/mixed-book")" 'Missing in every figure of money, for want of a rate: 9.00 CHF of 2026-08'
is 'and its list of rates' "$("$python" "$work/cells.py" "$work/mixed-book" 'Data quality' 'Exchange rates' 4 | grep -c '^billing mixed|2026-0[89]|EUR|1.[12]$')" 2
sed -i 's/^2026-08,USD,CHF.*/2026-08,CHF,USD,1.1\n2026-09,CHF,USD,1.2\n2026-08,GBP,USD,1.3/' "$work/mixed/fx.csv"
ok 'with the missing rates' figures mixed
is 'nothing is missing: 33 + 9 x 1.1 + 1.2 + 5 x 1.3' "$(get mixed total/gpu_cost without_a_rate total/cost_per_provisioned_gpu_hour)" '50.6 null 6.325 '

# ---------------------------------------------------------------- the rate that a bill carries
mca() { # NAME CURRENCY RATE...: four days at 10 euros, each with its rate
    conf "$1" "$2" <<'END_CONF'
[billing mca]
format = azure
path = bill.csv

[fx rates]
path = fx.csv
END_CONF
    mca_file=$work/$1/bill.csv
    shift 2
    echo 'SubscriptionId,subscriptionName,date,product,meterCategory,meterName,unitOfMeasure,quantity,costInBillingCurrency,billingCurrency,costInPricingCurrency,pricingCurrency,exchangeRatePricingToBilling,billingPeriodStartDate,billingPeriodEndDate,resourceLocation,consumedService,ResourceId,additionalInfo,chargeType,pricingModel' >"$mca_file"
    mca_day=11
    for rate in "$@"; do
        printf '%s,Europe,08/%s/2026,VM,Virtual Machines,NC40ads H100 v5,1 Hour,1,10,EUR,10,USD,%s,08/01/2026,08/31/2026,francecentral,Microsoft.Compute,%s,"{""ServiceType"":""Standard_NC40ads_H100_v5""}",Usage,OnDemand\n' \
            0b0b0b0b-0000-4000-8000-000000000002 "$mca_day" "$rate" /subscriptions/0B/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/m1 >>"$mca_file"
        mca_day=$((mca_day + 1))
    done
    echo 'month,from_currency,to_currency,rate' >"${mca_file%/*}/fx.csv"
}
fx() {
    echo "$2" >>"$work/$1/fx.csv"
}
how_of() {
    get "$1" rates/0/rate rates/0/how
}
mca own USD 0.8 0.9 0.8 0.8
ok 'a bill with rates of its own' figures own || diag "$(cat "$work/log")"
is 'the most frequent, turned round: 40 / 0.8' "$(get own total/gpu_cost)" '50 '
is 'and how' "$(how_of own)" "1.25 the bill's own: USD to EUR 0.8, turned round, the most frequent of 2 from 0.8 to 0.9 "
like 'several are a finding' "$(pg_query "select finding from audit.audit_quality where $last and check_name = 'several rates in a bill'")" 'billing mca 2026-08 EUR: .* of 2 from 0.8 to 0.9'
fx own 2026-08,EUR,USD,1.1
ok 'a rate that the user gives' figures own
is 'wins: 40 x 1.1' "$(get own total/gpu_cost rates/0/how)" '44 given: EUR to USD 1.1 '
mca wrong USD 0.8
fx wrong 2026-08,USD,EUR,0.5
ok 'a given rate of the other direction' figures wrong
is 'is not turned round; the bill'"'"'s own is' "$(get wrong total/gpu_cost)" '12.5 '
mca tie USD 0.9 0.8 0.9 0.8
ok 'two rates, equally frequent' figures tie
is 'the lowest' "$(get tie rates/0/rate total/gpu_cost)" '1.25 50 '
mca ninth USD 0.9 0.9
ok 'a rate that turned round has no end' figures ninth
is 'has twenty decimals' "$(get ninth rates/0/rate total/gpu_cost)" '1.11111111111111111111 22.2222222222222222222 '
mca cross GBP 0.8 0.8 0.8 0.8
fx cross 2026-08,USD,GBP,0.75
ok 'a third currency' figures cross
is 'through the one that both have: 40 / 0.8 x 0.75' "$(get cross total/gpu_cost)" '37.5 '
is 'and how' "$(get cross rates/0/how)" "through USD; the bill's own: USD to EUR 0.8, turned round; given: USD to GBP 0.75 "
fx cross 2026-08,EUR,CHF,0.95
fx cross 2026-08,CHF,GBP,0.9
ok 'two ways' figures cross
is 'are none' "$(get cross total/gpu_cost rates/0/rate rates/0/how)" 'null null no rate of EUR to GBP: CHF and USD would both do, so none is taken '
fx cross 2026-08,EUR,GBP,0.7
ok 'until the pair itself is given' figures cross
is 'which wins over every way' "$(get cross total/gpu_cost)" '28 '
mca month USD 0.8
sed -i 's/,0\.8,08/,,08/' "$work/month/bill.csv"
fx month 2026-07,EUR,USD,1.1
ok 'a rate of another month' figures month
is 'is none: the one figure is unknown, its hours are not' "$(get month total/gpu_cost total/running_gpu_hours)" 'null 1 '
done_testing

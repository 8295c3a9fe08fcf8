#!/bin/sh
# One machine under one id, one account under one name, tags whose keys are one; and instance types that nobody
# knows: their money counts, their GPU-hours are unknown, and the line that makes them known is given.
# Answers: tests/fixtures/money/README.md.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3
pg_start

now=2026-12-01T00:00:00Z
# figures NAME: ingests and audits the folder of that name; the document comes to $work/NAME.json.
figures() {
    gpu-audit --config "$work/$1/audit.conf" --database "$pg_url" --as-of $now --quarter 2026Q3 ingest >"$work/log" 2>&1 &&
        gpu-audit --config "$work/$1/audit.conf" --database "$pg_url" --as-of $now --quarter 2026Q3 figures --format json >"$work/$1.json" 2>>"$work/log"
}
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
last='audit_id = (select max(audit_id) from audit.audit)'
head='BillingPeriodStart,ChargePeriodStart,ChargePeriodEnd,ProviderName,BillingCurrency,ServiceName,ServiceCategory,ChargeCategory,ChargeDescription,SubAccountId,SubAccountName,ResourceId,ResourceType,RegionId,PricingCategory,ConsumedQuantity,ConsumedUnit,BilledCost,EffectiveCost,SkuPriceDetails,Tags'
# row MONTH HOUR PROVIDER ACCOUNT NAME ID TYPE COST DETAILS TAGS: an hour; the last two are JSON with doubled quotes
row() {
    case $3 in AWS) service='Amazon Elastic Compute Cloud' ;; Microsoft) service='Virtual Machines' ;; *) service='Compute Engine' ;; esac
    printf '2026-%s-01T00:00:00Z,2026-%s-02T%s:00:00Z,2026-%s-02T%s:59:59Z,%s,USD,%s,Compute,Usage,%s Instance Hour,%s,%s,%s,%s,r,Standard,1,Hours,%s,%s,"%s","%s"\n' \
        "$1" "$1" "$2" "$1" "$2" "$3" "$service" "$7" "$4" "$5" "$6" "$7" "$8" "$8" "${9:-}" "${10:-}"
}
bill() {
    mkdir -p "$work/$1"
    { echo "$head"; cat; } >"$work/$1/bill.csv"
    printf '[audit]\ncurrency = USD\n\n[billing %s]\nformat = focus\npath = bill.csv\n\n[tags]\nteam = team\n' "$1" >"$work/$1/audit.conf"
}

# ---------------------------------------------------------------- one machine, one account
vm=/subscriptions/S-1/resourceGroups/RG/providers/Microsoft.Compute
{
    row 07 00 AWS 111 Research i-0ABC g5.xlarge 1
    row 08 00 AWS 111 'Research and Development' arn:aws:ec2:us-east-1:111:instance/i-0abc g5.xlarge 1
    row 08 01 AWS 111 'Research and Development' i-0abc g5.xlarge 1
    row 08 02 AWS 222 Ops i-0def g5.xlarge 1
    row 08 00 Microsoft s-1 Sub "$vm/virtualMachines/GPU-1" Standard_NC24ads_A100_v4 1
    row 08 01 Microsoft s-1 Sub "$vm/virtualmachines/gpu-1" Standard_NC24ads_A100_v4 1
    row 08 00 Microsoft s-1 Sub "$vm/virtualMachineScaleSets/AKS-1" Standard_NC24ads_A100_v4 1
} | bill ids
cat >"$work/ids/hosts.csv" <<'END_HOSTS'
host,provider,resource_id
a,aws,aws:///us-east-1a/i-0abc
b,azure,azure:///subscriptions/s-1/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/gpu-1
c,azure,azure:///subscriptions/s-1/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/aks-1/virtualMachines/3
END_HOSTS
printf '\n[binding hosts]\npath = hosts.csv\n' >>"$work/ids/audit.conf"
ok 'ids in several forms' figures ids || diag "$(cat "$work/log")"
is 'four machines' "$(get ids total/instances by_provider/aws/instances by_provider/azure/instances)" '4 2 2 '
is 'the ids of hosts are those of the bill' "$(pg_query "select b.host, count(distinct i.resource_key) from audit.host_binding b
    left join audit.billing_item i on i.provider = b.provider and i.resource_key = b.resource_key group by 1 order by 1" | tr '\n' ' ')" 'a|1 b|1 c|1 '
is 'a renamed account is one' "$(pg_query "select account, count(distinct resource_key) from audit.audit_subject where $last and provider = 'aws' group by 1 order by 1" | tr '\n' ' ')" \
    '111|1 222|1 '
is 'and shows by its newest name' "$(pg_query "select account_id, account_name, first_period from audit.billing_account where provider = 'aws' order by 1" | tr '\n' ' ')" \
    '111|Research and Development|2026-07 222|Ops|2026-08 '
like 'which is said' "$(pg_query "select finding from audit.audit_quality where $last and check_name = 'renamed account'")" \
    '^aws 111: Research, Research and Development$'

# ---------------------------------------------------------------- tags
{
    row 08 00 AWS 1 A i-1 g5.xlarge 5 '' '{""team"": ""Vision"", ""Team"": ""NLP"", ""user_team"": ""ops""}'
    row 08 00 AWS 1 A i-2 g5.xlarge 4 '' '{""Team"": ""NLP"", ""user:team"": ""zeta""}'
    row 08 00 AWS 1 A i-3 g5.xlarge 3 '' '{""Team"": ""NLP"", ""TEAM "": ""Ops""}'
    row 08 00 AWS 1 A i-4 g5.xlarge 2 '' '{""team"": ""vision"", ""Team"": ""Vision""}'
    row 08 00 AWS 1 A i-5 g5.xlarge 1 '' '{""team"": """", ""Team"": ""NLP""}'
    row 08 00 AWS 1 A i-6 g5.xlarge 7 '' '{""team"": ""Vision"", ""owner"": ""x"", ""Owner"": ""y""}'
} | bill tags
ok 'tags that contradict each other' figures tags || diag "$(cat "$work/log")"
is 'the key of the configuration, then one without a prefix, then the alphabet' \
    "$(get tags by_team/Vision/effective_cost by_team/NLP/effective_cost by_team/Ops/effective_cost)" '14 5 3 '
pg_query "select resource_id, tag, spellings, taken, why, cost from audit.audit_tag_collision where $last order by 1" >"$work/collisions"
cat >"$work/wanted" <<'END_WANTED'
i-1|team|team = Vision; Team = NLP; user_team = ops|Vision|its key is written as in the configuration|5
i-2|team|Team = NLP; user:team = zeta|NLP|its key has no provider's prefix|4
i-3|team|TEAM  = Ops; Team = NLP|Ops|their keys are equally good: the last value in alphabetical order|3
i-6|owner|Owner = y; owner = x||no figure goes by this tag|7
END_WANTED
same 'every collision, what was taken and why; equal values are none' "$work/collisions" "$work/wanted"
is 'data quality counts them, with their money' "$(pg_query "select items, cost from audit.audit_quality where $last and check_name = 'tag collision'")" '4|12'
is 'spellings across resources are listed' "$(pg_query "select finding from audit.audit_quality where $last and check_name = 'tag in several spellings'")" \
    'Owner (1), owner (1); Team (5), team (4), TEAM  (1), user:team (1), user_team (1)'
is 'tags stay as they were delivered' "$(pg_query "select tags->>'TEAM ' from audit.billing_item where resource_id = 'i-3'")" 'Ops'

# ---------------------------------------------------------------- instance types that nobody knows
{
    row 08 00 AWS 1 A i-1 p9.96xlarge 100
    row 08 01 AWS 1 A i-1 p9.96xlarge 100
    row 08 02 AWS 1 A i-1 p9.96xlarge 100
    row 08 00 AWS 1 A i-2 g5.xlarge 1
} | bill without
ok 'a type without a number of GPUs' figures without || diag "$(cat "$work/log")"
is 'its money is in every figure of money' "$(get without total/gpu_cost total/billed_cost 'by_model/unknown (p9.96xlarge)/gpu_cost' total/unknown_cost)" '301 301 300 301 '
is 'its hours are unknown, not zero' "$(get without 'by_model/unknown (p9.96xlarge)/running_gpu_hours' 'by_model/unknown (p9.96xlarge)/provisioned_gpu_hours')" 'null null '
is 'what is known counts, and prices are unknown where hours lack' "$(get without total/running_gpu_hours total/cost_per_provisioned_gpu_hour by_model/A10G/cost_per_provisioned_gpu_hour)" '1 null 1 '
is 'it is listed with instance-hours and cost' "$(get without unknown_instance_types)" \
    "[{'provider': 'aws', 'instance_type': 'p9.96xlarge', 'gpu_count': None, 'instance_hours': '3', 'gpu_hours': None, 'billed_cost': '300', 'effective_cost': '300'}] "
gpu-audit --config "$work/without/audit.conf" --database "$pg_url" --as-of $now --quarter 2026Q3 figures >"$work/head" 2>&1
like 'figures for people name it' "$(grep 'unknown types' "$work/head")" 'aws p9.96xlarge .*GPU-hours missing, cost is in'
gpu-audit --config "$work/without/audit.conf" --database "$pg_url" --as-of $now --quarter 2026Q3 status >"$work/status" 2>&1
like 'so does status, with the line to add' "$(grep 'p9.96xlarge' "$work/status")" '3.0 .*unknown .*300.00 .*aws,p9.96xlarge,MODEL,GPUS'
line=$(gpu-audit --config "$work/without/audit.conf" --database "$pg_url" --as-of $now --quarter 2026Q3 status --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["unknown_instance_types"][0]["catalog_line"])')
like 'data quality gives the same line' "$(pg_query "select remedy from audit.audit_quality where $last and check_name = 'unknown instance type'")" "gpu_count: $line\$"
{
    echo 'provider,instance_type,gpu_model,gpu_count'
    echo "$line" | sed 's/MODEL/B200-180GB/; s/GPUS/16/'
} >"$work/without/types.csv"
printf '\n[prices mine]\npath = types.csv\n' >>"$work/without/audit.conf"
ok 'filled in, it is a catalog' figures without || diag "$(cat "$work/log")"
is 'and the type is known' "$(get without total/running_gpu_hours total/cost_per_provisioned_gpu_hour unknown_instance_types)" '49 6.1428571429 null '

{
    row 08 00 AWS 1 A i-1 p9.96xlarge 100 '{""InstanceType"": ""p9.96xlarge"", ""GpuCount"": 16}'
    row 08 01 AWS 1 A i-1 p9.96xlarge 100 '{""InstanceType"": ""p9.96xlarge"", ""GpuCount"": 16}'
} | bill with
ok 'a type with the number of GPUs that the bill says' figures with || diag "$(cat "$work/log")"
is 'has hours by that word' "$(get with total/running_gpu_hours total/cost_per_provisioned_gpu_hour 'by_model/unknown (p9.96xlarge)/gpus')" '32 6.25 16 '
is 'and is listed still' "$(get with unknown_instance_types/0/gpu_hours unknown_instance_types/0/instance_hours unknown_instance_types/0/gpu_count)" '32 2 16 '
is 'with the line, its number filled in' "$(pg_query "select catalog_line from audit.audit_unknown_type where $last")" 'aws,p9.96xlarge,MODEL,16'
done_testing

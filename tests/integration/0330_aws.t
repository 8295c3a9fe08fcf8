#!/bin/sh
# AWS cost and usage reports: every line item type and usage type, legacy and CUR 2.0, against answers
# worked out by hand in tests/fixtures/aws/README.md.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/estate.sh"
need gpu-audit python3
fixtures=$top/tests/fixtures/aws
fresh_home one

# bill NAME FORMAT PATH [LINE]: a configuration of one bill.
bill() {
    printf '[audit]\ncurrency = USD\n[billing %s]\nformat = %s\npath = %s\n%s\n' "$1" "$2" "$3" "${4:-}" >"$work/$1.conf"
}

# take NAME: ingests and prints figures; what ingest said is in $work/said.
take() {
    audit "$work/$1.conf" 2026Q3 ingest >"$work/said" 2>&1
    taken=$?
    audit "$work/$1.conf" 2026Q3 figures --format json >"$work/figures.json" 2>"$work/err" || diag "$(cat "$work/err")"
    return $taken
}

query() {
    gpu-audit sql "$1" --format csv | tr -d '\r' | sed 1d
}

# rows_are_true NAME FILE: every row of the file became what rows.csv says.
rows_are_true() {
    query "SELECT l.line, l.role, trim_scale(l.gpu_hours), trim_scale(l.billed_cost), trim_scale(l.effective_cost)
           FROM audit.billing_line l JOIN audit.source s USING (source_id) WHERE s.name = '$1' ORDER BY l.line, l.role" >"$work/lines.csv"
    python3 -c '
import csv, sys
name = {str(n): row["identity/LineItemId"] if "identity/LineItemId" in row else row["identity_line_item_id"]
        for n, row in enumerate(csv.DictReader(open(sys.argv[1])), 2)}
got = [",".join([name[r[0]]] + r[1:]) for r in csv.reader(open(sys.argv[2]))]
want = [",".join(r) for r in csv.reader(open(sys.argv[3])) if r[1] not in ("role", "totalled", "rejected")]
print("\n".join(["- " + r for r in want if r not in got] + ["+ " + r for r in got if r not in want] + [str(len(got) == len(want))]))
' "$2" "$work/lines.csv" "$fixtures/rows.csv" >"$work/rows"
    is "$1: every row is what it is" "$(cat "$work/rows")" True
}

# sums NAME: of the figures just printed.
sums() {
    printf '%s %s %s %s %s %s %s' "$(figure total running_gpu_hours)" "$(figure total corrected_gpu_hours)" \
        "$(figure total unused_commitment_gpu_hours)" "$(figure total billed_cost)" "$(figure total effective_cost)" \
        "$(figure total unused_commitment_cost)" "$(figure total gpus)/$(figure total instances)"
}
invoice() {
    for key in rows rejected kept totalled billed_cost gpu_use gpu_corrections commitment_purchases; do
        printf '%s ' "$(figure invoices aws "$1" $key)"
    done
}
gross='153.375 -3 817 292.56 681.78 3083.2068 104.125/25'
august='75 1 10117.1188 157.90374 10275.02254 297.078 -2.506 9557 '

bill legacy aws-cur "$fixtures/legacy.csv"
ok 'legacy: is taken in' take legacy
like 'legacy: every row is kept, totalled or rejected' "$(cat "$work/said")" 'done +75 +47 +27 +1 '
like 'legacy: the rejected one is named' "$(cat "$work/said")" 'legacy.csv line 76: UnblendedCost is no number'
rows_are_true legacy "$fixtures/legacy.csv"
is 'legacy: the figures' "$(sums)" "$gross"
is 'legacy: the invoice of August' "$(invoice 2026-08)" "$august"
is 'legacy: the invoice of September, in the same file' "$(invoice 2026-09)" '1 0 -2.012 0 -2.012 0 -2.012 0 '
is 'legacy: a host has money, its machines the hours' \
    "$(figure by_model T4 running_gpu_hours) $(figure by_model T4 billed_cost) $(figure by_model T4 gpus)" '12 11.551 12'
is 'legacy: the bill says the GPUs of a type nobody knows' \
    "$(figure by_model 'unknown (x9g.8xlarge)' running_gpu_hours) $(figure by_model 'unknown (x9g.8xlarge)' effective_cost)" '4 12'
is 'legacy: spot' "$(figure by_pricing spot running_gpu_hours) $(figure by_pricing spot billed_cost)" '1 0.4512'
is 'legacy: committed' "$(figure by_pricing committed running_gpu_hours) $(figure by_pricing committed effective_cost)" '68 389.22'
is 'legacy: teams by tag' "$(figure by_team vision running_gpu_hours) $(figure by_team nlp running_gpu_hours)" '32 40'
is 'legacy: a row with the dates of its month is in its hour' "$(query "SELECT to_char(charge_from, 'DD HH24') || '-' || to_char(charge_to, 'DD HH24')
    FROM audit.billing_line WHERE billing_period = '2026-08' AND effective_cost = 1.006 AND role = 'gpu_use'")" '06 05-06 06'

commitment() {
    python3 -c '
import json, sys
[c] = [c for c in json.load(open(sys.argv[1]))["commitments"] if c["id"].endswith(sys.argv[2])]
print(*(c[k] for k in ("bought", "used_gpu_hours", "used_cost", "unused_gpu_hours", "unused_cost", "gpu_share")))' "$work/figures.json" "$1"
}
is 'a reservation, used and unused' "$(commitment ri-p4d)" '5500 8 19.22 24 57.66 1'
is 'a savings plan: the GPU share of what it left unused' "$(commitment sp-compute)" '200 16 120 0 30 0.75'
is 'a capacity reservation: what ran and what stood idle' "$(commitment cr-0000000000000001)" '0 16 65.5452 64 262.1808 1'
is 'a Capacity Block: fee less refund, by the hour' "$(commitment cr-b100000000000000)" '2880 40 150 728 2730 1'
is 'a Capacity Block by the hours that ran' "$(commitment cr-c100000000000000)" '100 4 100 0 0 1'
is 'a Capacity Block nobody knows the hours of is said to be one' \
    "$(query "SELECT items, cost FROM audit.audit_quality WHERE check_name = 'capacity block not spread'")" '1,77'
exits 'and may be asked about' 1 audit "$work/legacy.conf" 2026Q3 analyze --fail-on capacity-block-not-spread
is 'teams share the block by their hours' \
    "$(figure by_team nlp effective_cost)" 210

pods() {
    query "SELECT parent_key, cluster, namespace, pod, is_accelerator, usage, split_cost, unused_cost FROM audit.pod_share JOIN audit.slice USING (slice_id)
           JOIN audit.source s USING (source_id) WHERE s.name = '$1' ORDER BY 1, 5"
}
shares='i-00000000000000001,ml,training,trainer-0,f,12,1.2,0.4
i-00000000000000001,ml,training,trainer-0,t,6,22.94082,2.458
i-00000000000000009,batch,,abcdef,t,1,1.006,0'
is 'pods and tasks: their shares of machines with GPUs, no others' "$(pods legacy)" "$shares"
is 'an account, a zone and tags of every kind' "$(query "SELECT account_id, zone, region, tags::text FROM audit.billing_line l JOIN audit.source s USING (source_id)
    WHERE s.name = 'legacy' AND resource_id = 'i-00000000000000001' AND role = 'gpu_use'")" \
    '222233334444,us-west-2a,us-west-2,"{""user:Env"": ""prod"", ""user:team"": ""vision"", ""CostCenter"": ""GPU""}"'
cp "$work/figures.json" "$work/legacy.json"

# The same charges as CUR 2.0, whichever format the section names.
bill gross aws-cur2 "$fixtures/cur2.csv" 'cost = unblended'
ok 'CUR 2.0: is taken in' take gross
rows_are_true gross "$fixtures/cur2.csv"
is 'CUR 2.0: the same figures' "$(sums)" "$gross"
is 'CUR 2.0: the same invoice' "$(invoice 2026-08)" "$august"
is 'CUR 2.0: the same pods' "$(pods gross)" "$shares"
is 'CUR 2.0: tags of three maps, the first of two values' "$(query "SELECT account_name, tags::text FROM audit.billing_line l JOIN audit.source s USING (source_id)
    WHERE s.name = 'gross' AND resource_id = 'i-00000000000000001' AND role = 'gpu_use'")" \
    'ml,"{""user_Env"": ""prod"", ""user_team"": ""vision"", ""CostCenter"": ""GPU"", ""accountTag/owner"": ""ml-platform""}"'
like 'CUR 2.0: the other value is spoken of' "$(cat "$work/said")" 'tag \("user_team" first\)'
bill wrong aws-cur "$fixtures/cur2.csv" 'cost = unblended'
take wrong
is 'CUR 2.0 where a legacy report is named' "$(sums)" "$gross"
bill wronger aws-cur2 "$fixtures/legacy.csv"
take wronger
is 'a legacy report where CUR 2.0 is named' "$(sums)" "$gross"

# Net costs: the discount is in the price, not beside it, and the invoice is the same.
bill gross aws-cur2 "$fixtures/cur2.csv"
ok 'net: another cost reads everything again' take gross
is 'net: the discount is in the price' "$(sums)" '153.375 -3 817 289.28274 678.50274 3083.2068 104.125/25'
is 'net: the invoice is the same' "$(invoice 2026-08)" '75 1 10113.84154 161.181 10275.02254 293.80074 -2.506 9557 '
unlike 'net: nothing is counted twice' "$(cat "$work/said")" 'twice'
python3 -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for row in rows:
    if row["line_item_line_item_type"] == "EdpDiscount":
        row["line_item_net_unblended_cost"] = ""
out = csv.DictWriter(open(sys.argv[2], "w"), rows[0]); out.writeheader(); out.writerows(rows)' "$fixtures/cur2.csv" "$work/twice.csv"
bill twice aws-cur2 "$work/twice.csv"
take twice
like 'net: a discount that may be counted twice is spoken of' "$(cat "$work/said")" '1 rows of discounts have no net cost'
bill neither aws-cur "$fixtures/legacy.csv" 'cost = blended'
exits 'cost is net or unblended' 3 audit "$work/neither.conf" 2026Q3 ingest

# Capacity Blocks in other shapes. changed FILE EXPRESSION: the legacy report with each row r changed.
changed() {
    python3 -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
for r in rows:
    exec(sys.argv[3], {"r": r, "name": r["identity/LineItemId"]})
out = csv.DictWriter(open(sys.argv[2], "w"), rows[0]); out.writeheader(); out.writerows(rows)' "$fixtures/legacy.csv" "$1" "$2"
}
changed "$work/day.csv" '
if name == "block-use-a1":
    r.update({"lineItem/UsageStartDate": "2026-08-11T00:00:00Z", "lineItem/UsageEndDate": "2026-08-12T00:00:00Z", "lineItem/UsageAmount": "24"})'
bill day aws-cur "$work/day.csv"
take day
is 'a block whose hours come as a day: 24 + 4 of 96 hours at 30' "$(commitment cr-b100000000000000)" '2880 224 840 544 2040 1'
is 'and each hour of the day bears its share' "$(figure total effective_cost) $(figure by_team nlp effective_cost)" '1371.78 900'
changed "$work/unbound.csv" 'r["capacityReservation/CapacityReservationArn"] = ""'
bill unbound aws-cur "$work/unbound.csv"
take unbound
is 'where no row names its reservation, free hours of the type within its time are the block' \
    "$(figure total effective_cost) $(commitment cr-b100000000000000)" '581.78 2880 0 0 728 2730 1'
changed "$work/idle.csv" '
if name == "block-use-b2":
    r.update({"lineItem/UsageType": "USE2-UnusedBox:p5.48xlarge", "lineItem/ResourceId": r["capacityReservation/CapacityReservationArn"], "lineItem/UsageAmount": "4"})'
bill idle aws-cur "$work/idle.csv"
take idle
is 'where the bill has idle hours, they and those that ran are the block: 8 hours at 360' "$(commitment cr-b100000000000000)" '2880 32 1440 32 1440 1'
changed "$work/early.csv" '
if name.startswith("block-fee") or name.startswith("block-refund"):
    r["lineItem/LineItemType"] = "Credit"'
bill early aws-cur "$work/early.csv"
take early
is 'hours of a block whose fee no bill has are said to be free' \
    "$(query "SELECT items, trim_scale(gpu_hours) FROM audit.audit_quality q JOIN audit.audit a USING (audit_id) WHERE check_name = 'capacity block without a fee'")" '2,40'

# Columns as Athena spells them, in another order, and a delivery that shrinks.
python3 -c '
import csv, re, sys
rows = list(csv.DictReader(open(sys.argv[1])))
snake = lambda name: re.sub("_+", "_", re.sub("([a-z0-9])([A-Z])", r"\1_\2", re.sub("[^A-Za-z0-9]", "_", name))).lower()
names = sorted(rows[0], key=lambda n: n[::-1])
special = {"reservation/ReservationARN": "reservation_reservation_a_r_n", "savingsPlan/SavingsPlanArn": "savings_plan_savings_plan_a_r_n"}
out = csv.writer(open(sys.argv[2], "w")); out.writerow([special.get(n, snake(n)) for n in names])
out.writerows([r[n] for n in names] for r in rows)' "$fixtures/legacy.csv" "$work/athena.csv"
bill athena aws-cur "$work/athena.csv"
ok 'as Athena spells it: is taken in' take athena
is 'as Athena spells it: the same figures' "$(sums)" "$gross"
is 'as Athena spells it: teams by tag' "$(figure by_team vision running_gpu_hours)" 32
grep -v 'trainer-0' "$work/athena.csv" >"$work/less.csv"
mv "$work/less.csv" "$work/athena.csv"
ok 'a shorter delivery: is taken in' take athena
is 'a shorter delivery: its pods take the place of the others' "$(pods athena)" 'i-00000000000000009,batch,,abcdef,t,1,1.006,0'

# What a report lacks is said, never made up.
grep -v 'sp-negation,' "$fixtures/legacy.csv" >"$work/negation.csv"
bill negation aws-cur "$work/negation.csv"
take negation
like 'Negation rows that are missing' "$(cat "$work/said")" '196.64 USD are not taken back by SavingsPlanNegation'
is 'then the invoice is the sum of the file all the same' "$(figure invoices aws 2026-08 billed_cost)" 10471.66254
python3 -c '
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
gone = ("savingsPlan/UsedCommitment", "reservation/EffectiveCost")
out = csv.DictWriter(open(sys.argv[2], "w"), [n for n in rows[0] if n not in gone], extrasaction="ignore"); out.writeheader()
out.writerows(rows)' "$fixtures/legacy.csv" "$work/blind.csv"
bill blind aws-cur "$work/blind.csv"
take blind
like 'fees that do not say what was unused' "$(cat "$work/said")" '1 recurring fees do not say what of them was unused'
is 'a reservation whose cost the report leaves out has an unknown one' "$(query "SELECT l.effective_cost IS NULL, trim_scale(l.gpu_hours) FROM audit.billing_line l
    JOIN audit.source s USING (source_id) WHERE s.name = 'blind' AND l.resource_id = 'i-00000000000000006'")" 't,8'
sed -e 's/x9g.8xlarge/p9.999xlarge/g' -e '/p9.999xlarge/s/,4,p9/,,p9/' "$fixtures/legacy.csv" >"$work/unknown.csv"
bill unknown aws-cur "$work/unknown.csv"
take unknown
is 'a type nobody knows is listed with its cost, never dropped, never zero' \
    "$(figure by_model 'unknown (p9.999xlarge)' running_gpu_hours) $(figure by_model 'unknown (p9.999xlarge)' effective_cost) $(figure total billed_cost)" 'None 12 292.56'
is 'and named among the faults' "$(query "SELECT finding, cost FROM audit.audit_quality WHERE check_name = 'unknown instance type' AND finding LIKE '%p9%'")" \
    'not in the catalog: p9.999xlarge,12'
sed 's|lineItem/UnblendedCost|lineItem/Cost|' "$fixtures/legacy.csv" >"$work/column.csv"
bill column aws-cur "$work/column.csv"
exits 'a column that must be there' 4 audit "$work/column.conf" 2026Q3 ingest
like 'is named by both its names' "$(cat "$work/err")" 'line_item_unblended_cost'
done_testing

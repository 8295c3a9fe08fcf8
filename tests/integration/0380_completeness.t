#!/bin/sh
# Is a bill whole, and has its provider closed it? What that makes of an audit, and what a later bill changes of
# one. Answers: tests/fixtures/money/README.md.
. "${0%/*}/../lib/tap.sh"
. "${0%/*}/../lib/pg.sh"
need python3
pg_start

# The bills of README.md, one folder a source.
python3 - "$work" <<'PY'
import os, sys
from datetime import date, datetime, timedelta, timezone
HEAD = ("BillingPeriodStart,ChargePeriodStart,ChargePeriodEnd,ProviderName,BillingCurrency,ServiceName,ServiceCategory,ChargeCategory,ChargeClass,"
        "ResourceId,ResourceType,RegionId,PricingCategory,ConsumedQuantity,ConsumedUnit,BilledCost,EffectiveCost")
MACHINE = {"AWS": "g5.xlarge", "Microsoft": "Standard_NC24ads_A100_v4", "Lambda": "gpu_1x_a10"}
def days(month, first=1, last=31):
    day = date(2026, month, first)
    while day.month == month and day.day <= last:
        yield day
        day += timedelta(days=1)
def write(name, month, provider, used, invoice=None, delivered="2026-10-25", more=()):
    os.makedirs(f"{sys.argv[1]}/{name}", exist_ok=True)
    path = f"{sys.argv[1]}/{name}/{month:02}.csv"
    with open(path, "w") as out:
        out.write(HEAD + (",InvoiceId" if invoice else "") + "\n")
        for n, day in enumerate(used):
            end = f"{day}T01:00:00Z"
            out.write(f"2026-{month:02}-01T00:00:00Z,{day}T00:00:00Z,{end},{provider},USD,Amazon Elastic Compute Cloud,Compute,Usage,,vm-1,"
                      f"{MACHINE[provider]},eu,Standard,1,Hours,1,1" + (f",{invoice(n)}" if invoice else "") + "\n")
        for line in more:
            out.write(line + "\n")
    when = datetime.fromisoformat(delivered).replace(tzinfo=timezone.utc).timestamp()
    os.utime(path, (when, when))
tax = ("2026-{0:02}-01T00:00:00Z,2026-{0:02}-01T00:00:00Z,2026-{1:02}-01T00:00:00Z,Microsoft,USD,Tax,Other,Tax,,,,eu,,,,2,2")
for m in (7, 8, 9):
    write("full", m, "AWS", days(m), lambda n: "INV-1")
    write("plain", m, "Lambda", days(m))
    write("some", m, "AWS", days(m), (lambda n: "" if n == 3 else "INV-9") if m == 9 else (lambda n: "INV-1"))
    write("cut", m, "Microsoft", days(m, last=12 if m == 8 else 31))
    write("holes", m, "Microsoft", [d for d in days(m) if (d.month, d.day) not in ((8, 10), (8, 11), (8, 20))])
    write("week", m, "Microsoft", [d for d in days(m) if d.weekday() < 5])
    write("early", m, "AWS", days(m), delivered={7: "2026-07-20", 8: "2026-09-20", 9: "2026-10-05"}[m])
    if m != 8:
        write("gone", m, "Microsoft", days(m))
        write("rare", m, "Microsoft", days(m, last=2))
    if m != 7:
        write("late", m, "Microsoft", days(m))
    if m != 9:
        write("ended", m, "Microsoft", days(m, last=12 if m == 8 else 31))
write("ended", 9, "Microsoft", (), more=(tax.format(9, 10),))
write("stops", 7, "Microsoft", days(7))
write("stops", 8, "Microsoft", days(8))
write("bad", 7, "Microsoft", days(7, last=3), more=("2026-07-01T00:00:00Z,2026-07-04T00:00:00Z,2026-07-04T01:00:00Z,Microsoft,USD,x,Compute,Usage,,vm-1,"
      "Standard_NC24ads_A100_v4,eu,Standard,1x,Hours,1,1",))
PY
sources='full plain some cut holes week early gone rare late ended stops bad'

# run NAME AS-OF COMMAND...: a source's own configuration, or that of all.
run() {
    run_name=$1
    run_now=$2
    shift 2
    gpu-audit --config "$work/$run_name.conf" --database "$pg_url" --as-of "$run_now" --quarter 2026Q3 "$@"
}
for name in $sources; do
    printf '[billing %s]\nformat = focus\npath = %s\n\n' "$name" "$name" | tee "$work/$name.conf" >>"$work/all.conf"
done
ok 'the bills are taken in' run all 2026-11-01T00:00:00Z ingest
run all 2026-11-01T00:00:00Z status --json >"$work/status.json" 2>"$work/err"
# bills SOURCE: period, state, days with use of days expected
bills() {
    python3 - "$work/status.json" "$1" <<'PY'
import json, sys
print(" ".join(f"{b['period'][5:]}:{b['state']}:{b['days_with_use']}/{b['days_expected']}" for b in json.load(open(sys.argv[1]))["bills"]
               if b["source"] == sys.argv[2]))
PY
}
# bill SOURCE PERIOD KEY
bill() {
    python3 - "$work/status.json" "$@" <<'PY'
import json, sys
print(*(b[sys.argv[4]] for b in json.load(open(sys.argv[1]))["bills"] if (b["source"], b["period"]) == (sys.argv[2], sys.argv[3])))
PY
}
is 'an invoice number on every row: final' "$(bills full)" '07:final:31/31 08:final:31/31 09:final:30/30'
is 'a format without invoice numbers: unknown, a state of its own' "$(bills plain)" '07:unknown:31/31 08:unknown:31/31 09:unknown:30/30'
is 'one row without its number: open' "$(bills some)" '07:final:31/31 08:final:31/31 09:open:30/30'
is 'and how many' "$(bill some 2026-09 reason)" '1 of 30 rows carry no invoice number yet'
is 'the last days are missing: open' "$(bills cut)" '07:unknown:31/31 08:open:12/31 09:unknown:30/30'
is 'and which' "$(bill cut 2026-08 days_missing), last $(bill cut 2026-08 last_day)" '2026-08-13 to 2026-08-31, last 2026-08-12'
is 'days without use in between: in doubt' "$(bills holes); $(bill holes 2026-08 doubt)" \
    '07:unknown:31/31 08:unknown:28/31 09:unknown:30/30; 3 days without use between days with use'
is 'as ranges' "$(bill holes 2026-08 days_missing)" '2026-08-10 to 2026-08-11, 2026-08-20'
is 'weekdays are no use every day: nothing is missing' "$(bills week); $(bill week 2026-08 doubt) $(bill week 2026-08 is_daily)" \
    '07:unknown:23/31 08:unknown:21/31 09:unknown:22/30; None False'
is 'AWS, delivered before the end; long after it; soon after it' "$(bills early)" '07:open:31/31 08:closed:31/31 09:open:30/30'
like 'and when' "$(bill early 2026-07 reason)" 'delivered on 2026-07-20, before the period ended'
like 'and why two weeks' "$(bill early 2026-09 reason)" 'delivered on 2026-10-05; AWS rewrites a month for about two weeks'
is 'a month between others that nobody delivered' "$(bills gone)" '07:unknown:31/31 08:missing:0/31 09:unknown:30/30'
is 'of a source that is seldom used it may have been none' "$(bills rare)" '07:unknown:2/31 08:unknown:0/31 09:unknown:2/30'
is 'a source that begins later' "$(bills late)" '07:unknown:0/31 08:unknown:31/31 09:unknown:30/30'
is 'use that ended, and stays away in the next bill' "$(bills ended)" '07:unknown:31/31 08:unknown:12/31 09:unknown:0/30'
is 'a source whose bills stop' "$(bills stops)" '07:unknown:31/31 08:unknown:31/31 09:missing:0/30'
is 'rejected rows are in doubt' "$(bill bad 2026-07 doubt), $(bill bad 2026-07 rows_rejected)" '1 row was rejected, 1'
run all 2026-11-01T00:00:00Z status >"$work/status" 2>"$work/err"
like 'status says it to people' "$(grep '^ *cut.*2026-08' "$work/status")" 'open .*no use after 2026-08-12.* 12/31 .*2026-08-13 to 2026-08-31'

# What it makes of an audit: a draft or not.
for name in $sources; do
    run "$name" 2026-11-01T00:00:00Z figures --format json >"$work/$name.json" 2>"$work/err" || diag "$(cat "$work/err")"
done
finals() {
    for final_name in $sources; do
        python3 -c 'import json, sys; print(sys.argv[2] if json.load(open(sys.argv[1]))["final"] else "", end=" ")' "$work/$final_name.json" "$final_name"
    done
}
is 'open or missing bills make a draft, unknown ones do not' "$(finals | tr -s ' ')" 'full plain holes week rare late ended bad '
is 'and it says because of which' "$(python3 -c 'import json, sys; print(*((d["period"], d["state"]) for d in json.load(open(sys.argv[1]))["draft_because"]))' "$work/early.json")" \
    "('2026-07', 'open') ('2026-09', 'open')"
of_audit() {
    pg_query "select $2 from audit.audit_quality where audit_id = (select max(a.audit_id) from audit.audit_input a join audit.source s using (source_id)
        where s.name = '$1') and check_name = '$3'"
}
like 'data quality: open' "$(of_audit cut 'finding, items, cost' 'open bill')" 'cut 2026-08 \(it ended.*\|1\|12$'
like 'data quality: missing' "$(of_audit gone 'finding, remedy' 'missing bill')" 'no bill of gone 2026-08\|Have the export delivered'
like 'data quality: doubtful' "$(of_audit holes finding 'doubtful bill')" 'holes 2026-08: 3 days'
is 'data quality: nothing of unknown' "$(of_audit plain 'count(*)' 'open bill')$(of_audit plain 'count(*)' 'doubtful bill')" '00'

# As time goes by: a revision when the last bill is closed, though nothing new is read.
is 'a period that has not ended' "$(run full 2026-09-15T00:00:00Z status --json | python3 -c '
import json, sys
b = [b for b in json.load(sys.stdin)["bills"] if b["period"] == "2026-09"][0]
print(b["state"], b["reason"], b["days_expected"])')" 'open the period has not ended 14'
is 'invoiced soon after its end: final; without numbers: open' "$(for name in full plain; do run "$name" 2026-10-05T00:00:00Z status --json | python3 -c '
import json, sys
print(*(b["state"] for b in json.load(sys.stdin)["bills"] if b["period"] == "2026-09"))'; done | tr '\n' ' ')" 'final open '
rm -rf "$work/again" && cp -Rp "$work/plain" "$work/again" && printf '[billing again]\nformat = focus\npath = again\n' >"$work/again.conf"
run again 2026-10-05T00:00:00Z ingest >"$work/out" 2>&1
state_of() {
    run again "$1" figures --format json 2>"$work/err" | python3 -c 'import json, sys; f = json.load(sys.stdin); print(f["revision"], f["final"])'
}
is 'a week later it is a draft' "$(state_of 2026-10-08T00:00:00Z)" '1 False'
is 'a month later it is final, in a revision of its own' "$(state_of 2026-11-01T00:00:00Z)" '2 True'
is 'and stays that' "$(state_of 2026-12-01T00:00:00Z)" '2 True'

# ---------------------------------------------------------------- a later bill corrects
cp -Rp "$work/plain" "$work/fix"
printf '[billing fix]\nformat = focus\npath = fix\n' >"$work/fix.conf"
run fix 2026-11-01T00:00:00Z ingest >"$work/out" 2>&1
figure() {
    run fix 2026-11-01T00:00:00Z figures --format json 2>"$work/err" | python3 -c '
import json, sys
f = json.load(sys.stdin)
print(f["revision"], *(f["total"][k] for k in ("running_gpu_hours", "corrected_gpu_hours", "provisioned_gpu_hours", "billed_cost", "gpu_cost")))'
}
is 'before' "$(figure)" '1 92 0 92 92 92'
{
    head -n 1 "$work/fix/07.csv"
    echo '2026-10-01T00:00:00Z,2026-08-05T00:00:00Z,2026-08-05T01:00:00Z,Lambda,USD,Amazon Elastic Compute Cloud,Compute,Usage,Correction,vm-1,gpu_1x_a10,eu,Standard,-1,Hours,-1.5,-1.5'
    echo '2026-10-01T00:00:00Z,2026-10-01T00:00:00Z,2026-10-01T01:00:00Z,Lambda,USD,Amazon Elastic Compute Cloud,Compute,Usage,,vm-1,gpu_1x_a10,eu,Standard,1,Hours,1,1'
} >"$work/fix/10.csv"
run fix 2026-11-01T00:00:00Z ingest >"$work/out" 2>&1
is 'a correction of August, billed in October, lands in the quarter it corrects' "$(figure)" '2 92 -1 91 90.5 90.5'
is 'what it changed' "$(pg_query "select r.figure, r.before, r.after, r.was_final from audit.restatement r join audit.audit a using (audit_id)
    where r.dimension = 'total' and r.revision = 2 and exists (select 1 from audit.audit_input i join audit.source s using (source_id)
        where i.audit_id = r.audit_id and s.name = 'fix') order by 1" | tr '\n' ' ')" \
    'billed_cost|92|90.5|t corrected_gpu_hours|0|-1|t correction_cost|0|-1.5|t effective_cost|92|90.5|t gpu_cost|92|90.5|t provisioned_gpu_hours|92|91|t '
run fix 2026-11-01T00:00:00Z status >"$work/status" 2>"$work/err"
like 'status: what, and because of which load' "$(grep 'gpu cost' "$work/status")" '1 -> 2 .*gpu cost .*92.00 .*90.50 .*USD .*new: billing fix 2026-10 10.csv'
is 'the same for programs' "$(run fix 2026-11-01T00:00:00Z status --json | python3 -c '
import json, sys
r = json.load(sys.stdin)["restatements"]
print(len(r), r[0]["revision"], r[0]["was_final"], r[0]["figures"]["gpu_cost"], [(c["what"], c["period"], c["rows"]) for c in r[0]["because"]])')" \
    "1 2 True {'before': '92', 'after': '90.5'} [('new', '2026-10', 2)]"
sed -i '2d' "$work/fix/07.csv"
run fix 2026-11-01T00:00:00Z ingest >"$work/out" 2>&1
is 'a smaller delivery restates too' "$(figure)" '3 91 -1 90 89.5 89.5'
is 'and is named with its rows' "$(pg_query "select what, period, rows, rows_before from audit.restatement_cause where audit_id = (select max(audit_id) from audit.audit)")" \
    'delivered again|2026-07|30|31'
ok 'the workbook has it' run fix 2026-11-01T00:00:00Z report --out "$work/fix.xlsx"
done_testing
